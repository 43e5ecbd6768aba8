"""Downloader middleware that refuses bodies with many content codings.

Each decoding is held to DOWNLOAD_MAXSIZE, but a header can name thousands of codings: 10 KB on the wire would become a
hundred gigabytes of work, 10 MB at a time.
"""

from __future__ import annotations

from typing import Final

from scrapy import Request
from scrapy.exceptions import DownloadCancelledError
from scrapy.http import Response

MOST: Final = 5  # codings of one body, curl's limit; servers apply one


class CodingsMiddleware:
    """Runs right before decompression."""

    def process_response(self, request: Request, response: Response) -> Response:
        """*response*; raises DownloadCancelledError."""
        codings = sum(header.count(b",") + 1 for header in response.headers.getlist(b"Content-Encoding"))
        if codings > MOST:
            raise DownloadCancelledError(f"{request.url} has {codings} content codings, at most {MOST} are decoded")
        return response
