"""Scrapy's HttpAuthMiddleware, with credentials kept out of the queue."""

from __future__ import annotations

from weakref import WeakSet

from scrapy import Request
from scrapy.downloadermiddlewares.httpauth import HttpAuthMiddleware as ScrapyHttpAuthMiddleware
from scrapy.http import Response

from crawler.meta import CREDENTIALS, HTTP_AUTH


class HttpAuthMiddleware(ScrapyHttpAuthMiddleware):
    """Scrapy's settings and keys of `meta`, but on the request for one attempt only, so that no retry takes them to
    Redis. A spider's requests cannot be queued with these keys: a downloader middleware sets them."""

    def __init__(self) -> None:
        super().__init__()
        self._lent: WeakSet[Request] = WeakSet()

    def process_request(self, request: Request) -> None:  # type: ignore[override]
        """Add the credentials, unless the request has its own."""
        if b"Authorization" in request.headers:
            return
        super().process_request(request)
        if b"Authorization" in request.headers:
            self._lent.add(request)
        if not request.meta.keys().isdisjoint(CREDENTIALS):
            request.meta[HTTP_AUTH] = True

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
