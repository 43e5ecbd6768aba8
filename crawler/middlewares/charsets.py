"""Downloader middleware: a response is read in no encoding but those that the WHATWG Encoding Standard names."""

from __future__ import annotations

from scrapy import Request
from scrapy.http import Response, TextResponse

from crawler.extraction import charsets


class CharsetMiddleware:
    """Python would decode with any codec that a page names, and some of them take minutes or are no text at all.

    It comes right after the decompression, before anything reads the text.
    """

    def process_response(self, request: Request, response: Response) -> Response:
        """*response*, told its encoding where Scrapy would be mistaken."""
        return corrected(response)


def corrected(response: Response) -> Response:
    """*response* itself, nearly always."""
    if not isinstance(response, TextResponse):
        return response
    content_type = (response.headers.get(b"Content-Type") or b"").decode("latin-1")
    encoding = charsets.correction(content_type, response.body)
    return response if encoding is None else response.replace(encoding=encoding)
