"""Spider middleware that keeps pages from the spider that are blocked, empty, without their content, or too costly to
read.

Downloader middlewares have recognised and retried them; here they end, whatever statuses the spider handles.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import Any

from scrapy.http import Response

from crawler.errors import BlockedError, TooCostlyError
from crawler.meta import ALLOW_BLOCKED
from crawler.middlewares.downloader.blocks import SHELL, is_empty
from crawler.middlewares.fleet import FleetMiddleware
from crawler.policy.endings.failures import FailureClass
from crawler.policy.tiers import TIERS

logger = logging.getLogger(__name__)


class GateMiddleware(FleetMiddleware):
    """Raises BlockedError instead of calling the callback; an errback receives it, like HttpError.

    Runs after Scrapy's HttpErrorMiddleware, which handles other statuses first.
    """

    def process_spider_input(self, response: Response) -> None:
        """Raises BlockedError for what is not the page, TooCostlyError for a page that is too costly to read."""
        if costly := self._costly(response):
            raise TooCostlyError(costly)
        if why := self._why(response):
            raise BlockedError(response, why)
        self._pass(response)

    def process_spider_exception(self, response: Response, exception: Exception) -> Iterable[Any] | None:
        """Swallow our own errors; one about another page, which a callback downloaded, is the callback's error."""
        if not isinstance(exception, BlockedError) or exception.response is not response:
            return None
        logger.debug("not passed to the spider: %s", exception)  # its dead letter says so, too
        return ()

    def _pass(self, response: Response) -> None:
        """Tell the worker that a callback has the page; in a re-parse there is none."""
        self._worker.tracker.handed(response)

    def _costly(self, response: Response) -> str:
        """The limit that the page broke in the child process, or ""."""
        held = self._worker.book.behind(response)
        return held.evidence.costly if held is not None else ""

    def _why(self, response: Response) -> str:
        """The vendor that blocks it, or what it lacks; "" for a page."""
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
