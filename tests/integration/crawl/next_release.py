"""The spider `walk` as its next release has it: with a callback that tests/integration/crawl/spiders.py lacks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from scrapy.http import Response, TextResponse

from tests.integration.crawl import spiders


class NextWalkSpider(spiders.WalkSpider):
    """Its links go to a new callback."""

    def parse_next(self, response: Response) -> Iterator[Any]:
        assert isinstance(response, TextResponse)
        return self.parse(response)
