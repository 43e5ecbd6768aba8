"""`pages`: the main text and metadata of any page that is pushed to it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from scrapy.http import Response, TextResponse

from crawler.extraction import Document, extract_page
from crawler.items import PageItem
from crawler.spiders.base import FrontierSpider
from crawler.spiders.reading import Reading


class PagesSpider(FrontierSpider):
    """Extracts each pushed page and follows nothing."""

    name = "pages"

    def parse(self, response: Response, **kwargs: Any) -> Iterator[PageItem]:
        """One page."""
        if isinstance(response, TextResponse):
            yield self.read(response)
        else:
            self.logger.info("Not a text page, nothing to extract: %s", response)

    def reading(self, response: TextResponse) -> Reading:
        """A page."""
        return Reading(extract_page, Document(response.text, response.url), (response.url,))
