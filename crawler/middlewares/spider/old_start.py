"""Spider middleware that calls `start_requests()` where a spider has no `start()`."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from typing import Any, Self

from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured

from crawler.middlewares.fleet import FleetMiddleware
from crawler.routing.old_start import has_old_start, start

logger = logging.getLogger(__name__)


class OldStartMiddleware(FleetMiddleware):
    """Nearest to the spider: other middlewares see its start requests as if `start()` yielded them."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Off for a spider that Scrapy knows how to start."""
        if not has_old_start(crawler.spidercls):
            raise NotConfigured
        logger.info(
            "start_requests() of %s is called in place of start(), as by Scrapy until 2.12", crawler.spidercls.name
        )
        return super().from_crawler(crawler)

    async def process_start(self, start_of_scrapy: AsyncIterator[Any]) -> AsyncIterator[Any]:
        """The spider's own in place of *start_of_scrapy*, which requests its `start_urls`."""
        assert self._crawler.spider is not None
        async for one in start(self._crawler.spider):
            yield one
