"""Spider middleware that ends a sitemap which cannot be read as a dead letter, and with the one log line of that."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from scrapy.http import Response

from crawler.middlewares.fleet import FleetMiddleware
from crawler.producers.sitemap_reader import SitemapError


class SitemapErrorsMiddleware(FleetMiddleware):
    """Raised on, its SitemapError would be a traceback of Scrapy's, too, of our own code: whoever wrote the sitemap, or
    pushed it, learns nothing from that. Runs once the archive has kept the page."""

    def process_spider_exception(self, response: Response, exception: Exception) -> Iterable[Any] | None:
        """Nothing in place of a SitemapError."""
        held = self._worker.book.behind(response)
        if not isinstance(exception, SitemapError) or held is None:
            return None
        held.evidence.spider_error = f"{type(exception).__name__}: {exception}"
        return ()
