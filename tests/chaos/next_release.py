"""The spider of the chaos run as its next release has it: half of the links go to a callback that the old one lacks."""

from __future__ import annotations

from collections.abc import Iterator
from zlib import crc32

from scrapy import Request
from scrapy.http import Response

from crawler.items import ProductItem
from tests.chaos import spider


class NextChaosSpider(spider.ChaosSpider):
    """Stores and follows what the old one does."""

    def parse(self, response: Response, **kwargs: object) -> Iterator[ProductItem | Request]:
        for output in super().parse(response, **kwargs):
            if isinstance(output, Request) and crc32(output.url.encode()) % 2:
                output = output.replace(callback=self.parse_next)  # noqa: PLW2901
            yield output

    def parse_next(self, response: Response) -> Iterator[ProductItem | Request]:
        """The new callback."""
        return self.parse(response)
