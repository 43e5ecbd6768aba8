"""The MongoDB pipeline of Scrapy's documentation."""

from __future__ import annotations

from typing import Any, Self

import pymongo
import redis
from itemadapter import ItemAdapter
from scrapy.crawler import Crawler


class MongoPipeline:
    """One `insert_one` for each item, while everything else waits."""

    def __init__(self, uri: str, database: str) -> None:
        self._client: pymongo.MongoClient[dict[str, Any]] = pymongo.MongoClient(uri)
        self._items = self._client[database]["products"]

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """As the documentation has it."""
        return cls(crawler.settings["MONGODB_URI"], crawler.settings["MONGODB_DATABASE"])

    def process_item(self, item: Any) -> Any:
        """Store it."""
        self._items.insert_one(ItemAdapter(item).asdict())
        return item

    def close_spider(self) -> None:
        """Close the connection."""
        self._client.close()


class CountPipeline:
    """Stores nothing: a number in Redis says how many items there were."""

    def __init__(self, url: str) -> None:
        self._client = redis.Redis.from_url(url)
        self._count = 0

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """As the documentation has it."""
        return cls(crawler.settings["REDIS_URL"])

    def open_spider(self) -> None:
        """Begin to count."""
        self._client.delete("stock:items")

    def process_item(self, item: Any) -> Any:
        """Count it."""
        self._count += 1
        self._client.set("stock:items", self._count)
        return item
