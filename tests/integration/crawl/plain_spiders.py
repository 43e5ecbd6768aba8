"""Spiders that know nothing of the fleet."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterator
from typing import Any

from scrapy import Request, Spider
from scrapy.http import Response

SITE = os.environ["TEST_SITE"]


class PlainSpider(Spider):
    """start_urls, and a link followed."""

    name = "plain"
    start_urls = [SITE]
    label = "none"  # given with -a

    def parse(self, response: Response) -> Iterator[Any]:
        yield {"url": response.url, "label": self.label, "agent": self.settings["USER_AGENT"]}
        if response.url == SITE:
            yield response.follow("/child")
            yield response.follow("/child")


class StartSpider(Spider):
    """`async def start()`, and contracts for `scrapy check`."""

    name = "starting"

    async def start(self) -> AsyncIterator[Any]:
        yield {"url": "an item without a page"}
        yield Request(SITE)

    def parse(self, response: Response) -> Iterator[Any]:
        yield {"url": response.url}

    parse.__doc__ = f"""One page.

        @url {SITE}
        @returns items 1 1
        @scrapes url
        """
