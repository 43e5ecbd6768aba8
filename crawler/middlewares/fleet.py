"""Base of the middlewares that need the shared frontier."""

from __future__ import annotations

from functools import cached_property
from typing import Self

from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured

from crawler.worker.lookup import worker_of
from crawler.worker.scheduler import in_use
from crawler.worker.worker import Worker


class FleetMiddleware:
    """Built from the crawler alone; off where the spider does not use the shared frontier."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Off where the spider does not use the shared frontier."""
        if not in_use(crawler.settings):
            raise NotConfigured
        return cls(crawler)

    @cached_property
    def _worker(self) -> Worker:
        """The worker; exists once the spider is open."""
        return worker_of(self._crawler)
