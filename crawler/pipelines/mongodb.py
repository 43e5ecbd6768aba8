"""Stores items in MongoDB; a page whose items came through here may be acknowledged."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from time import monotonic
from typing import Any, Self

from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.exceptions import DropItem
from scrapy.settings import BaseSettings
from scrapy.statscollectors import StatsCollector
from twisted.python.failure import Failure

from crawler import stats as names
from crawler.counting.timings import timings_of
from crawler.errors import UnstoredItem
from crawler.items import Item
from crawler.pipelines import origins
from crawler.pipelines.drops import LinkedItem, RejectedItem, readable, reject
from crawler.scrapy_hooks import gives_up
from crawler.storage import connection, writer_setup
from crawler.storage.config import StorageConfig
from crawler.storage.items import origin
from crawler.storage.items.duplicates import DuplicateError
from crawler.storage.items.values import UnstorableError
from crawler.storage.outage import AwayError
from crawler.worker.lookup import stop_leasing

logger = logging.getLogger(__name__)


class MongoPipeline:
    """The last pipeline. Returns an item only when it is durable: in MongoDB, or on local disk while that is away.

    With neither available, items wait and the worker leases nothing new; one that is told to end waits until MongoDB
    has been away for FRONTIER_CLOSE_SECONDS, and then its pages are given back. Rejected items of every pipeline arrive
    here too, through the item_dropped signal, which Scrapy awaits before the page is done.
    """

    def __init__(
        self,
        client: connection.Client,
        settings: BaseSettings,
        config: StorageConfig,
        stats: StatsCollector,
        pause: Callable[[str], None],
        crawler: Crawler | None = None,
    ) -> None:
        self._client = client
        self._settings = settings
        self._stats = stats
        self._crawler = crawler
        self._timings = timings_of(crawler) if crawler is not None else None
        self._writer = writer_setup.writer(client, settings, config, stats, pause, partial(gives_up, crawler))

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Raises ConfigError for a storage setting out of range or an unusable spool directory."""
        config = StorageConfig.from_settings(crawler.settings)
        client = connection.connect(crawler.settings)
        pause = partial(stop_leasing, crawler, "storage")
        pipeline = cls(client, crawler.settings, config, crawler.stats, pause, crawler)
        crawler.signals.connect(pipeline.item_dropped, signals.item_dropped)
        return pipeline

    async def open_spider(self) -> None:
        """Raises ServiceError when MongoDB is away: better no crawl than one that cannot store."""
        await connection.check(self._client, self._settings)
        await self._writer.open()
        if self._crawler is not None:
            origins.follow(self._crawler)

    async def process_item(self, item: Any) -> Any:
        """Store *item*; raises RejectedItem for one that MongoDB cannot hold, LinkedItem for known content.

        The latter is stored already under another URL of its host: LINK_DUPLICATES_OF.
        """
        known = origin.current()
        with readable(item, self._stats):
            if isinstance(item, Item) and known is not None and not item.source:  # errbacks' items pass no middleware
                item.fetched_at = item.fetched_at or known.fetched_at
                item.source = dict(known.source)
        began = monotonic()
        try:
            result = await self._writer.store(item, known)
        except AwayError:
            raise UnstoredItem from None
        except DuplicateError as duplicate:
            self._stats.inc_value(names.ITEMS.format("linked"))
            raise LinkedItem(item.url, duplicate.original) from None
        except UnstorableError as error:
            self._stats.inc_value(names.ITEM_ISSUES.format(error.issue))
            reject(item, [f"{error.issue}: {error}"], self._stats)
        self._stats.inc_value(names.ITEMS.format(result))
        if self._timings is not None:
            self._timings.store.observe(monotonic() - began, known.source.get("request_id", "") if known else "")
        return item

    async def item_dropped(self, item: Any, response: Any, exception: DropItem) -> None:
        """Keep a rejected item; duplicates, and items that another pipeline drops on purpose, are not kept."""
        if not isinstance(exception, RejectedItem):
            return
        try:
            await self._writer.reject(item, exception.reasons, origin.current())
        except AwayError:
            if self._crawler is not None:  # who ends its page hears of it
                told = {"item": item, "response": response, "exception": UnstoredItem()}
                self._crawler.signals.send_catch_log(signals.item_dropped, spider=self._crawler.spider, **told)
        except Exception as error:  # noqa: BLE001 - whatever it is: the page of an item that is nowhere is not done
            reason = f"{type(error).__name__}: {error}"
            if isinstance(error, UnstorableError):
                reason = f"rejected_items refuses it: {error}"
            logger.error("A rejected item is not kept: %.500s", reason)
            if self._crawler is not None:  # its page is tried again, or becomes a dead letter
                told = {"item": item, "response": response, "failure": Failure(error)}  # type: ignore[no-untyped-call]
                self._crawler.signals.send_catch_log(signals.item_error, spider=self._crawler.spider, **told)

    async def close_spider(self) -> None:
        """Write what is pending, then close the connections."""
        await self._writer.close()
        await self._client.close()
