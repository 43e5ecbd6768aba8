"""Spiders for the tests of whole workers."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Iterator
from typing import Any

from scrapy.http import Response, TextResponse

from crawler.frontier.scheduler import Scheduler
from crawler.items import PageItem
from crawler.spiders.base import FrontierSpider


class WalkSpider(FrontierSpider):
    """Stores each page and follows its links; a page called /kill ends the process as a crash would."""

    name = "walk"

    def parse(self, response: TextResponse) -> Iterator[Any]:
        if response.url.endswith("/kill"):
            os._exit(1)
        yield PageItem(url=response.url, title=response.css("title::text").get())
        yield from response.follow_all(css="a")


class EchoSpider(FrontierSpider):
    """Logs what it was asked with."""

    name = "echo"

    def parse(self, response: Response) -> None:
        assert response.request is not None
        self.logger.info(
            "asked %s %s with %r and %s",
            response.request.method,
            response.url,
            response.request.body.decode(),
            {key: value for key, value in response.meta.items() if key.startswith(("cat", "proxy", "retry"))},
        )


class PausingSpider(FrontierSpider):
    """Pauses the engine at its first page, notes what it holds a moment later, and goes on."""

    name = "pausing"
    paused = False

    async def parse(self, response: Response) -> AsyncIterator[Any]:
        if not self.paused:
            self.paused = True
            engine = self.crawler.engine
            assert engine is not None
            assert isinstance(engine.scheduler, Scheduler)
            engine.pause()
            await asyncio.sleep(0.5)
            counters = (await engine.scheduler.worker.frontier.census.stats(self.name)).total
            self.crawler.stats.set_value("test/leased_in_the_pause", counters.leased)
            engine.unpause()
        yield {"url": response.url}
