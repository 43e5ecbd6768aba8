"""The MongoDB pipeline of Scrapy's documentation."""

from __future__ import annotations

from typing import Any, Self

import pymongo
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
