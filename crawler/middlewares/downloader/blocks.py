"""Downloader middleware that knows what is no page: challenges and denials, whatever status they are served with, and
empty app shells."""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Awaitable
from typing import Self

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.http import Response, TextResponse

from crawler import caches
from crawler import stats as names
from crawler.meta import ALLOW_BLOCKED, BLOCK
from crawler.policy.blocks import Block, detect
from crawler.policy.shells import is_shell
from crawler.policy.tiers import TIERS
from crawler.urls import group
from crawler.worker.access import worker_of
from crawler.worker.scheduler import in_use

SHELL = "javascript"  # what `meta["block"]` says of an empty app shell
MOST_LOGGED = 10_000  # hosts and vendors that are remembered as told

logger = logging.getLogger(__name__)


class BlocksMiddleware:
    """Marks the request of a block page with `meta["block"]`, the vendor, of an empty shell with "javascript", and lets
    the response pass. `meta["allow_blocked"]` keeps a request from being marked.

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

    def process_response(self, request: Request, response: Response) -> Response | Awaitable[Response]:
        """*response*, its request marked where it is a block page; at once for a page."""
        meta = request.meta
        meta.pop(BLOCK, None)  # of the page before a redirect, or copied along with the rest of another's meta
        block = detect(response.status, response.headers, response.body, response.url)
        why = block.vendor if block is not None else SHELL * is_empty(response, meta.get("tier", TIERS[0]))
        if why and not meta.get(ALLOW_BLOCKED):
            meta[BLOCK] = why
        return response if block is None else self._blocked(request, response, block)

    async def _blocked(self, request: Request, response: Response, block: Block) -> Response:
        self._crawler.stats.inc_value(names.BLOCKED.format(block.vendor))
        self._log_once(group(response.url), block.vendor, f"{block.kind}, status {response.status}, {request}")
        await worker_of(self._crawler).pacer.back_off(request)
        return response

    def _log_once(self, host: str, vendor: str, words: str) -> None:
        told = caches.key(host), vendor
        if told in self._logged:
            return
        self._logged[told] = None
        if len(self._logged) > MOST_LOGGED:
            self._logged.popitem(last=False)
        logger.warning("%s blocks us with %s (%s); logged once per host and vendor", host, vendor, words)


def is_empty(response: Response, tier: str, *, any_status: bool = False) -> bool:
    """Whether a good answer, or one of *any_status*, is an empty shell; the scripts have run unless *tier* is http."""
    if not isinstance(response, TextResponse) or not (any_status or 200 <= response.status < 300):
        return False
    return is_shell(response.body, rendered=TIERS[0] not in tier.split(","))
