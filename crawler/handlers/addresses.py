"""Lends the worker the resolver that its requests are dialled with: hosts with one address are crawled as one."""

from __future__ import annotations

from typing import Self

from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured

from crawler.handlers.resolver import Resolver
from crawler.worker.lookup import worker_if_any


class AddressExtension:
    """In every fleet crawl: a worker without POLITENESS_GROUP = "ip" looks up hosts for one that has it."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Only with the shared frontier."""
        if not crawler.settings.getbool("FRONTIER_ENABLED"):
            raise NotConfigured
        extension = cls(crawler)
        crawler.signals.connect(extension._opened, signals.spider_opened)
        return extension

    def _opened(self) -> None:
        if (worker := worker_if_any(self._crawler)) is not None:
            resolver = Resolver.of(self._crawler)
            worker.addresses.resolve = resolver.resolve
            resolver.on_answer = worker.addresses.answered
