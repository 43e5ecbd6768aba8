"""The stats of one worker."""

from __future__ import annotations

from typing import Any

from scrapy import Spider
from scrapy.crawler import Crawler
from scrapy.statscollectors import MemoryStatsCollector

from crawler.counting.by_run import StatsByRun


class StatsCollector(MemoryStatsCollector):
    """Scrapy's, without a deprecation check that costs more than the counting; `by_run` has the same by run.

    On every access Scrapy checks for a deprecated argument: 2 µs instead of 0.1, some twenty times per page. The
    argument is still accepted and still ignored.
    """

    __getattribute__ = object.__getattribute__

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self.by_run = StatsByRun()

    def inc_value(self, key: str, count: int = 1, start: int = 0, spider: Spider | None = None) -> None:
        """As Scrapy's."""
        stats = self._stats
        stats[key] = stats.setdefault(key, start) + count
        self.by_run.add(key, count)

    def max_value(self, key: str, value: Any, spider: Spider | None = None) -> None:
        """As Scrapy's."""
        self._stats[key] = max(self._stats.setdefault(key, value), value)
        if type(value) in _NUMBERS:
            self.by_run.peak(key, value)

    def set_value(self, key: str, value: Any, spider: Spider | None = None) -> None:
        """As Scrapy's."""
        self._stats[key] = value
        if type(value) in _NUMBERS:
            self.by_run.note(key, value)


_NUMBERS = (int, float)
