"""Scrapy's decompression, with a bound on the work that a body asks for.

A gzip or Zstandard body may consist of any number of members or frames, each empty: 8 MB of them take Scrapy 1.3 s
(gzip) or 16 s (Zstandard), while every other page waits. `max_size` bounds only what comes out. An ordinary page costs
a quarter of Scrapy's `gunzip`.
"""

from __future__ import annotations

from scrapy.downloadermiddlewares.httpcompression import HttpCompressionMiddleware
from scrapy.exceptions import DownloadCancelledError
from scrapy.utils._compression import _DecompressionMaxSizeExceeded

from crawler.extraction.source.unpacking import ManyPartsError, TooLongError, gunzip, unzstd


class DecompressionMiddleware(HttpCompressionMiddleware):
    """Scrapy's, but for how gzip and Zstandard are read; a body of too many parts raises DownloadCancelledError."""

    def _decode(self, body: bytes, encoding: bytes, max_size: int) -> bytes:  # type: ignore[override]  # static there
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
