"""Downloader middleware that recognises challenges and denials, whatever their status, and empty app shells."""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Awaitable

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import Response, TextResponse

from crawler import stats as names
from crawler.meta import ALLOW_BLOCKED, BLOCK
from crawler.middlewares.fleet import FleetMiddleware
from crawler.policy.blocks import Block, detect
from crawler.policy.blocks.shells import is_shell
from crawler.policy.tiers import TIERS
from crawler.urls import group
from crawler.utils import caches

SHELL = "javascript"  # value of `meta["block"]` for an empty app shell
MOST_LOGGED = 10_000  # pairs of host and vendor remembered as logged

logger = logging.getLogger(__name__)


class BlocksMiddleware(FleetMiddleware):
    """Sets `meta["block"]` to the vendor for a block page, to "javascript" for an empty shell, and lets the response
    pass. Requests with `meta["allow_blocked"]` are never marked.

    Runs after decompression, so it reads what a visitor would. Later middlewares decide between another tier and a
    retry. The fleet's pace at the host is slowed here.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._logged: OrderedDict[tuple[str, str], None] = OrderedDict()

    def process_response(self, request: Request, response: Response) -> Response | Awaitable[Response]:
        """*response*, its request marked if this is a block page."""
        meta = request.meta
        meta.pop(BLOCK, None)  # left by the page before a redirect, or copied with another request's meta
        block = detect(response.status, response.headers, response.body, response.url)
        why = block.vendor if block is not None else SHELL * is_empty(response, meta.get("tier", TIERS[0]))
        if why and not meta.get(ALLOW_BLOCKED):
            meta[BLOCK] = why
        return response if block is None else self._blocked(request, response, block)

    async def _blocked(self, request: Request, response: Response, block: Block) -> Response:
        self._crawler.stats.inc_value(names.BLOCKED.format(block.vendor))
        words = f"{block.kind} ({block.vendor}), status {response.status}, {request}"
        self._log_once(group(response.url), block.vendor, words)
        await self._worker.answers.back_off(request)
        return response

    def _log_once(self, host: str, vendor: str, words: str) -> None:
        told = caches.key(host), vendor
        if told in self._logged:
            return
        self._logged[told] = None
        if len(self._logged) > MOST_LOGGED:
            self._logged.popitem(last=False)
        logger.warning("%s blocks us: %s; said once per host and vendor", host, words)


def is_empty(response: Response, tier: str, *, any_status: bool = False) -> bool:
    """Whether a response with a good status (any, with *any_status*) is an empty shell; unless *tier* is http, scripts
    have run."""
    if not isinstance(response, TextResponse) or not (any_status or 200 <= response.status < 300):
        return False
    return is_shell(response.body, rendered=TIERS[0] not in tier.split(","))
