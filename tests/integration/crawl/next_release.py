"""The spider `walk` as its next release has it: with a callback that tests/integration/crawl/spiders.py lacks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from zlib import crc32

from scrapy import Request
from scrapy.http import Response, TextResponse

from tests.integration.crawl import spiders


class NextWalkSpider(spiders.WalkSpider):
    """Half of its links go to a new callback."""

    def parse(self, response: TextResponse) -> Iterator[Any]:
        for output in super().parse(response):
            is_new = isinstance(output, Request) and crc32(output.url.encode()) % 2
            yield output.replace(callback=self.parse_next) if is_new else output

    def parse_next(self, response: Response) -> Iterator[Any]:
        assert isinstance(response, TextResponse)
        return self.parse(response)
