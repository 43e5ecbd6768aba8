"""Downloader middleware that moves a request to the next tier when its page was blocked or lacks its content."""

from __future__ import annotations

import logging

from scrapy import Request
from scrapy.http import Response, TextResponse

from crawler import stats as names
from crawler.extraction import Document, extract_product
from crawler.extraction.product.rules import missing_required
from crawler.meta import ALLOW_BLOCKED, BLOCK, MIN_TIER, TIER_STAYS
from crawler.middlewares.fleet import FleetMiddleware
from crawler.policy.blocks import DENIERS, told
from crawler.policy.tiers import TIERS, Tier

INCOMPLETE = "incomplete"  # value of `meta["block"]` for a page without what its domain's rules require
NO_WAY = "no visitor gets past it"  # where a court or a hoster took the site down

logger = logging.getLogger(__name__)


class TiersMiddleware(FleetMiddleware):
    """Sits between block detection and retries: a page that may step up is not retried at the tier that failed.

    A page that may not (no worker serves a higher tier, max_tier, a spent budget, a site that was taken down) counts as
    blocked: it is retried as such and finally dead-lettered, with why it stayed. `dont_retry` keeps a request at its
    tier; `meta["allow_blocked"]` lets the page pass unchecked.
    """

    def process_request(self, request: Request) -> None:
        """Count requests sent, by tier."""
        if (tier := request.meta.get("tier")) is not None:
            self._worker.tiers.spend(tier)

    async def process_response(self, request: Request, response: Response) -> Request | Response:
        """*response*, or *request* on its way to a higher tier's queue."""
        at = request.meta.get("tier")
        if at is None or request.meta.get(ALLOW_BLOCKED) or (held := self._worker.book.of(request)) is None:
            return response
        if not (why := self._failing(request, response, at)):
            self._worker.tiers.good(held.lease.host, request, at)
            return response
        request.meta[BLOCK] = why
        if request.meta.get("dont_retry"):
            return response
        to, stays = (None, NO_WAY) if why in DENIERS else await self._worker.tiers.failed(request, at)
        if to is None:
            request.meta[TIER_STAYS] = stays
            self._crawler.stats.inc_value(names.TIER_REFUSED)
            logger.debug("%s stays in tier %s (%s): %s", request, at, told(why), stays)  # its dead letter says so, too
            return response
        logger.info("%s moves from tier %s to tier %s (%s)", request, at, to, told(why))
        return _moved(request, to)

    def _failing(self, request: Request, response: Response, at: Tier) -> str:
        """The vendor that blocks it, or what it lacks; "" for a good page. Only plain pages are checked for content."""
        if block := request.meta.get(BLOCK):
            return str(block)
        if at != TIERS[0] or response.status != 200 or not isinstance(response, TextResponse):
            return ""
        return INCOMPLETE if self._lacks(response) else ""

    def _lacks(self, response: TextResponse) -> bool:
        """Whether a product page (judged by URL) lacks fields that its domain's rules require."""
        rules = self._worker.queue.encoder.rules.domains.for_url(response.url)
        if not rules.required or not rules.is_product(response.url):
            return False
        document = Document(response.text, response.url)
        return bool(missing_required(document, extract_product(document, response.url, rules), rules))


def _moved(request: Request, to: Tier) -> Request:
    """*request* for another tier, below which it is never tried again."""
    moved = request.copy()
    moved.meta.update({"tier": to, MIN_TIER: to})
    moved.meta.pop(BLOCK, None)
    return moved
