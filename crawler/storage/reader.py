"""Reads back what is stored: for the export, the demo's table, and the price history."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import datetime
from typing import Any

from crawler.storage.connection import Database
from crawler.storage.documents import CODEC

_BATCH = 500


async def count(database: Database, collection: str, *, since: datetime | None = None) -> int:
    """How many documents `documents` would yield now."""
    return await database[collection].count_documents(_changed(since))


async def documents(
    database: Database, collection: str, *, since: datetime | None = None
) -> AsyncIterator[dict[str, Any]]:
    """The latest states in order of their `_id`, those changed at or after *since* when it is given.

    Decimals come as Decimal, times as aware UTC. `pending_changes` is the writer's own and left out.
    """
    found = database[collection].with_options(CODEC).find(_changed(since), {"pending_changes": 0})
    async for document in found.sort("_id", 1).batch_size(_BATCH):
        yield document


async def changes(database: Database, records: str, item: str) -> AsyncIterator[dict[str, Any]]:
    """The change records of one document, oldest first."""
    async for record in database[records].with_options(CODEC).find({"item": item}).sort("version", 1):
        yield record


async def collections(database: Database) -> list[str]:
    """Names of the collections there are."""
    return sorted(await database.list_collection_names())


def _changed(since: datetime | None) -> dict[str, Any]:
    return {"last_changed_at": {"$gte": since}} if since else {}
