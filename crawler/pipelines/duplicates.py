"""Links an item whose content is stored under another URL of its host, instead of storing it twice."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, Self

from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.statscollectors import StatsCollector

from crawler import stats as names
from crawler.errors import ConfigError
from crawler.items import Item, PageItem, ProductItem
from crawler.pipelines.drops import LinkedItem
from crawler.policy.duplicates import is_distinctive
from crawler.storage import connection
from crawler.storage.config import StorageConfig
from crawler.storage.documents import UnstorableError, content_hash, identity
from crawler.storage.duplicates import Candidate, Linker

COLLECTIONS = frozenset({ProductItem.collection, PageItem.collection})


class LinkDuplicatesPipeline:
    """Looks up the content of each item that says enough to be recognised (policy/duplicates.py)."""

    def __init__(
        self,
        client: connection.Client,
        linkers: Mapping[str, Linker],
        stats: StatsCollector,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._client = client
        self._linkers = linkers
        self._stats = stats
        self._now = now

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Raises ConfigError for a collection whose items cannot be recognised."""
        assert crawler.stats is not None
        collections = crawler.settings.getlist("LINK_DUPLICATES_OF")
        if unknown := sorted(set(collections) - COLLECTIONS):
            raise ConfigError("LINK_DUPLICATES_OF", unknown[0], "names among " + ", ".join(sorted(COLLECTIONS)))
        if not collections:
            raise NotConfigured
        config = StorageConfig.from_settings(crawler.settings)
        client = connection.connect(crawler.settings)
        database = connection.database(client, crawler.settings)
        linkers = {name: Linker(database, name, config.batch_size, config.batch_ms / 2000) for name in collections}
        return cls(client, linkers, crawler.stats)

    async def process_item(self, item: Any) -> Any:
        """The item; raises LinkedItem, counted, when it is linked and so not stored again."""
        linker = self._linkers.get(item.collection) if isinstance(item, Item) else None
        if linker is None or not is_distinctive(item):
            return item
        try:
            digest = content_hash(item)
        except UnstorableError:
            return item  # storage refuses it with the reason
        found = Candidate(identity(item), item.url, digest, item.fetched_at or self._now(), item.source)
        if (original := await linker.original(found)) is None:
            return item
        self._stats.inc_value(names.ITEMS.format("linked"))
        raise LinkedItem(item.url, original)

    async def close_spider(self) -> None:
        """Let go of the connections."""
        for linker in self._linkers.values():
            await linker.close()
        await self._client.close()
