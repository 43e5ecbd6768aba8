"""Scrapy's DownloaderStats, computing a request's size without serialising it."""

from __future__ import annotations

from http import HTTPStatus
from typing import Final

from scrapy import Request
from scrapy.downloadermiddlewares.stats import DownloaderStats as ScrapyDownloaderStats
from scrapy.downloadermiddlewares.stats import get_status_size
from scrapy.http import Headers, Response
from scrapy.utils.httpobj import urlparse_cached

_AROUND: Final = len("  HTTP/1.1\r\nHost: \r\n\r\n")
_STATUS_SIZES: Final = {int(status): get_status_size(status) for status in HTTPStatus}


class DownloaderStats(ScrapyDownloaderStats):
    """Same stats, same values."""

    def process_request(self, request: Request) -> None:  # type: ignore[override]
        """Count the request and its bytes."""
        count = self.stats.inc_value
        count("downloader/request_count")
        count(f"downloader/request_method_count/{request.method}")
        count("downloader/request_bytes", _request_size(request))

    def process_response(self, request: Request, response: Response) -> Response:  # type: ignore[override]
        """Count the response by status, and its bytes."""
        count, status = self.stats.inc_value, response.status
        count("downloader/response_count")
        count(f"downloader/response_status_count/{status}")
        size = len(response.body) + _response_headers_size(response.headers) + 4
        count("downloader/response_bytes", size + (_STATUS_SIZES.get(status) or get_status_size(status)))
        return response


def _request_size(request: Request) -> int:
    parts = urlparse_cached(request)
    path = len(parts.path or "/") + sum(len(part) + 1 for part in (parts.params, parts.query) if part)
    fixed = _AROUND + len(request.method) + path + len(parts.hostname or "") + len(request.body)
    lines = _lines(request.headers)
    return fixed + sum(lines) + 2 * len(lines)


def _response_headers_size(headers: Headers) -> int:
    """As Scrapy's `get_header_size`: a line break per name."""
    return sum(_lines(headers)) + 2 * len(headers) - 2


def _lines(headers: Headers) -> list[int]:
    """The length of each `name: value`; `Headers.items` would normalize every name again."""
    return [len(name) + len(value) + 2 for name, values in dict.items(headers) for value in values]
