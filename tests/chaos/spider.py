"""The spider of the chaos run: stores every page, follows every link."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from decimal import Decimal

from scrapy import Request
from scrapy.http import HtmlResponse, Response
from selectolax.lexbor import LexborHTMLParser

from crawler.items import ProductItem
from crawler.spiders.base import FrontierSpider


class ChaosSpider(FrontierSpider):
    """Its items pass through the real pipelines into MongoDB."""

    name = "chaos"

    def parse(self, response: Response, **kwargs: object) -> Iterator[ProductItem | Request]:
        """A page whose path is /poison fails in the middle, as a broken callback does."""
        assert isinstance(response, HtmlResponse)
        tree = LexborHTMLParser(response.text)
        title = tree.css("title")[0].text()
        if title == "/fatal":
            os.kill(os.getpid(), signal.SIGKILL)  # as a page does that takes more memory than there is
        if title == "/poison":
            raise ValueError("poison")
        yield ProductItem(url=response.url, title=title, price=Decimal("9.99"), currency="EUR")
        for link in tree.css("a"):
            yield response.follow(link.attributes["href"] or "")
