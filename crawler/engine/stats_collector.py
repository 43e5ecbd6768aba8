"""The stats of one worker."""

from __future__ import annotations

from scrapy.statscollectors import MemoryStatsCollector


class StatsCollector(MemoryStatsCollector):
    """Scrapy's, without a warning that costs more than all counting.

    Scrapy looks at every access to a collector for a deprecated argument: 2 µs instead of 0.1, some twenty times a
    page. The argument is still taken, and still without effect.
    """

    __getattribute__ = object.__getattribute__
