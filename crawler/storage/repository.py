"""What one batch does in MongoDB. Every call bears being repeated, whole or in part, by anyone, later."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Any

from pymongo.errors import PyMongoError

from crawler import stats as names
from crawler.errors import ServiceError
from crawler.storage import bulk, history, indexes
from crawler.storage.config import StorageConfig
from crawler.storage.connection import Database
from crawler.storage.documents import Document, UnstorableError
from crawler.storage.outage import ServerError, Stats
from crawler.storage.rejections import Rejection
from crawler.storage.update import upsert


class StoreResult(StrEnum):
    """What an observation did to the stored state."""

    NEW = "new"
    CHANGED = "changed"
    UNCHANGED = "unchanged"
    STALE = "stale"  # a newer observation is stored already, so this one was ignored
    SPOOLED = "spooled"  # safe on local disk until MongoDB is back


# What tells afterwards what an update did, and the changes that wait to be put on record.
_STATE = dict.fromkeys(("content_hash", "last_seen_at", "last_changed_at", "version", "pending_changes"), 1)


class Repository:
    """Items, their change history, and what was rejected; raises PyMongo's errors and ServerError.

    Known weakness: the result is read after the write, so when two workers write one item within a millisecond or two,
    the reported word (not the stored state) may be that of the other; it only feeds the statistics.
    """

    def __init__(self, database: Database, config: StorageConfig, stats: Stats) -> None:
        self._database = database
        self._config = config
        self._stats = stats
        self._indexed: set[str] = set()

    async def prepare(self) -> None:
        """Create indexes and finish what a killed worker left pending; raises ServiceError when that fails."""
        try:
            await indexes.ensure_rejected(self._database, self._config.rejected_days)
            for items, records in self._config.history.items():
                await indexes.ensure_items(self._database[items])
                await indexes.ensure_history(self._database[records])
                count = await history.drain(self._database[items], self._database[records])
                self._stats.inc_value(names.CHANGES, count)
        except (PyMongoError, ServerError) as error:
            raise ServiceError(f"MongoDB cannot be prepared for storing: {error!s:.300}") from error

    async def reject(self, entries: Sequence[Rejection]) -> list[UnstorableError | None]:
        """Keep them; the reason for each that not even this collection takes."""
        _, refused = await bulk.apply(self._database[indexes.REJECTED], [entry.update() for entry in entries])
        return [refused.get(position) for position in range(len(entries))]

    async def store(self, name: str, entries: Sequence[Document]) -> list[StoreResult | UnstorableError]:
        """Write observations of different items of one collection, and what changed into its history."""
        await self._ensure_indexes(name)
        updates = [
            upsert(entry, history=name in self._config.history, restate=self._config.restate) for entry in entries
        ]
        inserted, refused = await bulk.apply(self._database[name], updates)
        matched = [e for i, e in enumerate(entries) if i not in inserted and i not in refused]
        stored = await self._read_back(name, matched) if matched else {}
        if pending := [state for state in stored.values() if "pending_changes" in state]:
            await self._record(name, pending)
        return [
            refused.get(i) or (StoreResult.NEW if i in inserted else _result(entry, stored.get(entry.id)))
            for i, entry in enumerate(entries)
        ]

    async def _ensure_indexes(self, name: str) -> None:
        if name not in self._indexed:
            await indexes.ensure_items(self._database[name])
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
