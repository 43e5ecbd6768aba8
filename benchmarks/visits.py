"""A spider that only visits and follows: what is left is the way of a request through the worker."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from scrapy import Request
from scrapy.http import HtmlResponse

from crawler.spiders.base import FrontierSpider


class VisitsSpider(FrontierSpider):
    """Its pages have a link at most."""

    name = "visits"

    def parse(self, response: HtmlResponse, **kwargs: Any) -> Iterator[Request]:
        """Follow it."""
        yield from response.follow_all(css="a")
