"""The spider of test_canary.py: what it raises and logs quotes what it was given."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

from scrapy.http import TextResponse

from crawler.items import PageItem
from crawler.spiders.base import FrontierSpider

logger = logging.getLogger("canary")


class CanarySpider(FrontierSpider):
    """Stores each page; /raises raises."""

    name = "canary"

    def parse(self, response: TextResponse) -> Iterator[Any]:
        assert response.request is not None
        logger.debug("asked with %s", response.request.headers)
        if response.url.endswith("/raises"):
            raise ValueError(f"not as expected, asked with {response.request.headers}")
        yield PageItem(url=response.url, title=response.css("title::text").get())
