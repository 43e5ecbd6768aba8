"""Scrapy's decompression, with a bound on the work that a body asks for.

A gzip or Zstandard body may consist of any number of members or frames, each empty: 8 MB of them take Scrapy 1.3 s
(gzip) or 16 s (Zstandard), while every other page waits. `max_size` bounds only what comes out, and of each coding: a
header can name thousands, and 10 KB would become a hundred gigabytes of work. An ordinary page costs a quarter of
Scrapy's `gunzip`.
"""

from __future__ import annotations

import zlib
from typing import Final

import brotli
from backports.zstd import ZstdError
from scrapy.downloadermiddlewares.httpcompression import HttpCompressionMiddleware
from scrapy.exceptions import DownloadCancelledError, ResponseDataLossError
from scrapy.http import HtmlResponse, JsonResponse, Request, Response, XmlResponse
from scrapy.http.request import NO_CALLBACK
from scrapy.utils._compression import _DecompressionMaxSizeExceeded

from crawler.extraction.source.unpacking import ManyPartsError, TooLongError, gunzip, unzstd

MOST_CODINGS: Final = 5  # of one body, curl's limit; servers apply one
_PAGES: Final = (HtmlResponse, XmlResponse, JsonResponse)  # none of which begins with
_GZIP: Final = b"\x1f\x8b"
# The last for gzip's: BadGzipFile is an OSError.
_DAMAGED: Final = (brotli.error, zlib.error, ZstdError, EOFError, OSError)


class DecompressionMiddleware(HttpCompressionMiddleware):
    """Scrapy's, but for how gzip and Zstandard are read, and for what cannot be: a body of too many codings or parts
    raises DownloadCancelledError, one that is damaged or packed in another way than it says ResponseDataLossError."""

    def process_response(self, request: Request, response: Response) -> Request | Response:  # type: ignore[override]
        """As Scrapy's, and unpacks a page that is packed but does not say so, as sitemaps are, and what servers pack
        for the transfer (`Transfer-Encoding: gzip`). A file of a media pipeline stays as it came."""
        if isinstance(response, _PAGES) and response.body.startswith(_GZIP) and request.callback is not NO_CALLBACK:
            response.headers.setdefault("Content-Encoding", "gzip")
        return super().process_response(request, response)

    def _handle_encoding(self, body: bytes, content_encoding: list[bytes], max_size: int) -> tuple[bytes, list[bytes]]:
        codings = sum(header.count(b",") + 1 for header in content_encoding)
        if codings > MOST_CODINGS:
            raise DownloadCancelledError(f"a body of {codings} content codings, at most {MOST_CODINGS} are undone")
        return super()._handle_encoding(body, content_encoding, max_size)

    def _decode(self, body: bytes, encoding: bytes, max_size: int) -> bytes:  # type: ignore[override]  # static there
        try:
            return self._unpacked(body, encoding, max_size)
        except _DAMAGED as error:
            reason = str(error) or type(error).__name__
            raise ResponseDataLossError(f"a body of {encoding.decode()} cannot be unpacked: {reason}") from error

    def _warn_unknown_encoding(self, response: Response, encodings: list[bytes]) -> None:
        """As Scrapy does, whatever bytes a server has sent for a name."""
        readable = [name.decode("ascii", "backslashreplace").encode() for name in encodings]
        super()._warn_unknown_encoding(response, readable)

    def _unpacked(self, body: bytes, encoding: bytes, max_size: int) -> bytes:
        try:
            if encoding in {b"gzip", b"x-gzip"}:
                return gunzip(body, max_size)
            if encoding == b"zstd":
                return unzstd(body, max_size)
        except TooLongError as error:
            raise _DecompressionMaxSizeExceeded(error.length, max_size) from None
        except ManyPartsError as error:
            raise DownloadCancelledError(f"a body of {encoding.decode()}: {error}") from None
        return super()._decode(body, encoding, max_size)
