"""Scrapy's CoreStats, for a crawl that ends before it has begun."""

from __future__ import annotations

from scrapy import Spider
from scrapy.extensions import corestats


class CoreStats(corestats.CoreStats):
    """Scrapy's asserts that `spider_opened` came first.

    Where a component fails to open, `spider_closed` comes alone, and its traceback stood before the reason.
    """

    def spider_closed(self, spider: Spider, reason: str) -> None:
        """As Scrapy's; without times if there are none."""
        if self.start_time is None:
            self.stats.set_value("finish_reason", reason)
        else:
            super().spider_closed(spider, reason)
