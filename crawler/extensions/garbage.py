"""Tunes Python's garbage collector for a crawl: what exists when it starts lives until it ends."""

from __future__ import annotations

import gc
from typing import ClassVar, Self

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

    _open: ClassVar[set[GarbageExtension]] = set()  # of all crawls in this process, which has one collector
    _before: ClassVar[tuple[int, int, int]] = gc.get_threshold()

    def __init__(self, threshold: int) -> None:
        self._threshold = threshold

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Off with GC_THRESHOLD = 0, and outside the fleet."""
        threshold = config.integer(crawler.settings, "GC_THRESHOLD")
        if not threshold or not crawler.settings.getbool("FRONTIER_ENABLED"):
            raise NotConfigured
        extension = cls(threshold)
        crawler.signals.connect(extension._opened, signals.spider_opened)
        crawler.signals.connect(extension._closed, signals.spider_closed)
        return extension

    def _opened(self) -> None:
        if not self._open:
            GarbageExtension._before = gc.get_threshold()
            gc.collect()
            gc.freeze()
        self._open.add(self)
        gc.set_threshold(self._threshold, *self._before[1:])

    def _closed(self) -> None:
        self._open.discard(self)
        if not self._open:
            gc.set_threshold(*self._before)
            gc.unfreeze()
