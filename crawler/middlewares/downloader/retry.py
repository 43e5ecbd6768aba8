"""Scrapy's RetryMiddleware for a fleet: retries wait in the frontier for any worker, as long as their failure class
says."""

from __future__ import annotations

import logging
import random
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.downloadermiddlewares.retry import RetryMiddleware as ScrapyRetryMiddleware
from scrapy.downloadermiddlewares.retry import get_retry_request
from scrapy.http import Response
from scrapy.settings import BaseSettings
from scrapy.utils.response import response_status_message

from crawler import stats as names
from crawler.errors import BlockedError
from crawler.meta import BLOCK, RETRY_WAIT_MS
from crawler.policy.endings.backoff import retry_after
from crawler.policy.endings.failures import FailureClass, classify
from crawler.policy.endings.retries import RetryBudget, RetryPolicy
from crawler.worker.lookup import worker_of
from crawler.worker.scheduler import in_use

COUNTED: Final = ("retry_times", "max_retry_times", "priority_adjust", "give_up_log_level")  # in a request's meta

logger = logging.getLogger(__name__)


class RetryMiddleware(ScrapyRetryMiddleware):
    """RETRY_* settings, meta keys, stats and `get_retry_request` work as in Scrapy.

    New: times and delays by class (RETRY_CLASSES), both forms of Retry-After, and a page marked as a denial by
    `meta["block"]` is a failure whatever its status. A request without a lease (media, `engine.download`) is retried at
    once, as in Scrapy, at its host's pace.
    """

    def __init__(self, settings: BaseSettings, uniform: Callable[[float, float], float] = random.uniform) -> None:
        super().__init__(settings)
        self._policy = RetryPolicy.from_settings(settings)
        self._uniform = uniform

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> ScrapyRetryMiddleware:  # type: ignore[override]
        """Scrapy's own where the spider does not use the shared frontier."""
        if not in_use(crawler.settings):
            return ScrapyRetryMiddleware.from_crawler(crawler)
        return super().from_crawler(crawler)

    def process_response(  # type: ignore[override]  # nobody passes the spider any more
        self, request: Request, response: Response
    ) -> Request | Response:
        """A retry of *request*, or *response* if it is good, final, or the last. Raises BlockedError for a block page
        whose request bypassed the queue: nothing else would keep it from its caller."""
        vendor = request.meta.get(BLOCK)
        if vendor is None and response.status not in self.retry_http_codes:
            return response
        again = None if request.meta.get("dont_retry") else self._again(request, response, vendor)
        if again is None and vendor is not None and self._is_beside(request):
            error = BlockedError(response, vendor)
            logger.warning("%s", error)  # there is no dead letter, and a media pipeline says it at DEBUG
            raise error
        return again or response

    def _again(self, request: Request, response: Response, vendor: str | None) -> Request | None:
        kind = self._policy.failure(response.status, blocked=vendor is not None)
        reason = response_status_message(response.status) if vendor is None else f"blocked by {vendor}"
        return self._later(request, kind, reason, retry_after(response.headers, datetime.now(UTC)))

    def _is_beside(self, request: Request) -> bool:
        """Whether a callback or pipeline downloads it directly, so that no spider middleware sees the response."""
        held = worker_of(self.crawler).book.of(request)
        return held is None or held.downloads > 1

    def process_exception(  # type: ignore[override]
        self, request: Request, exception: Exception
    ) -> Request | None:
        """A retry of *request*, or None if the failure is final."""
        if request.meta.get("dont_retry") or not isinstance(exception, self.exceptions_to_retry):
            return None
        return self._later(request, classify(exception), exception, 0.0)

    def _later(
        self, request: Request, kind: FailureClass | None, reason: str | Exception, asked: float
    ) -> Request | None:
        budget = self._policy.budget(kind)
        try:
            again = self._copied(request, reason, budget)
        except (TypeError, ValueError) as error:  # it would hide why the page failed
            logger.warning("%s is retried without %s in its meta: %s", request, ", ".join(COUNTED), error)
            for key in COUNTED:
                request.meta.pop(key, None)
            again = self._copied(request, reason, budget)
        if again is None:
            return None
        again.meta.pop(BLOCK, None)
        wait = asked + budget.wait_seconds(again.meta["retry_times"], self._uniform)
        again.meta[RETRY_WAIT_MS] = round(wait * 1000)
        self.crawler.stats.inc_value(names.RETRIES.format(kind or "other"))
        return again

    def _copied(self, request: Request, reason: str | Exception, budget: RetryBudget) -> Request | None:
        """Raises TypeError or ValueError for an entry of COUNTED that is no number or level."""
        assert self.crawler.spider is not None
        meta = request.meta
        level = logging.DEBUG if meta.get(BLOCK) else self.give_up_log_level  # its dead letter says so, too
        return get_retry_request(
            request,
            spider=self.crawler.spider,
            reason=reason,
            max_retry_times=meta.get("max_retry_times", self.max_retry_times if budget.times is None else budget.times),
            priority_adjust=meta.get("priority_adjust", self.priority_adjust),
            give_up_log_level=meta.get("give_up_log_level", level),
        )
