"""Downloader middleware that refuses bodies which are encoded again and again.

Each coding is undone within DOWNLOAD_MAXSIZE, but a header has room for thousands of their names: 10 KB on the wire so
become a hundred gigabytes of work, 10 MB at a time.
"""

from __future__ import annotations

from typing import Final

from scrapy import Request
from scrapy.exceptions import DownloadCancelledError
from scrapy.http import Response

MOST: Final = 5  # codings of one body, as curl has it; servers apply one


class CodingsMiddleware:
    """It comes right before the decompression."""

    def process_response(self, request: Request, response: Response) -> Response:
        """*response*; raises DownloadCancelledError."""
        codings = sum(header.count(b",") + 1 for header in response.headers.getlist(b"Content-Encoding"))
        if codings > MOST:
            raise DownloadCancelledError(f"{request.url}: its body is encoded {codings} times, {MOST} are undone")
        return response
