"""The indexes of the collections, created by the first worker."""

from __future__ import annotations

from typing import Any

from pymongo import IndexModel
from pymongo.asynchronous.collection import AsyncCollection
from pymongo.errors import OperationFailure

from crawler.storage.collection_names import UNTYPED
from crawler.storage.connection import Database

_OPTIONS_CONFLICT = 85
_DAY = 86_400
PENDING = "pending_changes"

# It holds only documents with pending changes, so it is tiny and unchanged pages never touch it.
_PENDING = IndexModel(
    [("_id", 1), ("version", 1)],
    name=PENDING,
    partialFilterExpression={"pending_changes": {"$exists": True}},
)


async def ensure_items(collection: AsyncCollection[dict[str, Any]]) -> None:
    """For latest states: pending changes, what changed since a time, and where the `_id` is not the page's address, its
    items."""
    by_page = [IndexModel([("url", 1)], name="url")] if collection.name == UNTYPED else []
    changed = IndexModel([("last_changed_at", 1)], name="last_changed_at")
    await collection.create_indexes([_PENDING, changed, *by_page])


async def ensure_history(collection: AsyncCollection[dict[str, Any]]) -> None:
    """For the changes of one item in order, and of all items by time."""
    by_item = IndexModel([("item", 1), ("version", 1)], name="item_version")
    await collection.create_indexes([by_item, IndexModel([("at", 1)], name="at")])


async def ensure_expiry(database: Database, collection: str, days: int) -> None:
    """Documents of *collection* expire *days* after their time `at`; a new value replaces the old one."""
    seconds = days * _DAY
    try:
        await database[collection].create_index("at", name="at", expireAfterSeconds=seconds)
    except OperationFailure as error:
        if error.code != _OPTIONS_CONFLICT:
            raise
        index = {"keyPattern": {"at": 1}, "expireAfterSeconds": seconds}  # somebody may have named it otherwise
        await database.command("collMod", collection, index=index)
