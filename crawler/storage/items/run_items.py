"""Which documents each run stored or found unchanged, and in which version: the data of `scrapy runs diff`.

One record per batch of items: a write per batch, and a few bytes per item besides its `_id`. A page that was delivered
twice is recorded twice and counts once.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, NamedTuple

from pymongo import IndexModel
from pymongo.errors import OperationFailure

from crawler.storage import indexes
from crawler.storage.collection_names import RUN_ITEMS, UNTYPED
from crawler.storage.connection import Database, first_clause
from crawler.storage.items import bulk
from crawler.utils.batches import in_batches

logger = logging.getLogger(__name__)

BATCH: Final = 500  # differences whose pages are looked up at once
_PLAIN: Final = IndexModel([("plain", 1), ("run", 1)], name="plain", partialFilterExpression={"plain": True})
_ITEM, _VERSION = ({"$arrayElemAt": ["$item", at]} for at in (0, 1))
_NUMBER: Final = {"$convert": {"input": _VERSION, "to": "long", "onError": 1, "onNull": 1}}


def _array(name: str) -> dict[str, Any]:
    return {"$cond": [{"$isArray": f"${name}"}, f"${name}", []]}


def _text(value: object) -> dict[str, Any]:
    return {"$expr": {"$eq": [{"$type": value}, "string"]}}


# The documents of a run, one by one; records that another program has left are passed over.
_ONE_BY_ONE: Final[tuple[dict[str, Any], ...]] = (
    {"$match": _text("$collection")},
    {"$project": {"collection": 1, "item": {"$zip": {"inputs": [_array("ids"), _array("versions")]}}}},
    {"$unwind": "$item"},
    {"$match": _text(_ITEM)},
)


class RunItem(NamedTuple):
    """A document of a run, and its version then."""

    collection: str
    id: str
    version: int


@dataclass(frozen=True, slots=True)
class Difference:
    """The change of a document between two runs; version 0 if it was missing. *url*: its page's, where the `_id` does
    not tell."""

    kind: Literal["new", "changed", "gone", "unchanged"]
    collection: str
    id: str
    before: int
    after: int
    url: str = ""


async def ensure(database: Database) -> None:
    """Create the indexes."""
    await indexes.create(database[RUN_ITEMS], IndexModel([("run", 1)], name="run"), _PLAIN)


class RunItems:
    """Records the documents of the newest *kept* runs, and of as many runs of plain starts and start URLs, which may be
    far more; 0: of none. Raises PyMongo's errors, but for a refusal: that is logged once, as items are stored all the
    same."""

    def __init__(self, database: Database, kept: int) -> None:
        self._refused = False
        self._database = database
        self._stored = database[RUN_ITEMS]
        self._kept = kept
        self._known: set[str] = set()  # runs with records

    def is_new(self, run: str) -> bool:
        """Whether it has not recorded any of that run yet."""
        return run not in self._known

    async def add(
        self, collection: str, members: Mapping[str, Sequence[tuple[str, int]]], plain: Collection[str] = ()
    ) -> None:
        """Record `_id` and version of documents of *collection*, by run; may be repeated. *plain*: which of the new
        ones are runs of plain starts or start URLs."""
        members = {run: items for run, items in members.items() if run and items}
        if not members or not self._kept:
            return
        rows: list[dict[str, Any]] = []
        for run, items in members.items():
            ids, versions = zip(*items, strict=True)
            row = {"run": run, "collection": collection, "ids": ids, "versions": versions}
            rows.append(row | {"plain": True} if run in plain else row)
        try:
            await self._record(rows, set(members))
        except OperationFailure as error:
            if not bulk.is_refusal(error):
                raise
            if not self._refused:
                text = "MongoDB refuses records of runs in %s, so `scrapy runs diff` lacks items: %.300s"
                logger.error(text, RUN_ITEMS, first_clause(error))
            self._refused = True

    async def _record(self, rows: Sequence[dict[str, Any]], runs: set[str]) -> None:
        if not self._known:
            await ensure(self._database)
        for row in rows:  # usually one: a single command costs less than a bulk write
            await self._stored.insert_one(row)
        if news := runs - self._known:
            self._known |= news
            await self._forget()

    async def _forget(self) -> None:
        text = {"run": {"$type": "string"}}  # others are not ours
        runs = set(await self._stored.distinct("run", text))
        plain = set(await self._stored.distinct("run", {"plain": True, **text}))
        if old := [run for kind in (plain, runs - plain) for run in sorted(kind, key=_order)[: -self._kept]]:
            await self._stored.delete_many({"run": {"$in": old}})
            self._known.difference_update(old)


async def members(database: Database, run: str) -> AsyncIterator[RunItem]:
    """The documents of *run* by collection and `_id`, each once; sorted on the server's disk if there are many."""
    steps: list[dict[str, Any]] = [
        {"$match": {"run": run}},
        *_ONE_BY_ONE,
        {"$group": {"_id": {"c": "$collection", "i": _ITEM}, "v": {"$max": _NUMBER}}},
        {"$sort": {"_id.c": 1, "_id.i": 1}},
    ]
    async for row in await database[RUN_ITEMS].aggregate(steps, allowDiskUse=True):
        yield RunItem(row["_id"]["c"], row["_id"]["i"], int(row["v"]))


