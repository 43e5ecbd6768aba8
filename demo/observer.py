"""What the demo sees from outside the workers: the frontier's counters, and MongoDB's content."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Any

from scrapy.settings import BaseSettings

from crawler.frontier.command_session import session
from crawler.frontier.inspection.inspection import Inspection
from crawler.storage import connection
from crawler.storage.reading import reader
from demo.progress import Counts

SPIDER = "products"
COLLECTION = "products"


class Observer:
    """Read-only."""

    def __init__(self, inspection: Inspection, database: connection.Database) -> None:
        self._inspection = inspection
        self._database = database
        self._done_before = 0

    async def begin(self) -> None:
        """Count `done` from now on: the frontier remembers earlier runs."""
        self._done_before = (await self._inspection.stats(SPIDER)).total.done

    async def counts(self) -> Counts:
        """The current state."""
        total = (await self._inspection.stats(SPIDER)).total
        return Counts(
            queued=total.queued,
            leased=total.leased,
            delayed=total.delayed,
            done=total.done - self._done_before,
            stored=await reader.count(self._database, COLLECTION, {}),
        )

    async def empty(self) -> bool:
        """Whether nothing is queued, leased, delayed, or still in a worker's outbox."""
        return await self._inspection.empty(SPIDER)

    async def documents(self) -> list[dict[str, Any]]:
        """Every stored product."""
        return [document async for document in reader.documents(self._database, COLLECTION)]

    async def price_changes(self, since: datetime) -> list[dict[str, Any]]:
        """Price changes after *since*, ordered by URL."""
        query = {"at": {"$gte": since}, "changes.price": {"$exists": True}}
        return [record async for record in reader.documents(self._database, "product_changes", query)]

    async def rejections(self) -> dict[str, list[str]]:
        """URL -> why its item was rejected."""
        found = reader.documents(self._database, "rejected_items")
        return {record["url"]: record["reasons"] async for record in found}


@asynccontextmanager
async def observing(settings: BaseSettings) -> AsyncIterator[Observer]:
    """An Observer on the servers in *settings*."""
    client = connection.connect(settings)
    try:
        async with session(settings) as frontier:
            yield Observer(frontier.inspection, connection.database(client, settings))
    finally:
        await client.close()
