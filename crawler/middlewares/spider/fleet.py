"""What spider middlewares of the shared frontier have in common."""

from __future__ import annotations

from typing import Self

from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured

from crawler.worker.scheduler import in_use


class FleetMiddleware:
    """Needs no more than the crawler, and there is none where the spider does not use the shared frontier."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Off where the spider does not use the shared frontier."""
        if not in_use(crawler.settings):
            raise NotConfigured
        return cls(crawler)
