"""Follows each leased request from download to end, and ends its lease according to what it saw."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable
from typing import Any, Final

from scrapy import Request, Spider, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Response
from scrapy.utils.asyncgen import as_async_generator
from scrapy.utils.defer import ensure_awaitable
from scrapy.utils.spider import iterate_spider_output
from twisted.python.failure import Failure
from twisted.python.reflect import safe_str

from crawler import current_request
from crawler import stats as names
from crawler.counting.tallies import OK, UNKNOWN, UNREACHED, tallies_of
from crawler.counting.timings import timings_of
from crawler.errors import RobotsUnreachableError, TooCostlyError, UnstoredItem
from crawler.meta import BLOCK, TIER_STAYS, UNFINISHED_TIMES, count
from crawler.policy.blocks import told
from crawler.policy.endings.failures import LEAST_STATUS, REDIRECTS, FailureClass, classify
from crawler.policy.endings.outcome import Conclusion, Verdict, conclude, excerpt
from crawler.policy.endings.retries import RETRIED, RetryPolicy
from crawler.utils.masking import mask
from crawler.worker.leases.held import HeldLease
from crawler.worker.leases.lease_book import LeaseBook
from crawler.worker.leases.requeue import Requeue
from crawler.worker.outbox.lease_endings import Bury, Gone, Unsent
from crawler.worker.outbox.outbox import Outbox

_REDIRECT_LOOP: Final = "max redirections reached"  # Scrapy's message: the error has no type of its own

logger = logging.getLogger(__name__)


class RequestTracker:
    """Collects evidence from the downloader and signals; `ended` draws the conclusion."""

    def __init__(
        self,
        crawler: Crawler,
        book: LeaseBook,
        outbox: Outbox,
        requeue: Requeue,
        max_attempts: int,
    ) -> None:
        self._crawler = crawler
        self._timings = timings_of(crawler)
        self._answers = tallies_of(crawler).answers
        self._book = book
        self._outbox = outbox
        self._max_attempts = max_attempts
        self._requeue = requeue
        self._redirects = crawler.settings.getbool("REDIRECT_ENABLED")
        self._policy = RetryPolicy.from_settings(crawler.settings)
        crawler.signals.connect(self._spider_error, signals.spider_error)
        crawler.signals.connect(self._item_error, signals.item_error)
        crawler.signals.connect(self._item_dropped, signals.item_dropped)

    def asked(self, request: Request) -> None:
        """*request* will be downloaded: one beside the queue belongs to the page whose code asks for it."""
        if self._book.of(request) is None and (asker := self._book.of(current_request.current())) is not None:
            self._book.found(request, asker)

    def began(self, request: Request) -> None:
        """*request* enters the download chain."""
        if (held := self._book.of(request)) is not None:
            held.downloads += 1

    def postponed(self, request: Request, wait_ms: int, why: str) -> None:
        """*request* was not sent: it returns to the scheduler as its own follow-up."""
        if (held := self._book.of(request)) is not None:
            held.postponed_ms, held.postponed_for = wait_ms, why
            self._book.follow(request, request)

    def downloaded(self, request: Request, result: Response | Request) -> None:
        """The download chain has finished: *result* goes to the spider, or replaces *request*."""
        if (held := self._first_download(request)) is None:
            return
        self._count(request, held, result)
        if isinstance(result, Request):
            self._book.follow(request, result)
        else:
            self._answered(request, result, held)
            self._book.answered(result, held)

    def _count(self, request: Request, held: HeldLease, result: Response | Request | Exception) -> None:
        """Count one attempt at a host; one that a middleware retries is judged by the last status, 0 if there was
        none."""
        if BLOCK in request.meta:
            outcome: str = FailureClass.BLOCKED
        elif isinstance(result, Exception):
            outcome = classify(result) or UNKNOWN
        else:
            status = result.status if isinstance(result, Response) else held.slot.status
            outcome = OK if 200 <= status < 400 else UNREACHED if not status else classify(status) or OK
        self._answers.add(held.lease.host, outcome)

    def _answered(self, request: Request, response: Response, held: HeldLease) -> None:
        """*response* is the last one: retries, if any, are used up."""
        seen = held.evidence
        seen.status = response.status
        seen.failure = self._policy.failure(response.status, blocked=BLOCK in request.meta)
        seen.block = "; ".join(str(request.meta[key]) for key in (BLOCK, TIER_STAYS) if key in request.meta)
        if seen.failure is None or seen.failure is FailureClass.MALFORMED:
            seen.malformed = self._malformed(request, response)
        if seen.malformed:
            seen.failure, seen.excerpt = FailureClass.MALFORMED, excerpt(response.body)
            return
        blocked = seen.failure is FailureClass.BLOCKED
        if seen.failure in RETRIED and request.meta.get("dont_retry") and not blocked:
            seen.failure = None  # the spider handles it as it is
        elif seen.failure in RETRIED:
            seen.excerpt = excerpt(response.body)

    def _malformed(self, request: Request, response: Response) -> str:
        """Why *response* is unusable; "" if it is usable."""
        if response.status < LEAST_STATUS:
            return f"status {response.status:03} is not an HTTP status"
        if response.status not in REDIRECTS or request.meta.get("dont_redirect") or not self._redirects:
            return ""
        return f"status {response.status} leads to {excerpt(response.headers.get('Location') or b'') or 'nowhere'}"

    def handed(self, response: Response) -> None:
        """The callback is about to get *response*."""
        if (held := self._book.behind(response)) is not None:
            held.evidence.handed = True
            held.handed()

    def refused(self, response: Response, why: str) -> None:
        """*response* was kept from its callback as no page."""
        if (held := self._book.behind(response)) is not None:
            held.evidence.failure, held.evidence.block = FailureClass.BLOCKED, why
            held.evidence.excerpt = excerpt(response.body)

    def failed(self, request: Request, error: Exception) -> None:
        """The download chain ended without a response."""
        if (held := self._first_download(request)) is None:
            return
        words = safe_str(error)
        held.evidence.failure = FailureClass.MALFORMED if words == _REDIRECT_LOOP else classify(error)
        if isinstance(error, RobotsUnreachableError):
            held.evidence.failure = FailureClass.HOST_FAULT
            held.evidence.given_up, held.evidence.origin = words, error.origin
        elif isinstance(error, IgnoreRequest) and held.evidence.failure is None:
            held.evidence.ignored = words or type(error).__name__
        else:
            self._count(request, held, error)
            held.evidence.download_error = f"{type(error).__name__}: {words}"
        if request.errback is not None:
            held.evidence.errback = True
            request.errback = self._tracked(request, request.errback, held)

    def ended(self, request: Request) -> bool:
        """*request* left the engine: end its lease, unless that moved on with a follow-up.

        False if only one of several downloads ended: the callback that asked for them is still running.
        """
        if (held := self._book.of(request)) is not None and held.downloads > 1:
            held.downloads -= 1
            return False
        self._book.release(request)
        if held is not None and held.handed_at is not None and held.parsed_at is not None:
            self._timings.parse.observe(held.parsed_at - held.handed_at, held.lease.id)
        if held is not None and held.lost:
            self._outbox.abandon(held.handle)
        elif held is not None:
            try:
                self._end(request, held)
            except Exception as error:  # a request without an end is crawled again until its deliveries are used up
                logger.exception("%s became a dead letter, as its end cannot be told", request)
                words = mask(f"{type(error).__name__}: {error}"[:2_000])
                self._outbox.end(Bury(held.handle, "unknown_end", {"url": request.url, "error": words}))
        return True

    def _end(self, request: Request, held: HeldLease) -> None:
        conclusion = conclude(held.evidence)
        if held.evidence.failure is not None:
            self._crawler.stats.inc_value(names.FAILURES.format(held.evidence.failure))
        match conclusion.verdict:
            case Verdict.ACK:
                self._outbox.end(Unsent(held.handle) if held.slot.started_at is None else held.handle)
            case Verdict.GIVE_BACK:
                self._outbox.give_back(held.handle)
            case Verdict.GONE:
                self._outbox.end(Gone(held.handle, conclusion.reason, _detail(request, held, conclusion)))
            case Verdict.NACK if (attempts := count(request, UNFINISHED_TIMES) + 1) < self._max_attempts:
                request.meta[UNFINISHED_TIMES] = attempts
                delay_ms = self._requeue.retry_delay_ms(attempts)
                logger.warning("%s will be retried in %d ms: %s", request, delay_ms, _words(conclusion))
                self._requeue.again(request, held, conclusion.reason, delay_ms)
            case _:
                logger.error("%s became a dead letter: %s", request, _words(conclusion))
                self._requeue.bury(held, conclusion.reason, _detail(request, held, conclusion))

    def _first_download(self, request: Request) -> HeldLease | None:
        """The lease of *request*, unless its own callback downloads it again: that response is the callback's
        business."""
        held = self._book.of(request)
        return held if held is not None and held.downloads == 1 else None

    def _tracked(
        self, request: Request, errback: Callable[[Failure], Any], held: HeldLease
    ) -> Callable[[Failure], Any]:
        """*errback*, tracked: Scrapy passes a callback's output through spider middlewares, but not an errback's."""

        async def tracked(failure: Failure) -> AsyncIterator[Any]:
            current_request.note(request)
            held.handed()
            request.errback = errback  # a retry that it yields must name a method of the spider
            try:
                output = errback(failure)
                if isinstance(output, Failure):
                    output.raiseException()
                found = await ensure_awaitable(iterate_spider_output(output))
            except Exception as error:
                held.evidence.errback = error is not failure.value  # it returned the failure: then it handled nothing
                held.failed(error)
                raise
            return self._book.track_output(as_async_generator(found), held)

        return tracked

    def _spider_error(self, failure: Failure, response: Response | Failure | None, spider: Spider) -> None:
        if (held := self._of(response)) is not None:
            held.evidence.spider_error = _named(failure)
            held.evidence.too_costly = isinstance(failure.value, TooCostlyError)

    def _item_error(self, item: Any, response: Response | Failure | None, spider: Spider, failure: Failure) -> None:
        if (held := self._of(response)) is not None:
            held.evidence.item_errors.append(_named(failure))

    def _item_dropped(self, item: Any, response: Response | Failure | None, exception: Exception) -> None:
        if isinstance(exception, UnstoredItem) and (held := self._of(response)) is not None:
            held.evidence.unstored = True

    def _of(self, response: Response | Failure | None) -> HeldLease | None:
        if isinstance(response, Response):
            return self._book.behind(response)
        return self._book.of(getattr(response, "request", None))


def _named(failure: Failure) -> str:
    """Type and text of the error; one that cannot show itself has a stand-in for its text."""
    return f"{type(failure.value).__name__}: {safe_str(failure.value)}"


def _words(conclusion: Conclusion) -> str:
    detail = told(conclusion.detail) if conclusion.reason == "blocked" else conclusion.detail
    return f"{conclusion.reason} ({detail})" if detail else conclusion.reason


def _detail(request: Request, held: HeldLease, conclusion: Conclusion) -> dict[str, str | int]:
    seen = held.evidence
    kept = {name: value for name, value in (("page", seen.page), ("origin", seen.origin)) if value}
    return kept | {
        "url": request.url,
        "error": mask(conclusion.detail[:2_000]),
        "class": seen.failure or "",
        "attempts": count(request, "retry_times") + 1,
        "status": seen.status or 0,
        "excerpt": seen.excerpt,
    }
