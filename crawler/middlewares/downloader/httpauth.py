"""Scrapy's HttpAuthMiddleware, with credentials kept out of the queue."""

from __future__ import annotations

from typing import Any, Self
from weakref import WeakSet

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.downloadermiddlewares.httpauth import HttpAuthMiddleware as ScrapyHttpAuthMiddleware
from scrapy.exceptions import NotConfigured
from scrapy.http import Response


class HttpAuthMiddleware(ScrapyHttpAuthMiddleware):
    """HTTPAUTH_USER, HTTPAUTH_PASS and HTTPAUTH_DOMAIN as in Scrapy, but on the request for one attempt only, so that
    no retry takes them to Redis."""

    def __init__(self) -> None:
        super().__init__()
        self._lent: WeakSet[Request] = WeakSet()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Off without the settings, and the spider's older `http_user` and `http_pass`."""
        spider: Any = crawler.spider
        named: list[Any] = [crawler.settings.get(name) for name in ("HTTPAUTH_USER", "HTTPAUTH_PASS")]
        named += [getattr(spider, name, "") for name in ("http_user", "http_pass")]
        if not any(named):
            raise NotConfigured
        return super().from_crawler(crawler)

    def process_request(self, request: Request) -> None:  # type: ignore[override]
        """Add the credentials, unless the request has its own."""
        if b"Authorization" not in request.headers:
            super().process_request(request)
            self._lent.add(request)

    def process_response(self, request: Request, response: Response) -> Response:
        """Take the credentials off the request."""
        self._take_back(request)
        return response

    def process_exception(self, request: Request, exception: Exception) -> None:
        """As for a response."""
        self._take_back(request)

    def _take_back(self, request: Request) -> None:
        if request in self._lent:
            self._lent.discard(request)
            request.headers.pop(b"Authorization", None)
