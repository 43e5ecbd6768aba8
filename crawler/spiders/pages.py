"""`pages`: the main text and metadata of any page that is pushed to it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from scrapy.http import Response, TextResponse

from crawler.extraction import extract_page
from crawler.items import PageItem
from crawler.spiders.base import FrontierSpider


class PagesSpider(FrontierSpider):
    """Extracts each pushed page and follows nothing."""

    name = "pages"

    def parse(self, response: Response, **kwargs: Any) -> Iterator[PageItem]:
        """One page."""
        if isinstance(response, TextResponse):
            yield extract_page(response.text, response.url)
        else:
            self.logger.info("Not a text page, nothing to extract: %s", response)
