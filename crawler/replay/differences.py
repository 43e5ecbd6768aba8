"""The item pipeline of a re-parse that compares each item with what is stored, just before it would be stored."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any, Final, Self

from scrapy.crawler import Crawler
from scrapy.statscollectors import StatsCollector

from crawler.items import Item
from crawler.replay import counts
from crawler.storage import connection, history, reader
from crawler.storage.batcher import Batcher
from crawler.storage.documents import UnstorableError, content, document

EXAMPLES: Final = 3  # per field
SHOWN: Final = 60  # characters of a value

Change = dict[str, dict[str, Any]]


class DifferencesPipeline:
    """Counts new, changed, unchanged and older items, and changed fields; keeps a few examples. Writes nothing."""

    def __init__(self, client: connection.Client, database: connection.Database, stats: StatsCollector) -> None:
        self._client = client
        self._database = database
        self._stats = stats
        self._batchers: dict[str, Batcher[Item, tuple[str, Change]]] = {}
        self.examples: dict[str, list[dict[str, str]]] = {}

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Put in place by the re-parse alone."""
        assert crawler.stats is not None
        client = connection.connect(crawler.settings)
        return cls(client, connection.database(client, crawler.settings), crawler.stats)

    async def process_item(self, item: Any) -> Any:
        """The item as it came; one that is no `Item` has no stored state to compare with."""
        if isinstance(item, Item):
            word, change = await self._batcher(item.collection).submit(object(), item)
            self._stats.inc_value(counts.ITEMS.format(word))
            for field, pair in change.items():
                self._stats.inc_value(counts.FIELDS.format(field))
                examples = self.examples.setdefault(field, [])
                if len(examples) < EXAMPLES:
                    examples.append({"url": item.url, "old": _shown(pair["old"]), "new": _shown(pair["new"])})
        return item

    async def close_spider(self) -> None:
        """Let go of the connections."""
        for batcher in self._batchers.values():
            await batcher.close()
        await self._client.close()

    def _batcher(self, collection: str) -> Batcher[Item, tuple[str, Change]]:
        if collection not in self._batchers:
            self._batchers[collection] = Batcher(functools.partial(self._compare, collection), 500, 0.02)
        return self._batchers[collection]

    async def _compare(self, collection: str, items: Sequence[Item]) -> list[tuple[str, Change]]:
        made = [_made(item) for item in items]
        keys = [key for key, _, _ in made if key]
        heads = {head["_id"]: head async for head in reader.heads(self._database, collection, keys)}
        changed = [key for key, digest, _ in made if key in heads and heads[key]["content_hash"] != digest]
        whole = {
            one["_id"]: one async for one in reader.documents(self._database, collection, {"_id": {"$in": changed}})
        }
        return [_judged(item, *one, heads, whole) for item, one in zip(items, made, strict=True)]


def _made(item: Item) -> tuple[str, str, datetime | None]:
    """Key, hash and time that the item would be stored with; no key when it would be refused."""
    try:
        assert item.fetched_at is not None  # stamped by the middleware
        entry = document(item, item.fetched_at, 2**24)
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
) -> tuple[str, Change]:
    if at is None:
        return "refused", {}
    if (head := heads.get(key)) is None:
        return "new", {}
    if head["last_seen_at"] > at:
        return "older", {}
    if head["content_hash"] == digest or key not in whole:
        return "unchanged", {}
    pairs = history.difference(whole[key], content(item))
    return "changed", {name: pair for name, pair in pairs.items() if pair["old"] != pair["new"]}


def _shown(value: Any) -> str:
    text = f"{value:f}" if isinstance(value, Decimal) else "-" if value is None else str(value)
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 3]}..."
