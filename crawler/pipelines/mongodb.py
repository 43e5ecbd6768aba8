"""Stores items in MongoDB; a page whose items came through here may be confirmed to the frontier."""

from __future__ import annotations

from typing import Any, Self

from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.exceptions import DropItem
from scrapy.settings import BaseSettings
from scrapy.statscollectors import StatsCollector

from crawler import stats as names
from crawler.pipelines.drops import RejectedItem, reject
from crawler.storage import connection
from crawler.storage.config import StorageConfig
from crawler.storage.documents import UnstorableError
from crawler.storage.outage import Outage
from crawler.storage.writer import Writer


class MongoPipeline:
    """The last pipeline. Returns an item only when it is durable; waits for as long as MongoDB is away.

    Rejected items of every pipeline end up here too, through the item_dropped signal, which Scrapy awaits
    before it is done with the page.
    """

    def __init__(
        self, client: connection.Client, settings: BaseSettings, config: StorageConfig, stats: StatsCollector
    ) -> None:
        self._client = client
        self._settings = settings
        self._stats = stats
        database = connection.database(client, settings)
        outage = Outage(stats, connection.where(settings), config.retry_max_seconds)
        self._writer = Writer(database, config, outage, stats)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        assert crawler.stats is not None
        config = StorageConfig.from_settings(crawler.settings)
        pipeline = cls(connection.connect(crawler.settings), crawler.settings, config, crawler.stats)
        crawler.signals.connect(pipeline.item_dropped, signals.item_dropped)
        return pipeline

    async def open_spider(self) -> None:
        """Raises ServiceError when MongoDB is away: better no crawl than one that stores nothing."""
        await connection.check(self._client, self._settings)
        await self._writer.open()

    async def process_item(self, item: Any) -> Any:
        """The item, stored; raises RejectedItem for one that MongoDB cannot hold."""
        try:
            result = await self._writer.store(item)
        except UnstorableError as error:
            self._stats.inc_value(names.ITEM_ISSUES.format(error.issue))
            reject(item, [f"{error.issue}: {error}"], self._stats)
        self._stats.inc_value(names.ITEMS.format(result))
        return item

    async def item_dropped(self, item: Any, exception: DropItem) -> None:
        """Keep what was rejected; a duplicate, or what a site's own pipeline drops on purpose, is not."""
        if isinstance(exception, RejectedItem):
            await self._writer.reject(item, exception.reasons)

    async def close_spider(self) -> None:
        """Write what waits, then let go of the connections."""
        await self._writer.close()
        await self._client.close()
