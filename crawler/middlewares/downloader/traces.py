"""Downloader middleware that makes the spans of leased requests (docs/traces.md).

Nearest to the wire, so that a span is an attempt's alone. Off by default: then it is not in the chain, and a page costs
nothing.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Self

from scrapy import Request, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.http import Response

from crawler import scrapy_hooks
from crawler.counting.timings import timings_of
from crawler.tracing.opening import open_tracing
from crawler.worker.lookup import worker_of
from crawler.worker.scheduler import in_use
from crawler.worker.turns.turn import TooLateError

if TYPE_CHECKING:
    from crawler.tracing.leases import LeaseSpans
    from crawler.tracing.provider import Tracing


class TracesMiddleware:
    """Changes no request but its `traceparent`, and waits for nothing but, at the end, the last spans' receiver."""

    def __init__(self, crawler: Crawler, tracing: Tracing) -> None:
        self._crawler = crawler
        self._tracing = tracing
        self._spans: LeaseSpans | None = None  # once the spider is open

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Off with TRACES_RATIO = 0, and where the spider does not use the shared frontier."""
        if not in_use(crawler.settings) or (tracing := open_tracing(crawler.settings, crawler.stats.inc_value)) is None:
            raise NotConfigured
        middleware = cls(crawler, tracing)
        crawler.signals.connect(middleware._opened, signals.spider_opened)
        crawler.signals.connect(middleware._closed, signals.spider_closed)
        return middleware

    def process_request(self, request: Request) -> None:
        """The attempt waits for its turn from now on."""
        if self._spans is not None:
            self._spans.sending(request)

    def process_response(self, request: Request, response: Response) -> Response:
        """The attempt was answered."""
        if self._spans is not None:
            self._spans.answered(request, response)
        return response

    def process_exception(self, request: Request, exception: Exception) -> None:
        """The attempt failed; a request that was never sent is no attempt."""
        if self._spans is not None and not isinstance(exception, TooLateError):
            self._spans.answered(request, exception)

    def _opened(self) -> None:
        from crawler.tracing.leases import LeaseSpans, StoreHistogram
        from crawler.tracing.pushes import PushSpans

        worker = worker_of(self._crawler)
        self._spans = spans = LeaseSpans(self._tracing, worker.book, worker.name)
        spider = str(getattr(self._crawler.spider, "name", ""))
        worker.queue.encoder.tracer = PushSpans(self._tracing, spider, spans.span)
        timings_of(self._crawler).store = StoreHistogram(spans)
        scrapy_hooks.on_request_end(self._crawler.engine, spans.ended)

    async def _closed(self) -> None:
        if self._spans is not None:
            self._spans.close()
        await asyncio.to_thread(self._tracing.close)
