"""Item pipelines of a re-parse that compare each item with the stored one: one writes nothing, one stores."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple, Self
from weakref import WeakValueDictionary

from scrapy.crawler import Crawler
from scrapy.statscollectors import StatsCollector

from crawler import stats as names
from crawler.errors import UnstoredItem
from crawler.items import Item
from crawler.pipelines.mongodb import MongoPipeline
from crawler.replay import counts
from crawler.scrapy_hooks import gives_up
from crawler.storage import connection
from crawler.storage.config import StorageConfig
from crawler.storage.items import history
from crawler.storage.items.batcher import Batcher
from crawler.storage.items.documents import content, document
from crawler.storage.items.values import UnstorableError
from crawler.storage.outage import AwayError, MongoOutage
from crawler.storage.reading import reader
from crawler.storage.reading.value_text import in_short

EXAMPLES: Final = 3  # per field

Change = dict[str, dict[str, Any]]


class Judgement(NamedTuple):
    """The verdict on one item: in a word, which fields differ, and whether storing it would change nothing."""

    word: str
    change: Change
    decided: bool = False


class DifferencesPipeline:
    """Counts new, changed, unchanged and older items and changed fields, with a few examples. Writes nothing.

    While MongoDB is away items wait; once *gives_up* says, with the seconds that this has lasted, that it has been long
    enough, they are dropped as UnstoredItem. Known weakness: an item that is not stored counts as new once per fetch of
    its page.
    """

    def __init__(
        self,
        client: connection.Client,
        database: connection.Database,
        item_max_bytes: int,
        stats: StatsCollector,
        outage: MongoOutage,
        gives_up: Callable[[float], bool] = lambda _: False,
    ) -> None:
        self._client = client
        self._database = database
        self._item_max_bytes = item_max_bytes
        self._stats = stats
        self._outage = outage
        self._gives_up = gives_up
        self._batchers: dict[str, Batcher[Item, Judgement]] = {}
        self.examples: dict[str, list[dict[str, str]]] = {}

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Only a re-parse uses it."""
        client, settings = connection.connect(crawler.settings), crawler.settings
        config, database = StorageConfig.from_settings(settings), connection.database(client, settings)
        outage = MongoOutage(
            crawler.stats,
            connection.where(settings),
            config.retry_max_seconds,
            meanwhile="Items wait until it does",
        )
        gives_it_up = functools.partial(gives_up, crawler)
        return cls(client, database, config.item_max_bytes, crawler.stats, outage, gives_it_up)

    async def process_item(self, item: Any) -> Any:
        """The item unchanged; one that is no `Item` has no stored state to compare with."""
        if isinstance(item, Item):
            await self._judge(item)
        return item

    async def close_spider(self) -> None:
        """Close the connections."""
        for batcher in self._batchers.values():
            await batcher.close()
        await self._client.close()

    async def _judge(self, item: Item) -> Judgement:
        """Compare with the stored state, and count."""
        found = await self._batcher(item.collection).submit(object(), item)
        self._stats.inc_value(counts.ITEMS.format(found.word))
        for field, pair in found.change.items():
            self._stats.inc_value(counts.FIELDS.format(field))
            examples = self.examples.setdefault(field, [])
            if len(examples) < EXAMPLES:
                examples.append({"url": item.url, "old": in_short(pair["old"]), "new": in_short(pair["new"])})
        return found

    def _batcher(self, collection: str) -> Batcher[Item, Judgement]:
        if collection not in self._batchers:
            self._batchers[collection] = Batcher(functools.partial(self._compare, collection), 500, 0.02)
        return self._batchers[collection]

    async def _compare(self, collection: str, items: Sequence[Item]) -> list[Judgement]:
        attempt = 0
        while True:
            try:
                return await self._outage.attempt(functools.partial(self._compared, collection, items))
            except AwayError:
                attempt += 1
            if self._gives_up(self._outage.seconds):
                raise UnstoredItem
            await self._outage.pause(attempt)

    async def _compared(self, collection: str, items: Sequence[Item]) -> list[Judgement]:
        made = [_made(item, self._item_max_bytes) for item in items]
        keys = [key for key, _, _ in made if key]
        heads = {head["_id"]: head async for head in reader.heads(self._database, collection, keys)}
        changed = [key for key, digest, _ in made if key in heads and heads[key].get("content_hash") != digest]
        whole = {
            one["_id"]: one async for one in reader.documents(self._database, collection, {"_id": {"$in": changed}})
        }
        return [_judged(item, *one, heads, whole) for item, one in zip(items, made, strict=True)]


class RestatePipeline(DifferencesPipeline):
    """Also stores, in place of `MongoPipeline`, except what the same fetch has already stored identically.

    Fetches of one item take turns: each is compared with what the one before has stored.
    """

    store: MongoPipeline
    turns: WeakValueDictionary[str, asyncio.Lock]

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Built like `MongoPipeline`."""
        pipeline = super().from_crawler(crawler)
        pipeline.store = MongoPipeline.from_crawler(crawler)
        pipeline.turns = WeakValueDictionary()
        return pipeline

    async def open_spider(self) -> None:
        """Raises ServiceError when MongoDB is away."""
        await self.store.open_spider()

    async def process_item(self, item: Any) -> Any:
        """Store *item*; raises RejectedItem for one that MongoDB cannot hold."""
        if not isinstance(item, Item):
            return await self.store.process_item(item)
        async with self.turns.setdefault(f"{item.collection} {item.url} {item.key}", asyncio.Lock()):
            if (await self._judge(item)).decided:
                self._stats.inc_value(names.ITEMS.format("unchanged"))
                return item
            return await self.store.process_item(item)

    async def close_spider(self) -> None:
        """Write what is pending, then close the connections."""
        await self.store.close_spider()
        await super().close_spider()


def _made(item: Item, max_bytes: int) -> tuple[str, str, datetime | None]:
    """Key, hash and time the item would be stored with; no key if it would be rejected."""
    try:
        assert item.fetched_at is not None  # stamped by the middleware
        entry = document(item, item.fetched_at, max_bytes)
    except UnstorableError:
        return "", "", None
    return entry.id, entry.content_hash, entry.fetched_at


def _judged(
    item: Item,
    key: str,
    digest: str,
    at: datetime | None,
    heads: Mapping[str, Mapping[str, Any]],
    whole: Mapping[str, Mapping[str, Any]],
) -> Judgement:
    if at is None:
        return Judgement("refused", {})
    if (head := heads.get(key)) is None:
        return Judgement("new", {})
    seen, same = head.get("last_seen_at"), head.get("content_hash") == digest
    if isinstance(seen, datetime) and seen > at:
        return Judgement("older", {})
    if same or key not in whole:
        return Judgement("unchanged", {}, same and seen == at)
    pairs = history.difference(whole[key], content(item))
    return Judgement("changed", {name: pair for name, pair in pairs.items() if pair["old"] != pair["new"]})
