"""Skips the second write when one crawl meets the same item with the same content under several URLs."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple, Self

from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.statscollectors import StatsCollector

from crawler import config
from crawler import stats as names
from crawler.items import Item
from crawler.pipelines.drops import DuplicateItem, readable
from crawler.storage.items import origin
from crawler.storage.items.documents import content_hash, identity, moment_of
from crawler.storage.items.values import HeavyError, UnstorableError
from crawler.urls import canonicalize
from crawler.utils import caches

logger = logging.getLogger(__name__)


class _Sent(NamedTuple):
    """What was sent to storage last, and of which page."""

    digest: str
    generation: object
    fetched_at: datetime
    page: str


class DedupePipeline:
    """Drops an item whose content this worker sent to storage less than *seconds* of fetch time before.

    Only the last content sent counts, so a price that changes back is written; another crawl generation (in the item's
    `source`) or a later fetch is a recrawl and passes. Remembers *size* items. An item that fails to store is
    forgotten, so that its next delivery passes.
    """

    def __init__(self, size: int, seconds: float, stats: StatsCollector, now: Callable[[], datetime]) -> None:
        self._window = timedelta(seconds=seconds)
        self._stats = stats
        self._now = now
        self._sent: caches.Recent[tuple[str, str], _Sent] = caches.Recent(size)
        self._told: set[str] = set()  # collections

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        size = config.integer(crawler.settings, "ITEM_DEDUPE_SIZE")
        if not size:
            raise NotConfigured
        seconds = config.number(crawler.settings, "ITEM_DEDUPE_SECONDS")
        pipeline = cls(size, seconds, crawler.stats, lambda: datetime.now(UTC))
        crawler.signals.connect(pipeline.forget, signals.item_error)
        return pipeline

    async def process_item(self, item: Any) -> Any:
        """The item; raises and counts DuplicateItem for a repetition, RejectedItem for an item that cannot be read."""
        with readable(item, self._stats):
            return self._single(item) if isinstance(item, Item) else item

    def _single(self, item: Item) -> Item:
        try:
            digest, fetched_at = content_hash(item), moment_of(item.fetched_at or self._now())
        except (UnstorableError, HeavyError):
            return item  # storage rejects it with the reason; to look at it at length costs more than a second write
        if self._repeats(item, digest, fetched_at):
            self._stats.inc_value(names.ITEMS.format("duplicate"))
            raise DuplicateItem(item.url)
        return item

    def forget(self, item: Any) -> None:
        """Forget an item that was not stored."""
        if isinstance(item, Item):
            self._sent.pop((item.collection, caches.key(identity(item))), None)

    def _repeats(self, item: Item, digest: str, fetched_at: datetime) -> bool:
        key = (item.collection, caches.key(identity(item)))
        generation = item.source.get("generation") if isinstance(item.source, dict) else None
        found = origin.current()
        sent = _Sent(digest, generation, fetched_at, caches.key(found.url) if found is not None else "")
        before = self._sent.get(key)
        if before is not None and before.generation == generation:
            if before.digest == digest and abs(fetched_at - before.fetched_at) < self._window:
                return True
            if before.digest != digest and _is_other(sent.page, before.page):
                self._tell(item, before.page, sent.page)
        self._sent[key] = sent
        return False

    def _tell(self, item: Item, *pages: str) -> None:
        """Of an item that takes the place of another page's, in one crawl; only what one worker meets is noticed."""
        self._stats.inc_value(names.CONTESTED)
        if item.collection not in self._told:
            self._told.add(item.collection)
            words = (
                "%.300s and %.300s differ, and both say that their URL is %.300s: the one fetched last is stored in %s"
            )
            logger.warning(words, *pages, item.url, item.collection)


def _is_other(page: str, before: str) -> bool:
    """Whether two pages, if known, have different URLs."""
    try:
        return bool(page and before) and canonicalize(page) != canonicalize(before)
    except ValueError:
        return page != before
