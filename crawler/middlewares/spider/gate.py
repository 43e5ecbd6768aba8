"""Spider middleware that keeps from the spider what is no page (blocked, empty, or without its content), and what costs
too much to read.

The downloader middlewares have recognised it and tried it again; this is the end of the way, whatever statuses the
spider asks for.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import Any

from scrapy.http import Response

from crawler.errors import BlockedError, TooCostlyError
from crawler.meta import ALLOW_BLOCKED
from crawler.middlewares.downloader.blocks import SHELL, is_empty
from crawler.middlewares.spider.fleet import FleetMiddleware
from crawler.policy.failures import FailureClass
from crawler.policy.tiers import TIERS

logger = logging.getLogger(__name__)


class GateMiddleware(FleetMiddleware):
    """Raises BlockedError instead of calling the callback; an errback gets it, as it gets HttpError.

    Between Scrapy's HttpErrorMiddleware, which has its say on other statuses first, and the callback.
    """

    def process_spider_input(self, response: Response) -> None:
        """Raises BlockedError for what is no page, TooCostlyError for what takes too much to read."""
        if costly := self._costly(response):
            raise TooCostlyError(costly)
        if why := self._why(response):
            raise BlockedError(response, why)
        self._pass(response)

    def process_spider_exception(self, response: Response, exception: Exception) -> Iterable[Any] | None:
        """Nothing comes of what was kept back; another page's, which a callback asked for, is the callback's error."""
        if not isinstance(exception, BlockedError) or exception.response is not response:
            return None
        logger.info("%s was not passed to the spider: %s", response, exception)
        return ()

    def _pass(self, response: Response) -> None:
        self._worker.tracker.handed(response)

    def _costly(self, response: Response) -> str:
        """What took too much when the page was tried in the child, or ""."""
        held = self._worker.book.behind(response)
        return held.evidence.costly if held is not None else ""

    def _why(self, response: Response) -> str:
        """Who blocks it, or what it lacks; "" for a page."""
        worker = self._worker
        held = worker.book.behind(response)
        if held is None:
            return ""
        if held.evidence.failure is FailureClass.BLOCKED:
            return held.evidence.block
        meta = response.request.meta if response.request is not None else {}
        if 200 <= response.status < 300 or meta.get(ALLOW_BLOCKED):
            return ""  # judged before
        if not is_empty(response, meta.get("tier", TIERS[0]), any_status=True):
            return ""
        worker.tracker.refused(response, SHELL)
        return SHELL
