"""The change history: changes that updates leave in `pending_changes` are copied here one by one."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple

from pymongo import InsertOne, UpdateMany
from pymongo.asynchronous.collection import AsyncCollection

from crawler.storage import indexes
from crawler.storage.items import bulk, refused_changes
from crawler.storage.items.documents import BOOKKEEPING, PROVENANCE
from crawler.storage.items.values import UnstorableError
from crawler.utils.batches import in_batches

logger = logging.getLogger(__name__)
Collection = AsyncCollection[dict[str, Any]]
_told: Final[set[tuple[str, ...]]] = set()  # spiders that share items, already logged
_CHUNK = 500  # documents per round
_OF_A_CHANGE = frozenset({"version", "at", "url", "source", "old", "new"})


class Recorded(NamedTuple):
    """How many changes are on record now, how many are refused, and why one of these is."""

    done: int
    refused: int = 0
    why: str = ""


async def drain(items: Collection, records: Collection) -> Recorded:
    """Record everything pending in the collection, such as what a killed worker left."""
    fields = {"version": 1, "pending_changes": 1}
    found = items.find({"pending_changes": {"$exists": True}}, fields, hint=indexes.PENDING, batch_size=_CHUNK)
    done = [await record(items, records, batch) async for batch in in_batches(found, _CHUNK)]
    return Recorded(
        sum(one.done for one in done), sum(one.refused for one in done), next((one.why for one in done if one.why), "")
    )


async def record(items: Collection, records: Collection, documents: Sequence[Mapping[str, Any]]) -> Recorded:
    """Copy the pending changes of *documents*, just read from *items*, into *records*.

    Records are written first, then removed from pending: after a crash in between, or with two workers at once, the
    record's key is already taken. A key that a change of another time has is that of an item that was deleted since and
    came back: its versions begin anew, and the time becomes part of the key. What a validator of *records* refuses
    stays pending, or goes to rejected_items; what is no change of ours is logged and removed. Raises PyMongo's errors.
    """
    found = [(document["_id"], change) for document in documents for change in _changes(document)]
    for key, change in found:
        _notice(key, change)
    rows = [_record(key, change) for key, change in found]
    refused = await _insert(records, rows)
    waiting = set(refused) - await refused_changes.keep_apart(records, rows, refused)
    if forgotten := _forget(documents, found, waiting):
        await bulk.apply(items, forgotten)
    first = next(iter(refused), None)
    why = "" if first is None else f"of {found[first][0]!s:.300}: {refused[first]!s:.300}"
    return Recorded(len(found) - len(refused), len(refused), why)


async def _insert(records: Collection, rows: Sequence[dict[str, Any]]) -> dict[int, UnstorableError]:
    """Insert those that are not there; returns why others are refused, by position."""
    if not rows:
        return {}
    errors = (await bulk.write(records, [InsertOne(row) for row in rows])).errors
    taken = [position for position, error in errors.items() if bulk.is_taken(error)]
    refused = {position: bulk.reason(error) for position, error in errors.items() if position not in taken}
    later = await _of_another_time(records, {position: rows[position] for position in taken})
    again = await bulk.write(records, [InsertOne(row) for row in later.values()]) if later else None
    failed = again.errors.items() if again else ()
    return refused | {[*later][index]: bulk.reason(error) for index, error in failed if not bulk.is_taken(error)}


async def _of_another_time(records: Collection, rows: Mapping[int, dict[str, Any]]) -> dict[int, dict[str, Any]]:
    """Those of *rows* whose key is that of a record of another time, with a key that has theirs."""
    query = {"_id": {"$in": [row["_id"] for row in rows.values()]}}
    times = {one["_id"]: _naive(one.get("at")) async for one in records.find(query, {"at": 1})} if rows else {}
    pairs = [(position, row, _naive(row["at"])) for position, row in rows.items()]
    other = [(position, row, at) for position, row, at in pairs if at and times.get(row["_id"]) not in (None, "", at)]
    return {position: {**row, "_id": f"{row['_id']}@{at}"} for position, row, at in other}


def _naive(at: object) -> str:
    """A time as text without its zone, which is UTC; empty for what is no time."""
    return at.replace(tzinfo=None).isoformat() if isinstance(at, datetime) else ""


def difference(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Content field -> {old, new} for what differs between two states; absent is None."""
    names = [name for name in {**new, **old} if name not in BOOKKEEPING and name not in PROVENANCE]
    pairs = {name: {"old": old.get(name), "new": new.get(name)} for name in names}
    return {name: pair for name, pair in pairs.items() if pair["old"] is not None or pair["new"] is not None}


def _changes(document: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Its pending changes; another program may have left anything in their place."""
    pending = document["pending_changes"]
    for change in pending if isinstance(pending, list) else [pending]:
        if _is_change(change):
            yield change
        else:
            text = "%.300s has %.200r among its pending_changes, which no release of ours wrote: it is removed"
            logger.error(text, document["_id"], change)


def _is_change(value: object) -> bool:
    if not isinstance(value, Mapping) or not value.keys() >= _OF_A_CHANGE:
        return False
    return all(isinstance(value[side], Mapping) for side in ("old", "new"))


def _notice(key: Any, change: Mapping[str, Any]) -> None:
    """Say it, once for each two of them, when a spider changes what another one stored."""
    source = change["source"]
    spiders = change.get("by"), source.get("spider") if isinstance(source, Mapping) else None
    pair = tuple(sorted({name for name in spiders if isinstance(name, str) and name}))
    if len(pair) == 2 and pair not in _told:
        _told.add(pair)
        text = "Spiders %r and %r both store %.300s: where they read it differently, each visit makes a version. %s"
        cure = "Give their items a `key`, or a collection of their own (docs/storage.md)"
        logger.warning(text, *pair, key, cure)


def _record(key: Any, change: Mapping[str, Any]) -> dict[str, Any]:
    """The same change always gives the same record, whoever writes it."""
    return {
        "_id": f"{key}#{change['version']}",
        "item": key,
        **{name: change[name] for name in ("url", "version", "at", "source")},
        "changes": difference(change["old"], change["new"]),
    }


def _forget(
    documents: Sequence[Mapping[str, Any]], found: Sequence[tuple[Any, Mapping[str, Any]]], waiting: set[int]
) -> list[UpdateMany]:
    """Remove from pending what is on record: all of a document, unless it has changed since (then whoever changed it
    does that), or one by one where other changes of it are *waiting*, by their position in *found*."""
    keep = {found[position][0] for position in waiting}
    gone = [pair for position, pair in enumerate(found) if pair[0] in keep and position not in waiting]
    return _forget_all([document for document in documents if document["_id"] not in keep]) + [
        UpdateMany({"_id": key}, {"$pull": {"pending_changes": {name: change[name] for name in ("version", "at")}}})
        for key, change in gone
    ]


def _forget_all(documents: Sequence[Mapping[str, Any]]) -> list[UpdateMany]:
    keys = defaultdict(list)
    odd: list[Mapping[str, Any]] = []  # with a version that is no number: one by one
    for document in documents:
        if isinstance(version := document.get("version"), int) and not isinstance(version, bool):
            keys[version].append(document["_id"])
        else:
            odd.append({"_id": document["_id"], "version": version})
    gone = {"$unset": {"pending_changes": True}}
    same = [UpdateMany({"_id": {"$in": found}, "version": version}, gone) for version, found in keys.items()]
    return same + [UpdateMany(query, gone) for query in odd]
