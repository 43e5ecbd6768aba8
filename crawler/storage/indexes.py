"""The indexes of the collections, created by the first worker."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pymongo import IndexModel
from pymongo.asynchronous.collection import AsyncCollection
from pymongo.errors import OperationFailure

from crawler.storage.collection_names import UNTYPED
from crawler.storage.connection import Database, first_clause

_OPTIONS_CONFLICT = 85
_IN_THE_WAY = (_OPTIONS_CONFLICT, 86)  # an index of its keys, or of its name
_DAY = 86_400
PENDING: Final = [("_id", 1), ("version", 1)]

# It holds only documents with pending changes, so it is tiny and unchanged pages never touch it.
_PENDING = IndexModel(
    PENDING,
    name="pending_changes",
    partialFilterExpression={"pending_changes": {"$exists": True}},
)


async def create(collection: AsyncCollection[dict[str, Any]], *models: IndexModel) -> None:
    """Create them, but for those that somebody has made under another name. Raises OperationFailure, which names the
    collection where one of another kind is in the way."""
    try:
        await collection.create_indexes([*models])
    except OperationFailure as error:
        if error.code not in _IN_THE_WAY:
            raise
        there = [_terms(index) async for index in await collection.list_indexes()]
        missing = [model for model in models if _terms(model.document) not in there]
        if len(missing) == len(models):
            text = f"collection {collection.name}: {first_clause(error)}"
            raise OperationFailure(text, error.code, error.details) from error
        if missing:
            await create(collection, *missing)


def _terms(index: Mapping[str, Any]) -> tuple[Any, ...]:
    """What makes it the same as another one: its keys in order, and its options."""
    return [*index["key"].items()], {name: index[name] for name in index if name not in {"v", "key", "name"}}


async def ensure_items(collection: AsyncCollection[dict[str, Any]]) -> None:
    """For latest states: pending changes, what changed since a time, and where the `_id` is not the page's address, its
    items."""
    by_page = [IndexModel([("url", 1)], name="url")] if collection.name == UNTYPED else []
    changed = IndexModel([("last_changed_at", 1)], name="last_changed_at")
    await create(collection, _PENDING, changed, *by_page)


async def ensure_history(collection: AsyncCollection[dict[str, Any]]) -> None:
    """For the changes of one item in order, and of all items by time."""
    by_item = IndexModel([("item", 1), ("version", 1)], name="item_version")
    await create(collection, by_item, IndexModel([("at", 1)], name="at"))


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
