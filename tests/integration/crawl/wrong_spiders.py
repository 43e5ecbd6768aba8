"""Spiders with mistakes that end their crawl."""

from __future__ import annotations

import asyncio
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


class CutOffSpider(Spider):
    """Ends the event loop, or all that runs in it, under its own crawl."""

    name = "cut_off"
    how = "stop"

    async def start(self) -> AsyncIterator[Any]:
        yield Request("http://127.0.0.1:9/")
        if self.how == "stop":
            asyncio.get_running_loop().stop()
        for task in asyncio.all_tasks() if self.how == "cancel" else ():
            task.cancel()


class ClosedPipeline:
    """A pipeline that cannot be opened."""

    def open_spider(self) -> None:
        raise ShoalError("the files of ClosedPipeline are in use: end the other crawl")

    def process_item(self, item: Any) -> Any:
        return item
