"""Observations of one product, a stats collector that remembers, and waiting for what it says."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from crawler.items import ProductItem
from crawler.storage.config import StorageConfig
from crawler.storage.connection import Database
from crawler.storage.items.repository import Repository
from crawler.storage.outage import MongoOutage
from crawler.storage.writer import Writer

URL = "http://shop.example/p/1"
START = datetime(2026, 3, 1, tzinfo=UTC)
KEPT: dict[str, Any] = {"rejected_days": 3650}  # MongoDB would delete what is of the tests' calendar within a second


class RecordedStats:
    """The part of Scrapy's stats collector that the writer uses."""

    def __init__(self) -> None:
        self.values: Counter[str] = Counter()

    def inc_value(self, key: str, count: int = 1) -> None:
        self.values[key] += count

    def set_value(self, key: str, value: float) -> None:
        self.values[key] = int(value)


def a_writer(database: Database, stats: RecordedStats, *, retry_max_seconds: float = 1.0, **settings: Any) -> Writer:
    """Without a spool; it still has to be opened."""
    config = StorageConfig(**KEPT | settings)
    return Writer(Repository(database, config, stats), config, MongoOutage(stats, "here", retry_max_seconds))


def at(seconds: float) -> datetime:
    """A time of the tests' calendar."""
    return START + timedelta(seconds=seconds)


def seen(seconds: float, price: str | None = "10.00", url: str = URL, **fields: Any) -> ProductItem:
    """The product as it was at that second."""
    values: dict[str, Any] = {"title": "Knife", "currency": "EUR", "price": price and Decimal(price)}
    return ProductItem(url=url, fetched_at=at(seconds), **(values | fields))


async def until(condition: Callable[[], object]) -> None:
    """Raises TimeoutError after a minute."""
    async with asyncio.timeout(60):
        while not condition():  # noqa: ASYNC110 - it is what a file system or a log says
            await asyncio.sleep(0.02)
