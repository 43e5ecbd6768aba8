"""Stores items: what `store` returned from is in the journal of MongoDB, once, whatever dies afterwards."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, TypeVar

from pymongo.errors import PyMongoError

from crawler import stats as names
from crawler.errors import ServiceError
from crawler.storage import bulk, history, indexes
from crawler.storage.batcher import Batcher, Flush
from crawler.storage.config import StorageConfig
from crawler.storage.connection import Database
from crawler.storage.documents import Document, UnstorableError, document
from crawler.storage.outage import Outage, ServerError, Stats
from crawler.storage.rejections import Rejection
from crawler.storage.update import upsert

T = TypeVar("T")
R = TypeVar("R")


class StoreResult(StrEnum):
    """What an observation did to the stored state."""

    NEW = "new"
    CHANGED = "changed"
    UNCHANGED = "unchanged"
    STALE = "stale"  # a newer observation is stored already, so this one was ignored


# What tells afterwards what an update did, and the changes that wait to be put on record.
_STATE = dict.fromkeys(("content_hash", "last_seen_at", "last_changed_at", "version", "pending_changes"), 1)


def _now() -> datetime:
    return datetime.now(UTC)


class Writer:
    """Writes items in batches, one batcher per collection.

    `open` first, `close` last. While MongoDB is away `store` and `reject` do not return. Known weakness: the
    result is read after the write, so when two workers write one item within a millisecond or two, the
    reported word (not the stored state) may be that of the other; it only feeds the statistics.
    """

    def __init__(
        self,
        database: Database,
        config: StorageConfig,
        outage: Outage,
        stats: Stats,
        now: Callable[[], datetime] = _now,
    ) -> None:
        self._database = database
        self._config = config
        self._outage = outage
        self._stats = stats
        self._now = now
        self._indexed: set[str] = set()
        self._items: dict[str, Batcher[Document, StoreResult]] = {}
        self._rejected: Batcher[Rejection, None] = self._batcher(self._flush_rejected)

    async def open(self) -> None:
        """Create indexes and finish what a killed worker left pending; raises ServiceError when that fails."""
        try:
            await self._prepare()
        except (PyMongoError, ServerError) as error:
            raise ServiceError(f"MongoDB cannot be prepared for storing: {error!s:.300}") from error

    async def store(self, item: Any) -> StoreResult:
        """Store one item and return once that is durable; without `fetched_at` it counts as fetched now.

        Raises UnstorableError, at once or after the server's answer, for an item that can never be stored.
        """
        fetched_at = getattr(item, "fetched_at", None) or self._now()
        entry = document(item, fetched_at, self._config.item_max_bytes)
        batcher = self._items.get(entry.collection)
        if batcher is None:
            flush = functools.partial(self._flush_items, entry.collection)
            batcher = self._items[entry.collection] = self._batcher(flush)
        return await batcher.submit(entry.id, entry)

    async def reject(self, item: Any, reasons: Sequence[str]) -> None:
        """Keep an item that is not stored, with the reasons; returns once that is durable."""
        entry = Rejection.of(item, reasons, self._now(), self._config.item_max_bytes)
        await self._rejected.submit(entry.id, entry)

    async def close(self) -> None:
        """Write what waits."""
        for batcher in self._items.values():
            await batcher.close()
        await self._rejected.close()

    def _batcher(self, flush: Flush[T, R]) -> Batcher[T, R]:
        return Batcher(flush, self._config.batch_size, self._config.batch_ms / 1000)

    async def _prepare(self) -> None:
        await indexes.ensure_rejected(self._database, self._config.rejected_days)
        for items, records in self._config.history.items():
            await indexes.ensure_items(self._database[items])
            await indexes.ensure_history(self._database[records])
            count = await history.drain(self._database[items], self._database[records])
            self._stats.inc_value(names.CHANGES, count)

    async def _flush_rejected(self, entries: Sequence[Rejection]) -> Sequence[UnstorableError | None]:
        collection = self._database[indexes.REJECTED]
        updates = [entry.update() for entry in entries]
        _, refused = await self._outage.insist(lambda: bulk.apply(collection, updates))
        return [refused.get(position) for position in range(len(entries))]

    async def _flush_items(self, name: str, entries: Sequence[Document]) -> Sequence[StoreResult | UnstorableError]:
        await self._ensure_indexes(name)
        updates = [upsert(entry, history=name in self._config.history) for entry in entries]
        inserted, refused = await self._outage.insist(lambda: bulk.apply(self._database[name], updates))
        matched = [e for i, e in enumerate(entries) if i not in inserted and i not in refused]
        stored = await self._outage.insist(lambda: self._read_back(name, matched)) if matched else {}
        if pending := [state for state in stored.values() if "pending_changes" in state]:
            await self._outage.insist(lambda: self._record(name, pending))
        return [
            refused.get(i) or (StoreResult.NEW if i in inserted else _result(entry, stored.get(entry.id)))
            for i, entry in enumerate(entries)
        ]

    async def _ensure_indexes(self, name: str) -> None:
        if name not in self._indexed:
            await self._outage.insist(lambda: indexes.ensure_items(self._database[name]))
            self._indexed.add(name)

    async def _read_back(self, name: str, entries: Sequence[Document]) -> dict[str, dict[str, Any]]:
        query = {"_id": {"$in": [entry.id for entry in entries]}}
        found = self._database[name].find(query, _STATE, batch_size=len(entries))
        return {state["_id"]: state async for state in found}

    async def _record(self, name: str, documents: Sequence[dict[str, Any]]) -> None:
        records = self._database[self._config.history[name]]
        self._stats.inc_value(names.CHANGES, await history.record(self._database[name], records, documents))


def _result(entry: Document, state: dict[str, Any] | None) -> StoreResult:
    """What *entry* did, judged by the state found after it; true as well when the write was repeated."""
    if state is None or state["content_hash"] != entry.content_hash or state["last_seen_at"] > entry.fetched_at:
        return StoreResult.STALE
    if state["last_changed_at"] != entry.fetched_at:
        return StoreResult.UNCHANGED
    return StoreResult.NEW if state["version"] == 1 else StoreResult.CHANGED
