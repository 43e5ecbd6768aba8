"""Downloader middleware for requests of sitemaps: gives every spider the callback, and keeps packed ones packed."""

from __future__ import annotations

import logging
from typing import Any, Final, Self

from scrapy import Request, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.http import Response

from crawler import stats as names
from crawler.errors import MessageError
from crawler.meta import SITEMAP
from crawler.producers.lastmods import Lastmods
from crawler.producers.sitemap_reader import SitemapReader
from crawler.routing.sitemap_requests import SitemapTerms
from crawler.worker.lookup import worker_of
from crawler.worker.scheduler import in_use

CODINGS: Final = (b"gzip", b"x-gzip")

logger = logging.getLogger(__name__)


class SitemapsMiddleware:
    """The body goes to the callback as it came, and is unpacked there in pieces: 50 MB are never in memory at once."""

    def __init__(self, crawler: Crawler, lastmods: Lastmods | None = None) -> None:
        self._crawler = crawler
        self._lastmods = lastmods

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Off where the spider does not use the shared frontier."""
        if not in_use(crawler.settings) or crawler.spider is None:
            raise NotConfigured
        lastmods = Lastmods.from_settings(crawler.settings, crawler.spider.name)
        made = cls(crawler, lastmods)
        vars(crawler.spider)["shoal_sitemap"] = made.shoal_sitemap
        if lastmods is not None:
            crawler.signals.connect(lastmods.close, signals.spider_closed)
        return made

    def process_response(self, request: Request, response: Response) -> Response:
        """*response*; of a sitemap as bytes that nobody takes for a page."""
        if SITEMAP not in request.meta or response.status != 200:
            return response
        headers = response.headers.copy()
        codings = [coding.strip().lower() for coding in headers.getlist("Content-Encoding")]
        if any(coding not in CODINGS for coding in codings):
            return response  # Scrapy unpacks it, within the same limit
        headers.pop("Content-Encoding", None)
        return Response(response.url, 200, headers, response.body, response.flags, request, protocol=response.protocol)

    async def shoal_sitemap(self, response: Response, **_: Any) -> None:
        """The callback; raises SitemapError, with which its request becomes a dead letter."""
        worker = worker_of(self._crawler)
        held = worker.book.behind(response)
        request = response.request
        if held is None or request is None:
            raise MessageError(f"{response} is a sitemap without a lease: nobody would know when it is read")
        terms = SitemapTerms.of(request.meta[SITEMAP])
        encoder, outage = worker.queue.encoder, worker.outage
        reader = SitemapReader(worker.frontier, encoder, worker.cuts.count, outage, self._lastmods)
        counts = await reader.read(response, terms, held.lease.generation, request.priority)
        told = ", ".join(f"{count:,} {name.replace('_', ' ')}" for name, count in sorted(counts.items()) if count)
        logger.info("Sitemap %s is read: %s", response.url, told or "nothing in it")
        for name, count in counts.items():
            self._crawler.stats.inc_value(names.SITEMAP_NAMED.format(name), count)
        self._crawler.stats.inc_value(names.SITEMAPS_READ)
