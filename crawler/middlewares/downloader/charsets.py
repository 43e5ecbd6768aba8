"""Downloader middleware: responses are decoded only with encodings of the WHATWG Encoding Standard."""

from __future__ import annotations

from scrapy import Request
from scrapy.http import Response, TextResponse

from crawler.utils import charsets


class CharsetMiddleware:
    """Python would decode with any codec that a page names; some take minutes, some do not yield text.

    Runs right after decompression, before anything reads the text.
    """

    def process_response(self, request: Request, response: Response) -> Response:
        """*response*, with its encoding set where Scrapy would get it wrong."""
        return corrected(response)


def corrected(response: Response) -> Response:
    """*response* itself in nearly all cases."""
    if not isinstance(response, TextResponse):
        return response
    content_type = (response.headers.get(b"Content-Type") or b"").decode("latin-1")
    encoding = charsets.correction(content_type, response.body)
    return response if encoding is None else response.replace(encoding=encoding)
