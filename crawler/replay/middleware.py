"""Spider middleware of a re-parse: items keep time and origin of the original fetch, and new requests end here."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any, Self

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import Response

from crawler.meta import ALLOW_BLOCKED
from crawler.middlewares.downloader.blocks import SHELL, is_empty
from crawler.middlewares.spider.gate import GateMiddleware
from crawler.policy.blocks import detect
from crawler.policy.tiers import TIERS
from crawler.replay import counts
from crawler.replay.scheduler import ReplayScheduler
from crawler.storage.archive.index import Entry
from crawler.storage.items import origin
from crawler.storage.items.origin import Origin
from crawler.urls import without_credentials


class ReplayGate(GateMiddleware):
    """Checks archived pages itself: no downloader middleware has, and an earlier release may have archived them."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Only a re-parse uses it."""
        return cls(crawler)

    def _pass(self, response: Response) -> None:
        """Nothing waits for this."""

    def _costly(self, response: Response) -> str:
        """No trial parse here: our spiders read doubtful pages in a child anyway."""
        return ""

    def _why(self, response: Response) -> str:
        if response.meta.get(ALLOW_BLOCKED):
            return ""
        block = detect(response.status, response.headers, response.body, response.url)
        entry = _entry(self._crawler, response)
        tier = str(entry["source"]["tier"] if entry is not None else "") or TIERS[0]
        why = block.vendor if block is not None else SHELL * is_empty(response, tier, any_status=True)
        if why:
            self._crawler.stats.inc_value(counts.BLOCKED)
        return why


class ReplayMiddleware:
    """Nearest to the spider, so that later middlewares, which fill empty fields, find them filled."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Only a re-parse uses it."""
        return cls(crawler)

    async def process_start(self, start: AsyncIterator[Any]) -> AsyncIterator[Any]:
        """A re-parse has no start requests."""
        for nothing in list[Any]():
            yield nothing

    async def process_spider_output(self, response: Response, result: AsyncIterator[Any]) -> AsyncIterator[Any]:
        """Stamp items, discard requests."""
        entry = _entry(self._crawler, response)
        async for output in result:
            if isinstance(output, Request):  # here rather than in the scheduler: there are many, and each layer costs
                self._crawler.stats.inc_value(counts.DISCARDED)
                continue
            if entry is not None and origin.of(response) is None:
                source = {"spider": getattr(self._crawler.spider, "name", "")} | entry["source"]
                origin.note(response, Origin(without_credentials(response.url), entry["at"], source))
            yield output


def _entry(crawler: Crawler, response: Response) -> Entry | None:
    """The index entry of an archived page."""
    scheduler = crawler.engine.scheduler
    return scheduler.entry(response) if isinstance(scheduler, ReplayScheduler) else None
