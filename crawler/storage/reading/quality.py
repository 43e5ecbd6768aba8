"""How complete the stored documents are, counted by MongoDB itself."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from crawler.storage.collection_names import REJECTED
from crawler.storage.connection import Database
from crawler.storage.reading.reader import SPIDER

_EMPTY: Final[list[Any]] = [None, "", [], {}]


@dataclass(frozen=True, slots=True)
class SpiderQuality:
    """One spider's documents: their number, and field -> (present, missing, invalid)."""

    spider: str
    documents: int
    fields: Mapping[str, tuple[int, int, int]]

    def of_fields(self, names: Collection[str]) -> SpiderQuality:
        """The same of these fields alone."""
        return replace(self, fields={name: counts for name, counts in self.fields.items() if name in names})


async def by_spider(
    database: Database, collection: str, fields: Sequence[str], invalid: Mapping[str, str], host: str = ""
) -> list[SpiderQuality]:
    """Reads the whole collection, or one host's part; *invalid*: which issue makes which field invalid."""
    sums: dict[str, Any] = {}
    for number, field in enumerate(fields):
        issues = [name for name, of in invalid.items() if of == field]
        bad = {"$gt": [{"$size": {"$setIntersection": ["$issues", issues]}}, 0]}
        missing = {"$in": [{"$ifNull": [f"${field}", None]}, _EMPTY]}
        sums[f"i{number}"] = {"$sum": {"$cond": [bad, 1, 0]}}
        sums[f"m{number}"] = {"$sum": {"$cond": [{"$and": [missing, {"$not": [bad]}]}, 1, 0]}}
    stages: list[Mapping[str, Any]] = [
        {"$match": _of(host)},
        {"$set": {"issues": {"$cond": [{"$isArray": "$issues"}, "$issues", []]}}},
        {"$group": {"_id": SPIDER, "documents": {"$sum": 1}} | sums},
        {"$sort": {"_id": 1}},
    ]
    return [_quality(row, fields) async for row in await database[collection].aggregate(stages)]


async def rejections(database: Database, collection: str, host: str = "") -> dict[str, int]:
    """Issue -> number of items of the collection rejected for it, most frequent first."""
    stages: list[Mapping[str, Any]] = [
        {"$match": {"collection": collection} | _of(host)},
        {"$unwind": "$issues"},
        {"$match": {"issues": {"$type": "string"}}},
        {"$group": {"_id": "$issues", "items": {"$sum": 1}}},
        {"$sort": {"items": -1, "_id": 1}},
    ]
    return {row["_id"]: row["items"] async for row in await database[REJECTED].aggregate(stages)}


def _of(host: str) -> dict[str, Any]:
    return {"url": {"$regex": rf"^https?://{re.escape(host)}(:\d+)?(/|$)"}} if host else {}


def _quality(row: Mapping[str, Any], fields: Sequence[str]) -> SpiderQuality:
    total = row["documents"]
    states = {name: (row[f"m{number}"], row[f"i{number}"]) for number, name in enumerate(fields)}
    counted = {name: (total - missing - bad, missing, bad) for name, (missing, bad) in states.items()}
    return SpiderQuality(row["_id"], total, counted)
