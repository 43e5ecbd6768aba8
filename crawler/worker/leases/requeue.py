"""Puts leased requests back into the frontier: for a retry, another tier, another release, or as dead letters."""

from __future__ import annotations

import logging
import random
from collections.abc import Callable
from typing import Final

from scrapy import Request
from scrapy.crawler import Crawler

from crawler import stats as names
from crawler.errors import CodecError, OtherReleaseError
from crawler.frontier.streams import stream_of
from crawler.policy.endings.retries import RetryPolicy
from crawler.policy.tiers import Tier
from crawler.routing import codec
from crawler.worker.leases.held import HeldLease
from crawler.worker.outbox.lease_endings import Bury, Move, Nack
from crawler.worker.outbox.outbox import Outbox

# What this release cannot read is left to another one for this many seconds, repeatedly: 10 minutes in all, as a deploy
# takes.
PASS_ON_SECONDS: Final = (5, 30, 90, 180, 300)
OTHER_RELEASE: Final = "unknown_callback"  # the reason for both
_CHAIN: Final = ("redirect_times", "redirect_ttl", "redirect_urls", "redirect_reasons")  # meta that came with the URL

logger = logging.getLogger(__name__)


class Requeue:
    """Ends leases whose request is not done; each method passes one ending to the outbox."""

    def __init__(
        self, crawler: Crawler, outbox: Outbox, uniform: Callable[[float, float], float] = random.uniform
    ) -> None:
        assert crawler.spider is not None
        self._spider = crawler.spider
        self._stats = crawler.stats
        self._outbox = outbox
        self._uniform = uniform
        self._passed_on: set[str] = set()  # what this release lacks, logged once each
        self._policy = RetryPolicy.from_settings(crawler.settings)

    def retry_delay_ms(self, attempt: int) -> int:
        """How long a request waits in the frontier after failed try number *attempt*, in ms, with full jitter."""
        return round(self._policy.default.wait_seconds(attempt, self._uniform) * 1000)

    def again(self, request: Request, held: HeldLease, reason: str, delay_ms: int) -> None:
        """Put *request* back for a retry after *delay_ms*: once a callback had it, with the meta and cb_kwargs that it
        was leased with; in its queued form if it cannot be stored."""
        body, priority = self._encoded(request, held), _priority(request, held)
        self._outbox.end(Nack(held.handle, delay_ms, reason, body, priority, request))

    def move(self, request: Request, held: HeldLease, tier: Tier) -> None:
        """Move *request* to the queue of *tier*; in its queued form if its present one cannot be stored."""
        stream, body = stream_of(self._spider.name, tier), self._encoded(request, held)
        self._outbox.end(Move(held.handle, stream, body=body, priority=_priority(request, held)))

    def pass_on(self, held: HeldLease, error: OtherReleaseError) -> None:
        """Leave a request to workers of another release, uncharged; a dead letter if that fails for long enough."""
        times, body = codec.passed_on(held.lease.body)
        if times < len(PASS_ON_SECONDS):
            wait = PASS_ON_SECONDS[times]
            about = held.about(error.url)
            self._outbox.end(Nack(held.handle, 1000 * wait, OTHER_RELEASE, body, held.lease.priority, about))
            if error.name not in self._passed_on:
                self._passed_on.add(error.name)
                words = "Left to workers of another release, next try in %d s: %s"
                logger.warning(words, wait, error, extra={"about": about})
            return
        words = "Became a dead letter, no worker has what it needs: %s"
        logger.error(words, error, extra={"about": held.about(error.url)})
        detail: dict[str, str | int] = {"url": error.url, error.kind: error.name, "error": str(error)}
        self.bury(held, OTHER_RELEASE, detail)

    def bury(self, held: HeldLease, reason: str, detail: dict[str, str | int]) -> None:
        """Make it a dead letter, which starts over when somebody retries it."""
        self._outbox.end(Bury(held.handle, reason, detail, codec.afresh(held.lease.body), held.lease.priority))

    def storable(self, request: Request, held: HeldLease) -> Request:
        """*request* encoded for the queue; if that fails, with the meta and cb_kwargs that it was leased with."""
        try:
            codec.encode(request, self._spider)
        except CodecError as error:
            self._say_unstored(request, error)
            request = self._as_leased(request, held)
        return request

    def _as_leased(self, request: Request, held: HeldLease) -> Request:
        """*request*, where redirects have led it, with the meta and cb_kwargs that it was leased with."""
        stored = codec.decode(codec.restored(held.lease.body, request), self._spider)
        fields = ("url", "method", "headers", "body", "dont_filter")
        meta = stored.meta | {name: request.meta[name] for name in _CHAIN if name in request.meta}
        as_leased: Request = stored.replace(meta=meta, **{name: getattr(request, name) for name in fields})
        return as_leased

    def _encoded(self, request: Request, held: HeldLease) -> bytes:
        try:
            if held.handed_at is not None:  # `response.meta.pop("item")`: the next try would fail at that
                request = self._as_leased(request, held)
            return codec.encode(request, self._spider)
        except CodecError as error:
            self._say_unstored(request, error)
            return codec.restored(held.lease.body, request)

    def _say_unstored(self, request: Request, error: CodecError) -> None:
        self._stats.inc_value(names.RESTORED)
        logger.warning("%s is queued again in its original form, without later additions: %s", request, error)


def _priority(request: Request, held: HeldLease) -> int:
    """That of *request*; one that a component set to what is no integer does not count."""
    return request.priority if isinstance(request.priority, int) else held.lease.priority
