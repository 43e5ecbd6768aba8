"""`pages`: the main text and metadata of any page that is pushed to it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from scrapy.http import Response, TextResponse

from crawler.extraction import Document, extract_page
from crawler.items import PageItem
from crawler.spiders.base import FrontierSpider


class PagesSpider(FrontierSpider):
    """Extracts each pushed page and follows nothing."""

    name = "pages"

    async def parse(self, response: Response, **kwargs: Any) -> AsyncIterator[PageItem]:
        """One page; raises TooCostlyError."""
        if isinstance(response, TextResponse):
            yield await self.apart.read(extract_page, Document(response.text, response.url), response.url)
        else:
            self.logger.info("Not a text page, nothing to extract: %s", response)
