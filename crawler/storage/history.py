"""The change history: what was different, from the snapshots that updates leave in `pending_changes`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from pymongo import UpdateOne
from pymongo.asynchronous.collection import AsyncCollection

from crawler.storage import bulk
from crawler.storage.documents import BOOKKEEPING, PROVENANCE, UnstorableError, canonical

Collection = AsyncCollection[dict[str, Any]]
PENDING_INDEX = "pending_changes"
_CHUNK = 200  # documents per round: each brings its content twice


def changes(document: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The records for the pending changes of a stored document, oldest first.

    The states of a document form a chain (each snapshot is what the next change replaced), so the same change
    gives the same record whoever computes it, and whenever.
    """
    pending = document["pending_changes"]
    for entry, (old, new) in zip(pending, pairwise([*(each["old"] for each in pending), document]), strict=True):
        yield {
            "_id": f"{document['_id']}#{entry['version']}",
            "item": document["_id"],
            "url": new["url"],
            "version": entry["version"],
            "at": entry["at"],
            "changes": difference(old, new),
            "source": new["source"],
        }


def difference(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Content field -> {old, new}, for those that differ."""
    names = [name for name in {**new, **old} if name not in BOOKKEEPING and name not in PROVENANCE]
    pairs = {name: {"old": old.get(name), "new": new.get(name)} for name in names}
    return {name: pair for name, pair in pairs.items() if _differ(pair["old"], pair["new"])}


async def drain(items: Collection, records: Collection) -> int:
    """Put on record whatever is pending in the collection, such as what a killed worker left; how many."""
    total = 0
    batch: list[dict[str, Any]] = []
    query = {"pending_changes": {"$exists": True}}
    async for document in items.find(query, hint=PENDING_INDEX, batch_size=_CHUNK):
        batch.append(document)
        if len(batch) == _CHUNK:
            total += await record(items, records, batch)
            batch = []
    return total + await record(items, records, batch)


async def record(items: Collection, records: Collection, documents: Sequence[Mapping[str, Any]]) -> int:
    """Move the pending changes of *documents*, as just read from *items*, to *records*; how many.

    First the records are written, then the snapshots go: after a crash in between, and with two workers at
    once, the same record is written again. Raises PyMongo's errors.
    """
    if not documents:
        return 0
    found = [each for document in documents for each in changes(document)]
    await bulk.apply(records, [_insert(each) for each in found])
    await bulk.apply(items, [_forget(document) for document in documents])
    return len(found)


def _differ(old: Any, new: Any) -> bool:
    if old == new and type(old) is type(new):
        return False
    try:
        return canonical(old) != canonical(new)
    except UnstorableError:  # put there by other hands, as a type that items do not have
        return bool(old != new)


def _insert(record: dict[str, Any]) -> UpdateOne:
    rest = {name: value for name, value in record.items() if name != "_id"}
    return UpdateOne({"_id": record["_id"]}, {"$setOnInsert": rest}, upsert=True)


def _forget(document: Mapping[str, Any]) -> UpdateOne:
    """Drop the snapshots, unless the document has changed since: whoever changed it does it then."""
    query = {"_id": document["_id"], "version": document["version"]}
    return UpdateOne(query, {"$unset": {"pending_changes": True}})
