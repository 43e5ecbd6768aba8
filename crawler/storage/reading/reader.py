"""Reads stored documents back: for the export, the demo's table, and the price history."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any, Final

from crawler.storage.collection_names import RECORDS, UNTYPED
from crawler.storage.config import StorageConfig
from crawler.storage.connection import Database
from crawler.storage.items.codec import CODEC

# Which spider stored a document, "" where it does not say.
SPIDER: Final = {"$cond": [{"$eq": [{"$type": "$source.spider"}, "string"]}, "$source.spider", ""]}
_BATCH = 500
_ALL: Mapping[str, Any] = {}


def time_field(collection: str, config: StorageConfig) -> str:
    """The field that says when an item changed, or a record was made."""
    return "at" if collection in RECORDS.union(config.history.values()) else "last_changed_at"


async def has_field(database: Database, collection: str, field: str) -> bool:
    """Whether a document has it; reads the whole collection if none has."""
    return await database[collection].find_one({field: {"$exists": True}}, {"_id": 1}) is not None


async def count(database: Database, collection: str, query: Mapping[str, Any]) -> int:
    """How many documents `documents` would yield; for a whole collection a quick estimate."""
    stored = database[collection]
    return await (stored.count_documents(query) if query else stored.estimated_document_count())


async def documents(
    database: Database, collection: str, query: Mapping[str, Any] = _ALL
) -> AsyncIterator[dict[str, Any]]:
    """The documents ordered by `_id`: decimals as Decimal, times as aware UTC.

    `pending_changes` is internal to the writer and left out.
    """
    found = database[collection].with_options(CODEC).find(query, {"pending_changes": 0})
    async for document in found.sort("_id", 1).allow_disk_use(True).batch_size(_BATCH):
        yield document


async def heads(database: Database, collection: str, keys: Sequence[str]) -> AsyncIterator[dict[str, Any]]:
    """`_id`, `content_hash` and `last_seen_at` of these documents, unordered."""
    async for one in database[collection].find({"_id": {"$in": list(keys)}}, {"content_hash": 1, "last_seen_at": 1}):
        yield one


async def document(database: Database, collection: str, key: str) -> dict[str, Any] | None:
    """One document by `_id`, with values as in `documents`."""
    return await database[collection].with_options(CODEC).find_one({"_id": key})


async def items_of(database: Database, pages: Sequence[str], spider: str) -> dict[str, Any] | None:
    """What *spider* has stored of *pages* (URLs) in `items`: how many `documents`, their latest `version`,
    `first_seen_at` and `last_seen_at`; None for nothing."""
    figures = {
        "documents": {"$sum": 1},
        "version": {"$max": "$version"},
        "first_seen_at": {"$min": "$first_seen_at"},
        "last_seen_at": {"$max": "$last_seen_at"},
    }
    stages: list[Mapping[str, Any]] = [
        {"$match": {"url": {"$in": list(pages)}, "source.spider": spider}},
        {"$group": {"_id": None} | figures},
        {"$unset": "_id"},
    ]
    found = await database[UNTYPED].with_options(CODEC).aggregate(stages)
    return await anext(aiter(found), None)


async def changes(database: Database, records: str, item: str) -> AsyncIterator[dict[str, Any]]:
    """The change records of one document, oldest first."""
    async for record in database[records].with_options(CODEC).find({"item": item}).sort([("at", 1), ("version", 1)]):
        yield record


async def field_names(database: Database, collection: str, query: Mapping[str, Any] = _ALL) -> list[str]:
    """Every top-level field name of the documents that *query* finds, `_id` first; reads all of them."""
    names = {name async for _, name in _names(database, collection, "$$ROOT", query)}
    return ["_id", *sorted(names - {"_id", "pending_changes"})]


async def item_field_names(database: Database, query: Mapping[str, Any] = _ALL) -> list[str]:
    """The fields of the items of no class that *query* finds, as `item.<name>`; reads all of them."""
    return sorted({f"item.{name}" async for _, name in _names(database, UNTYPED, "$item", query)})


async def item_fields_of_spiders(database: Database) -> dict[str, set[str]]:
    """The same by spider, of all items; "" is the spider of those that name none."""
    found: dict[str, set[str]] = {}
    async for spider, name in _names(database, UNTYPED, "$item", _ALL):
        found.setdefault(spider, set()).add(f"item.{name}")
    return found


async def _names(
    database: Database, collection: str, document: str, query: Mapping[str, Any]
) -> AsyncIterator[tuple[str, str]]:
    """Spiders and the names in *document*, the path of a document in those that *query* finds; another value there has
    none."""
    whole = {"$cond": [{"$eq": [{"$type": document}, "object"]}, document, {}]}
    names = {"$map": {"input": {"$objectToArray": whole}, "in": "$$this.k"}}
    stages: list[Mapping[str, Any]] = [
        {"$match": query},
        {"$project": {"_id": 0, "spider": SPIDER, "name": names}},
        {"$unwind": "$name"},
        {"$group": {"_id": {"spider": "$spider", "name": "$name"}}},
    ]
    async for each in await database[collection].aggregate(stages):
        yield each["_id"]["spider"], each["_id"]["name"]


async def collections(database: Database) -> list[str]:
    """Names of the existing collections, without MongoDB's own."""
    return sorted(name for name in await database.list_collection_names() if not name.startswith("system."))


async def stored(database: Database) -> list[str]:
    """The same without views, which show documents of a collection a second time, and time series."""
    made = [one async for one in await database.list_collections(nameOnly=True)]
    # servers that only speak its protocol may not say the type
    plain = [one["name"] for one in made if one.get("type", "collection") == "collection"]
    return sorted(name for name in plain if not name.startswith("system."))
