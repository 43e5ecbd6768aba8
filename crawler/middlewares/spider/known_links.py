"""Spider middleware that drops a link which is known already, before the others take trouble over it."""

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
    """Asks what the scheduler would ask last, this worker's memory of what the frontier has lately confirmed.

    Nearly all links of a shop's page are those of its other pages too: menu, categories, footer. Near the spider,
    behind what remembers a page's links; a middleware that makes other requests out of those it is given, or sets
    `dont_filter` on them, belongs still nearer. Scrapy's signals do not tell of what is dropped here.
    """

    async def process_spider_output(self, response: Response, result: AsyncIterator[Any]) -> AsyncIterator[Any]:
        """All but known requests; counted as the scheduler counts them."""
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
        except (CodecError, MessageError):  # the scheduler says so
            return False
        if not worker.dupefilter.confirmed((place.stream, parent.lease.generation, place.fingerprint)):
            return False
        assert self._crawler.stats is not None
        assert self._crawler.spider is not None
        self._crawler.stats.inc_value(names.DUPLICATES)
        worker.dupefilter.log(request, self._crawler.spider)
        return True
