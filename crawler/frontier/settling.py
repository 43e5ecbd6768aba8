"""Watches each leased request from its download to its end, and settles the lease by what was seen."""

from __future__ import annotations

import logging
import random
from collections.abc import Callable
from typing import Any

from scrapy import Request, Spider, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Response
from scrapy.settings import BaseSettings
from twisted.python.failure import Failure

from crawler import config
from crawler.frontier.leases import Held, LeaseBook
from crawler.frontier.outbox import Bury, Nack, Outbox
from crawler.policy.backoff import full_jitter
from crawler.policy.outcome import Settlement, Verdict, settle

logger = logging.getLogger(__name__)


class Settler:
    """Collects evidence from the downloader and from signals; `ended` draws the conclusion."""

    def __init__(
        self,
        crawler: Crawler,
        book: LeaseBook,
        outbox: Outbox,
        uniform: Callable[[float, float], float] = random.uniform,
    ) -> None:
        self._crawler = crawler
        self._book = book
        self._outbox = outbox
        self._uniform = uniform
        self._base, self._cap = retry_wait(crawler.settings)
        self._retried = {int(code) for code in crawler.settings.getlist("RETRY_HTTP_CODES")}
        crawler.signals.connect(self._spider_error, signals.spider_error)
        crawler.signals.connect(self._item_error, signals.item_error)

    def downloaded(self, request: Request, result: Response | Request) -> None:
        """The download chain is through: *result* goes to the spider, or replaces *request*."""
        if isinstance(result, Request):
            self._book.follow(request, result)
        elif (held := self._book.of(request)) is not None:
            held.evidence.status = result.status
            held.evidence.exhausted = result.status in self._retried

    def failed(self, request: Request, error: Exception) -> None:
        """The download chain ended without an answer."""
        if (held := self._book.of(request)) is None:
            return
        if isinstance(error, IgnoreRequest):
            held.evidence.ignored = str(error) or type(error).__name__
        else:
            held.evidence.download_error = f"{type(error).__name__}: {error}"
            held.evidence.errback = request.errback is not None

    def retry_delay_ms(self, attempt: int) -> int:
        """How long try number *attempt* waits in the frontier, in ms: full jitter."""
        return round(full_jitter(attempt, self._base, self._cap, self._uniform) * 1000)

    def ended(self, request: Request) -> None:
        """*request* left the engine: settle its lease, unless the lease moved on with a follow-up."""
        held = self._book.release(request)
        if held is None or held.lost:
            return
        settlement = settle(held.evidence)
        match settlement.verdict:
            case Verdict.ACK:
                self._outbox.end(held.handle)
            case Verdict.NACK:
                delay_ms = self.retry_delay_ms(held.lease.deliveries + 1)
                logger.warning("%s is tried again in %d ms: %s", request, delay_ms, _words(settlement))
                self._outbox.end(Nack(held.handle, delay_ms, settlement.reason))
            case Verdict.BURY:
                logger.error("%s is kept as a dead letter: %s", request, _words(settlement))
                self._outbox.end(Bury(held.handle, settlement.reason, _detail(request, held, settlement)))

    def _spider_error(self, failure: Failure, response: Response | Failure | None, spider: Spider) -> None:
        if (held := self._of(response)) is not None:
            held.evidence.spider_error = f"{failure.type.__name__}: {failure.value}" if failure.type else str(failure)

    def _item_error(self, item: Any, response: Response | Failure | None, spider: Spider, failure: Failure) -> None:
        if (held := self._of(response)) is not None:
            held.evidence.item_errors.append(f"{type(failure.value).__name__}: {failure.value}")

    def _of(self, response: Response | Failure | None) -> Held | None:
        return self._book.of(getattr(response, "request", None))


def retry_wait(settings: BaseSettings) -> tuple[float, float]:
    """Base and cap of the wait before a retry, in seconds."""
    return (
        config.number(settings, "RETRY_BASE_SECONDS", 0, 3_600),
        config.number(settings, "RETRY_CAP_SECONDS", 0, 86_400),
    )


def _words(settlement: Settlement) -> str:
    return f"{settlement.reason} ({settlement.detail})" if settlement.detail else settlement.reason


def _detail(request: Request, held: Held, settlement: Settlement) -> dict[str, str | int]:
    return {
        "url": request.url,
        "error": settlement.detail[:2_000],
        "status": held.evidence.status or 0,
        "retries": request.meta.get("retry_times", 0),
    }