async def counts(database: Database, run: str) -> dict[str, int]:
    """How many documents of each collection *run* stored or found unchanged, each counted once."""
    steps: list[dict[str, Any]] = [
        {"$match": {"run": run}},
        *_ONE_BY_ONE,
        {"$group": {"_id": {"c": "$collection", "i": _ITEM}}},
        {"$group": {"_id": "$_id.c", "n": {"$sum": 1}}},
        {"$sort": {"_id": 1}},
    ]
    return {row["_id"]: row["n"] async for row in await database[RUN_ITEMS].aggregate(steps, allowDiskUse=True)}


async def differences(database: Database, before: str, after: str) -> AsyncIterator[Difference]:
    """Documents of both runs by what *after* changed compared with *before*, in the order of `members`."""
    async for batch in in_batches(_compared(database, before, after), BATCH):
        for one in await _with_pages(database, batch):
            yield one


async def _with_pages(database: Database, batch: Sequence[Difference]) -> list[Difference]:
    """*batch*, with the pages of those whose `_id` is a digest; "" for one that has been deleted since."""
    keys = [one.id for one in batch if one.collection == UNTYPED and one.kind != "unchanged"]
    if not keys:
        return list(batch)
    pages = {row["_id"]: row.get("url", "") async for row in database[UNTYPED].find({"_id": {"$in": keys}}, {"url": 1})}
    return [replace(one, url=pages.get(one.id, "")) if one.collection == UNTYPED else one for one in batch]


async def _compared(database: Database, before: str, after: str) -> AsyncIterator[Difference]:
    olds, news = members(database, before), members(database, after)
    old, new = await anext(olds, None), await anext(news, None)
    while old or new:
        if new is None or (old is not None and old[:2] < new[:2]):
            assert old is not None
            yield Difference("gone", old.collection, old.id, old.version, 0)
            old = await anext(olds, None)
        elif old is None or new[:2] < old[:2]:
            yield Difference("new", new.collection, new.id, 0, new.version)
            new = await anext(news, None)
        else:
            kind: Literal["changed", "unchanged"] = "unchanged" if old.version == new.version else "changed"
            yield Difference(kind, new.collection, new.id, old.version, new.version)
            old, new = await anext(olds, None), await anext(news, None)


def version(state: Mapping[str, Any]) -> int:
    """The version of a document as stored; 1 for what is none."""
    found = state.get("version")
    return found if isinstance(found, int) and found > 0 else 1


def _order(run: str) -> tuple[str, int]:
    day, _, number = run.partition("-")
    return day, int(number) if number.isdecimal() else 0
