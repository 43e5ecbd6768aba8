"""Tunes Python's garbage collector for a crawl: what exists when it starts lives until it ends."""

from __future__ import annotations

import gc
from typing import Self

from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured

from crawler import config


class GarbageExtension:
    """Freezes the objects of the program itself and makes collections of the rest rarer.

    Modules and settings are some 300,000 objects that no collection can free; full collections walked through them,
    which took a sixth of a page's time. Only cycles wait for the collector: nearly everything else of a page is freed
    with its last reference.
    """

    def __init__(self, threshold: int) -> None:
        self._threshold = threshold
        self._before = gc.get_threshold()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Only in a process that runs one crawl; off with GC_THRESHOLD = 0."""
        threshold = config.integer(crawler.settings, "GC_THRESHOLD", 0, 1_000_000)
        if not threshold or not crawler.settings.getbool("FRONTIER_ENABLED"):
            raise NotConfigured
        extension = cls(threshold)
        crawler.signals.connect(extension._opened, signals.spider_opened)
        crawler.signals.connect(extension._closed, signals.spider_closed)
        return extension

    def _opened(self) -> None:
        gc.collect()
        gc.freeze()
        gc.set_threshold(self._threshold, *self._before[1:])

    def _closed(self) -> None:
        gc.set_threshold(*self._before)
        gc.unfreeze()
