"""Spiders with mistakes that end their crawl."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from scrapy import Request, Spider

from crawler.errors import ShoalError


class PartingSpider(Spider):
    """Its name cannot be that of a queue."""

    name = "a:b"


class RaisingSpider(Spider):
    """Its start requests end with an error."""

    name = "raising"

    async def start(self) -> AsyncIterator[Any]:
        shops: list[str] = []
        yield Request(shops[0])


class ClosedPipeline:
    """A pipeline that cannot be opened."""

    def open_spider(self) -> None:
        raise ShoalError("the files of ClosedPipeline are in use: end the other crawl")

    def process_item(self, item: Any) -> Any:
        return item
