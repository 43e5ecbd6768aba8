"""Spider middleware that ties a page's output to its lease: children to their parent, and the end of the callback.

Nearest to the engine: it sees what all other spider middlewares let through.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from scrapy.http import Response

from crawler.middlewares.spider.fleet import FleetMiddleware


class LineageMiddleware(FleetMiddleware):
    """Children inherit their parent's crawl generation; a page is done only if its callback ran to the end."""

    async def process_spider_output(self, response: Response, result: AsyncIterator[Any]) -> AsyncIterator[Any]:
        """Pass everything on."""
        book = self._worker.book
        held = book.behind(response)
        async for output in result if held is None else book.track_output(result, held):
            yield output
