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
from scrapy.crawler import Crawler
from scrapy.downloadermiddlewares.httpcompression import HttpCompressionMiddleware
from scrapy.exceptions import DownloadCancelledError, ResponseDataLossError
from scrapy.http import HtmlResponse, JsonResponse, Request, Response, XmlResponse
from scrapy.http.request import NO_CALLBACK
from scrapy.statscollectors import StatsCollector
from scrapy.utils._compression import _DecompressionMaxSizeExceeded

from crawler.extraction.source.unpacking import (
    CutError,
    ManyPartsError,
    TooLongError,
    gunzip,
    inflate,
    unbrotli,
    unzstd,
)
from crawler.middlewares.downloader.retry import RetryMiddleware

MOST_CODINGS: Final = 5  # of one body, curl's limit; servers apply one
_PAGES: Final = (HtmlResponse, XmlResponse, JsonResponse)  # none of which begins with
_GZIP: Final = b"\x1f\x8b"
# The last for gzip's: BadGzipFile is an OSError.
_DAMAGED: Final = (brotli.error, zlib.error, ZstdError, EOFError, OSError)


class DecompressionMiddleware(HttpCompressionMiddleware):
    """Scrapy's, but for what cannot be read: a body of too many codings or parts raises DownloadCancelledError; one
    that is damaged, cut, or packed in another way than it says ResponseDataLossError. Where `DOWNLOAD_FAIL_ON_DATALOSS`
    is off, what there is of a cut one is the page, as in Scrapy. Lost data are retried as RetryMiddleware retries
    them."""

    def __init__(self, stats: StatsCollector | None = None, *, crawler: Crawler) -> None:
        super().__init__(stats, crawler=crawler)
        self._retry = RetryMiddleware.from_crawler(crawler) if crawler.settings.getbool("RETRY_ENABLED") else None
        self._fails_on_loss = self._is_whole = crawler.settings.getbool("DOWNLOAD_FAIL_ON_DATALOSS")

    def process_response(self, request: Request, response: Response) -> Request | Response:  # type: ignore[override]
        """As Scrapy's, and unpacks a page that is packed but does not say so, as sitemaps are, and what servers pack
        for the transfer (`Transfer-Encoding: gzip`). A file of a media pipeline stays as it came."""
        if isinstance(response, _PAGES) and response.body.startswith(_GZIP) and request.callback is not NO_CALLBACK:
            response.headers.setdefault("Content-Encoding", "gzip")
        self._is_whole = bool(request.meta.get("download_fail_on_dataloss", self._fails_on_loss))  # until it returns
        try:
            return super().process_response(request, response)
        except ResponseDataLossError as error:  # no middleware is asked about what another one raises
            again = self._retry.process_exception(request, error) if self._retry is not None else None
            if not isinstance(again, Request):
                raise
            return again

    def _handle_encoding(self, body: bytes, content_encoding: list[bytes], max_size: int) -> tuple[bytes, list[bytes]]:
        codings = sum(header.count(b",") + 1 for header in content_encoding)
        if codings > MOST_CODINGS:
            raise DownloadCancelledError(f"a body of {codings} content codings, at most {MOST_CODINGS} are undone")
        return super()._handle_encoding(body, content_encoding, max_size)

    def _decode(self, body: bytes, encoding: bytes, max_size: int) -> bytes:  # type: ignore[override]  # static there
        try:
            return self._unpacked(body, encoding, max_size)
        except CutError as cut:
            if not self._is_whole:
                return cut.output
            raise ResponseDataLossError(f"a body of {encoding.decode()} cannot be unpacked: {cut}") from cut
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
            if encoding == b"br":
                return unbrotli(body, max_size)
            if encoding == b"deflate":
                return inflate(body, max_size)
        except TooLongError as error:
            raise _DecompressionMaxSizeExceeded(error.length, max_size) from None
        except ManyPartsError as error:
            raise DownloadCancelledError(f"a body of {encoding.decode()}: {error}") from None
        return super()._decode(body, encoding, max_size)
