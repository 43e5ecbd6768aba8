"""Plain Scrapy spiders for the tests of the extensions."""

from __future__ import annotations

import asyncio
import logging
import urllib.request
from collections.abc import AsyncIterator, Iterator
from typing import Any

from scrapy import Request, Spider
from scrapy.http import Response
from twisted.python.failure import Failure

from crawler.spiders.base import FrontierSpider

logger = logging.getLogger("callback")


class VisitSpider(Spider):
    """Visits `urls` (separated by blanks), yields an item for each page, follows nothing."""

    name = "visit"
    handle_httpstatus_list = (404,)
    urls = ""  # given with -a

    async def start(self) -> AsyncIterator[Any]:
        logger.info("starting with %s", self.settings["REDIS_URL"])
        for url in self.urls.split():
            yield Request(url, errback=self.failed)

    def parse(self, response: Response) -> Iterator[Any]:
        logger.info("parsing a page")
        if "stick" in response.url:
            urllib.request.urlopen(response.urljoin("/release")).close()  # what a callback must never do
        if "break" in response.url:
            raise ValueError("the page is not as expected")
        if "drop" in response.url:
            asyncio.get_running_loop().call_later(0.3, logger.info, "long after the page")
        yield {"url": response.url}

    def failed(self, failure: Failure) -> None:
        logger.warning("failed: %s", failure.request)  # type: ignore[attr-defined]


class FleetSpider(FrontierSpider):
    """Queues `urls` (separated by blanks) in the shared frontier, and yields an item for each page."""

    name = "fleet"
    urls = ""

    async def start(self) -> AsyncIterator[Any]:
        for url in self.urls.split():
            yield Request(url)

    def parse(self, response: Response) -> Iterator[Any]:
        logger.info("parsing a page")
        yield {"url": response.url}


class FamilySpider(FrontierSpider):
    """Each page names its children, one of which is not there; whatever is called says so, without naming a request."""

    name = "family"
    urls = ""

    async def start(self) -> AsyncIterator[Any]:
        for url in self.urls.split():
            yield Request(url)

    async def parse(self, response: Response) -> AsyncIterator[Any]:
        logger.info("parsing a page")
        yield {"url": response.url}
        for link in response.css("a::attr(href)").getall():
            yield response.follow(link, errback=self.failed)
        await asyncio.sleep(0)
        logger.info("parsed a page")

    def failed(self, failure: Failure) -> Iterator[Any]:
        logger.info("failing a page")
        yield {"failed": True}


class LogMiddleware:
    """Writes a line on each method's call."""

    def process_request(self, request: Request) -> None:
        logging.getLogger("middleware").info("sending")

    def process_response(self, request: Request, response: Response) -> Response:
        logging.getLogger("middleware").info("received")
        return response

    def process_exception(self, request: Request, exception: Exception) -> None:
        logging.getLogger("middleware").info("not received")


class LogPipeline:
    """Writes a line for each item."""

    async def process_item(self, item: Any) -> Any:
        await asyncio.sleep(0)
        logging.getLogger("pipeline").info("storing an item")
        return item
