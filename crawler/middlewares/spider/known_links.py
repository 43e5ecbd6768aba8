"""Spider middleware that drops known links before other middlewares spend time on them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from scrapy import Request
from scrapy.http import Response

from crawler import stats as names
from crawler.errors import CodecError, MessageError
from crawler.middlewares.spider.fleet import FleetMiddleware
from crawler.worker.lease_book import Held
from crawler.worker.worker import Worker


class KnownLinksMiddleware(FleetMiddleware):
    """Asks this worker's memory of recently confirmed pushes, as the scheduler would at the end.

    Most links of a shop's page are on its other pages too: menu, categories, footer. It sits near the spider, behind
    what remembers a page's links; a middleware that rewrites requests or sets `dont_filter` belongs still nearer. No
    Scrapy signal is sent for what is dropped here.
    """

    async def process_spider_output(self, response: Response, result: AsyncIterator[Any]) -> AsyncIterator[Any]:
        """All but known requests, which are counted as the scheduler counts them."""
        worker = self._worker
        held = worker.book.behind(response)
        async for output in result:
            if held is None or not isinstance(output, Request) or not self._is_known(output, held, worker):
                yield output

    def _is_known(self, request: Request, parent: Held, worker: Worker) -> bool:
        if request.dont_filter:
            return False
        try:
            place = worker.queue.encoder.place(request)
        except (CodecError, MessageError):  # the scheduler reports it
            return False
        if not worker.dupefilter.confirmed((place.stream, parent.lease.generation, place.fingerprint)):
            return False
        assert self._crawler.stats is not None
        assert self._crawler.spider is not None
        self._crawler.stats.inc_value(names.DUPLICATES)
        worker.dupefilter.log(request, self._crawler.spider)
        return True
