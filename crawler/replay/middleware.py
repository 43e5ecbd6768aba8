"""Spider middleware of a re-parse: items keep the time and the origin of the fetch that their page is from, and new
requests end here."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any, Self

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import Response

from crawler.replay import counts
from crawler.replay.scheduler import ReplayScheduler
from crawler.storage import origin
from crawler.storage.origin import Origin


class ReplayMiddleware:
    """Nearest to the spider, so that what fills empty fields later finds them filled."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Put in place by the re-parse alone."""
        return cls(crawler)

    async def process_start(self, start: AsyncIterator[Any]) -> AsyncIterator[Any]:
        """A re-parse has no start URLs, and does not ask for them."""
        for nothing in list[Any]():
            yield nothing

    async def process_spider_output(self, response: Response, result: AsyncIterator[Any]) -> AsyncIterator[Any]:
        """Stamp items, discard requests."""
        scheduler = self._crawler.engine.scheduler if self._crawler.engine is not None else None
        entry = scheduler.entry(response) if isinstance(scheduler, ReplayScheduler) else None
        assert self._crawler.stats is not None
        async for output in result:
            if isinstance(output, Request):  # here, and not in the scheduler: there are many, and each layer costs
                self._crawler.stats.inc_value(counts.DISCARDED)
                continue
            if entry is not None and origin.of(response) is None:
                source = {"spider": getattr(self._crawler.spider, "name", "")} | entry["source"]
                origin.note(response, Origin(response.url, entry["at"], source))
            yield output
