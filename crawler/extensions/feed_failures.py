"""A feed that cannot be written, as on a full disk, is told once, and keeps no other feed from its items."""

from __future__ import annotations

import logging
from collections import Counter
from typing import Any, Self

from scrapy import Spider, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.extensions.feedexport import FeedExporter, FeedSlot

from crawler import config
from crawler import stats as names
from crawler.utils.plural import several

logger = logging.getLogger(__name__)


class FeedFailuresExtension:
    """Hands Scrapy's exporter each item feed by feed.

    By itself the exporter raises what a file raises, for every item: that is a traceback each, and no item for the
    feeds behind. Known weakness: what a file has of an item before it is full stays there, and a feed of JSON is not
    valid then. A subclass with an `item_scraped` of its own is left alone.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._lost: Counter[str] = Counter()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Off without feeds."""
        if not crawler.settings.getdict("FEEDS") and not crawler.settings["FEED_URI"]:
            raise NotConfigured
        extension = cls(crawler)
        crawler.signals.connect(extension._opened, signals.spider_opened)
        crawler.signals.connect(extension._closed, signals.spider_closed)
        return extension

    def _opened(self) -> None:
        exporter = self._crawler.get_extension(FeedExporter)
        if exporter is not None and type(exporter).item_scraped is FeedExporter.item_scraped:
            self._exporter = exporter
            self._crawler.signals.disconnect(exporter.item_scraped, signals.item_scraped)
            self._crawler.signals.connect(self._item_scraped, signals.item_scraped)

    def _item_scraped(self, item: Any, spider: Spider) -> None:
        exporter, slots = self._exporter, self._exporter.slots
        done: list[FeedSlot] = []
        try:
            for slot in slots:
                exporter.slots = [slot]
                try:
                    exporter.item_scraped(item, spider)
                except OSError as error:
                    self._failed(config.shown_uri(slot.uri), error)
                done += exporter.slots  # or what begins its next batch
        finally:
            exporter.slots = done + slots[len(done) :]

    def _failed(self, feed: str, error: OSError) -> None:
        self._crawler.stats.inc_value(names.FEED_ITEMS_LOST)
        self._lost[feed] += 1
        if self._lost[feed] == 1:
            words = (
                "Feed %s cannot be written (%s): it lacks an item; further ones are counted (%s) and told at the end"
            )
            logger.error(words, feed, error.strerror or error, names.FEED_ITEMS_LOST)

    def _closed(self) -> None:
        for feed, lost in self._lost.items():
            logger.error("Feed %s lacks %s that could not be written", feed, several(lost, "item"))
