"""Downloader middleware that knows challenge and denial pages, whatever status they are served with."""

from __future__ import annotations

import logging
from collections import OrderedDict
from typing import Self

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.http import Response

from crawler import stats as names
from crawler.frontier.member import worker_of
from crawler.frontier.scheduler import in_use
from crawler.frontier.settling import BLOCK
from crawler.policy.blocks import detect
from crawler.urls import group

MOST_LOGGED = 10_000  # hosts and vendors that are remembered as told

logger = logging.getLogger(__name__)


class BlocksMiddleware:
    """Marks the request of a block page with `meta["block"]`, the vendor, and lets the response pass.

    It comes after the decompression, so that it reads what a visitor would. The middlewares after it decide what
    becomes of the request: another tier, or a retry. The host is backed off here, for the whole fleet.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._logged: OrderedDict[tuple[str, str], None] = OrderedDict()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Off where the spider does not use the shared frontier."""
        if not in_use(crawler.settings):
            raise NotConfigured
        return cls(crawler)

    async def process_response(self, request: Request, response: Response) -> Response:
        """*response*, its request marked where it is a block page."""
        block = detect(response.status, response.headers, response.body, response.url)
        if block is None:
            return response
        request.meta[BLOCK] = block.vendor
        self._crawler.stats.inc_value(names.BLOCKED.format(block.vendor))
        self._log_once(group(response.url), block.vendor, f"{block.kind}, status {response.status}, {request}")
        await worker_of(self._crawler).pacer.back_off(request)
        return response

    def _log_once(self, host: str, vendor: str, words: str) -> None:
        if (host, vendor) in self._logged:
            return
        self._logged[host, vendor] = None
        if len(self._logged) > MOST_LOGGED:
            self._logged.popitem(last=False)
        logger.warning("%s blocks us by %s (%s); said once for each host and vendor", host, vendor, words)
