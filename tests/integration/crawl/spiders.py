"""Spiders for the tests of whole workers."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime
from typing import Any, ClassVar

from scrapy import Request, Spider
from scrapy.http import Response, TextResponse

from crawler.extraction import Document
from crawler.items import PageItem
from crawler.spiders.base import FrontierSpider
from crawler.spiders.pages import PagesSpider
from crawler.spiders.reading import Reading
from crawler.worker.scheduler import Scheduler


class WalkSpider(FrontierSpider):
    """Stores each page and follows its links; a page called /kill ends the process as a crash would."""

    name = "walk"

    def parse(self, response: TextResponse) -> Iterator[Any]:
        if response.url.endswith("/kill"):
            os._exit(1)
        yield PageItem(url=response.url, title=response.css("title::text").get())
        yield from response.follow_all(css="a")
        yield from response.follow_all(xpath="//*[local-name()='loc']/text()")  # of a sitemap


class ApartSpider(WalkSpider):
    """Its requests are in a frontier of its own."""

    name = "apart"
    custom_settings: ClassVar[dict[str, Any]] = {"FRONTIER_KEY": os.environ.get("TEST_APART", "apart")}


class StockSpider(Spider):
    """As many projects have them: nothing of ours, and a table of middlewares of its own."""

    name = "stock"
    custom_settings: ClassVar[dict[str, Any]] = {"SPIDER_MIDDLEWARES": {}}  # type: ignore[misc]

    def parse(self, response: Response, **kwargs: Any) -> Iterator[Any]:
        yield {"url": response.url}


class StartingSpider(WalkSpider):
    """Begins with the URLs of its argument."""

    name = "starting"
    urls = ""

    async def start(self) -> AsyncIterator[Any]:
        for url in self.urls.split():
            yield Request(url)


class SitedSpider(WalkSpider):
    """Stays where it begins, as Scrapy's documentation shows it."""

    name = "sited"
    allowed_domains: ClassVar[list[str]] = ["127.0.0.1"]


class ShopSpider(FrontierSpider):
    """Stores pages that have a title; follows the links of all."""

    name = "shop"

    def parse(self, response: TextResponse) -> Iterator[Any]:
        if title := response.css("title::text").get():
            yield PageItem(url=response.url, title=title)
        yield from response.follow_all(css="a")


class DatedSpider(ShopSpider):
    """Says itself when its pages were fetched: when it reads them."""

    name = "dated"

    def parse(self, response: TextResponse) -> Iterator[Any]:
        yield PageItem(url=response.url, title=response.css("title::text").get(), fetched_at=datetime.now(UTC))


class FailingSpider(FrontierSpider):
    """A parse that fails at once, after its first item, or with an item that is refused."""

    name = "failing"

    def parse(self, response: Response) -> Any:
        if response.url.endswith("/at-once"):
            raise ValueError("no price")
        return self._items(response)

    def _items(self, response: Response) -> Iterator[Any]:
        if response.url.endswith("/refused"):
            yield {"number": 2**64}
        yield PageItem(url=response.url, title="a page")
        if response.url.endswith("/midway"):
            raise ValueError("no price")


class EchoSpider(FrontierSpider):
    """Yields the meta that came with each page."""

    name = "echo"

    def parse(self, response: Response) -> Iterator[Any]:
        yield {"url": response.url, "meta": dict(response.meta)}

    def make_request_from_data(self, data: bytes) -> Any:
        if data == b"trap":
            raise KeyError("a mistake of the spider's author")
        if data.startswith(b"twice "):
            return [Request(data.removeprefix(b"twice ").decode(), dont_filter=True) for _ in range(2)]
        return super().make_request_from_data(data)


class BesideSpider(FrontierSpider):
    """At its front page asks another host for files and pages beside the queue; `there` is that host."""

    name = "beside"
    there = ""  # given with -a

    async def parse(self, response: Response) -> AsyncIterator[Any]:
        if response.url.endswith("/front"):
            assert self.crawler.engine is not None
            asked = [Request(f"{self.there}/asked{number}", meta={"dont_retry": True}) for number in range(3)]
            answers = asyncio.gather(*map(self.crawler.engine.download_async, asked))
            yield {"file_urls": [f"{self.there}/file{number}" for number in range(3)]}
            yield {"statuses": [answer.status for answer in await answers]}


class LingeringSpider(FrontierSpider):
    """Ends its front page, whose link it has yielded, only when /end of the same site has answered."""

    name = "lingering"

    async def parse(self, response: Response) -> AsyncIterator[Any]:
        if response.url.endswith("/"):
            assert self.crawler.engine is not None
            yield response.follow("/found")
            await self.crawler.engine.download_async(response.follow("/end"))
        yield {"url": response.url}


class SlowlyClosedSpider(WalkSpider):
    """Takes a while to close."""

    name = "slowly_closed"

    async def closed(self, reason: str) -> None:
        await asyncio.sleep(2)


class PausingSpider(FrontierSpider):
    """Pauses the engine at its first page as soon as others wait, notes what it still holds once it had time to give
    that back, and goes on."""

    name = "pausing"
    paused = False

    async def parse(self, response: Response) -> AsyncIterator[Any]:
        if not self.paused:
            self.paused = True
            engine = self.crawler.engine
            assert engine is not None
            assert isinstance(engine.scheduler, Scheduler)
            worker = engine.scheduler.worker
            while not len(worker.queue):  # noqa: ASYNC110
                await asyncio.sleep(0.02)
            engine.pause()
            for _ in range(100):
                await asyncio.sleep(0.1)
                counters = (await worker.frontier.inspection.stats(self.name)).total
                self.crawler.stats.set_value("test/buffered_in_the_pause", counters.leased - len(worker.book))
                if counters.leased == len(worker.book):
                    break
            engine.unpause()
        yield {"url": response.url}


class StandingSpider(FrontierSpider):
    """Holds up its event loop for `seconds` at its page /stand."""

    name = "standing"
    seconds = 3.0

    def parse(self, response: Response) -> Iterator[Any]:
        if response.url.endswith("/stand"):
            time.sleep(self.seconds)
        yield {"url": response.url}


def hungry(document: Document) -> None:
    """A reading that takes more memory than any page may."""
    bytes(1 << 30)


class HungrySpider(PagesSpider):
    """`pages`, for which one page is more than a parser can stand."""

    name = "hungry"

    def reading(self, response: TextResponse) -> Reading:
        if response.url.endswith("/huge"):
            return Reading(hungry, Document(response.text, response.url), ())
        return super().reading(response)
