"""How hosts answered this worker, told to the frontier: it frees the slot, sets the pace, and counts each complaint
once."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from time import monotonic

from scrapy import Request
from scrapy.http import Response

from crawler.frontier.frontier import Frontier
from crawler.frontier.messages import Report
from crawler.frontier.server.outage import RedisOutage
from crawler.meta import COMPLAINED, LED_HERE
from crawler.policy.endings.backoff import retry_after
from crawler.routing.host_rules import HostRules
from crawler.worker.leases.lease_book import LeaseBook
from crawler.worker.outbox.outbox import Outbox
from crawler.worker.turns.reported_origins import ReportedOrigins
from crawler.worker.turns.resting_hosts import RestingHosts
from crawler.worker.turns.turn import Turn

PUSH_BACK = (429, 503)
REST_SECONDS = 0.1  # leases older than a complaint go back; by then the frontier knows of it


class AnswerReporter:
    """Reports the answer to each turn, and block pages, which are known only once a page was read."""

    def __init__(
        self,
        frontier: Frontier,
        rules: HostRules,
        book: LeaseBook,
        outbox: Outbox,
        outage: RedisOutage,
        held_up_since: Callable[[float], float],
        clock: Callable[[], float] = monotonic,
    ) -> None:
        """*held_up_since* tells how many seconds since a moment say nothing about the host."""
        self._frontier = frontier
        self._rules = rules
        self._book = book
        self._outbox = outbox
        self._outage = outage
        self._held_up_since = held_up_since
        self._clock = clock
        self._origins = ReportedOrigins(self._clock)
        self._resting = RestingHosts(self._clock)
        self.rests = self._resting.rests  # whether a host pushed back a moment ago

    def report(
        self,
        turn: Turn,
        response: Response | None,
        *,
        excused: bool = False,
        fault: bool = False,
        request: Request | None = None,
    ) -> None:
        """Report the response to *turn*, None if there was none. Frees the host's slot. *excused*: a proxy is to blame,
        not the host. *fault*: the host is, and did not answer. A complaint is noted on *request*: it counts once,
        however often that is retried."""
        assert turn.sent_at is not None
        if turn.held is not None:
            turn.held.slot.reported = True
        status = response.status if response is not None else 0
        wait_ms = _retry_after_ms(response)
        elapsed_ms = int((self._clock() - turn.sent_at) * 1000)
        self._outbox.report(
            Report(
                *turn.handle,
                elapsed_ms,
                latency_ms=max(0, elapsed_ms - int(self._held_up_since(turn.sent_at) * 1000)),
                status=status,
                retry_after_ms=wait_ms,
                keep=turn.keep,
                excused=excused,
                fault=fault,
                host=turn.host,
                again=self._heard(turn, request, status, wait_ms),
                origin=self._origins.news(turn.host, request, good=0 < status < 500),
                led=_led(turn, request),
            )
        )

    async def back_off(self, request: Request) -> None:
        """*request* was answered with a block page: a complaint, which counts once however often it is retried. Returns
        once the frontier knows."""
        again = bool(request.meta.get(COMPLAINED))
        request.meta[COMPLAINED] = True
        held = self._book.of(request)
        sent_at = held.slot.started_at if held is not None else None
        elapsed_ms = int((self._clock() - sent_at) * 1000) if sent_at is not None else 0
        group, status = self._rules.of(request).group, held.slot.status if held is not None else 0
        rest_ms = await self._outage.insist(
            lambda: self._frontier.back_off(group, elapsed_ms, status=status, again=again)
        )
        if rest_ms < 0:
            self._outbox.breakers.opened(group, -rest_ms)

    def _heard(self, turn: Turn, request: Request | None, status: int, wait_ms: int) -> bool:
        """Note *status*; returns whether *request* has met a complaint before."""
        if (held := self._book.of(request)) is not None:
            held.slot.status = status
        before = request is not None and bool(request.meta.get(COMPLAINED))
        if status in PUSH_BACK:
            self._resting.rest(turn.host, max(wait_ms / 1000, REST_SECONDS))
            if request is not None:
                request.meta[COMPLAINED] = True
        return before


def _led(turn: Turn, request: Request | None) -> str:
    """How another site led here. A request beside the queue (robots.txt, media) does not tell: any page may have asked
    for it, and it comes before the pages of its host, so that a few such would make a row of faults."""
    if turn.held is None and turn.led_by is None:
        return "beside"
    led = str(request.meta.get(LED_HERE) or "") if request is not None else ""
    return led or ("link" if turn.held is None else "")


def _retry_after_ms(response: Response | None) -> int:
    if response is None or response.status not in PUSH_BACK:
        return 0
    return round(retry_after(response.headers, datetime.now(UTC)) * 1000)
