"""The last step before the wire and the first after it: a paced turn at the host, and the report of its answer.

A leased request was paced when it was handed out: it only has to be in time. What bypasses the queue (redirect
hops, robots.txt, media) takes a turn from the same host state and waits for it here, alone.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from time import monotonic

from redis.exceptions import RedisError
from scrapy import Request
from scrapy.http import Response

from crawler.frontier.config import SUSPECT_DELIVERIES
from crawler.frontier.frontier import Frontier
from crawler.frontier.hostrules import HostRules
from crawler.frontier.leases import Held, LeaseBook
from crawler.frontier.messages import Handle, Report
from crawler.frontier.outage import Outage
from crawler.frontier.outbox import Outbox
from crawler.policy.backoff import retry_after


class TooLateError(Exception):
    """The lease is no longer ours or its time to start has passed (a frozen worker): it goes back, uncharged."""


@dataclass(frozen=True, slots=True)
class Turn:
    """A permission to send now."""

    handle: Handle
    started_at: float  # monotonic seconds
    held: Held | None = None  # None for what goes without a lease of its own
    charged: asyncio.Future[bool] | None = None  # whether the frontier counted this delivery as ours
    keep: bool = False  # the slot belongs to a page that still has to go


class Pacer:
    """Grants turns and reports answers for one worker."""

    def __init__(
        self,
        frontier: Frontier,
        book: LeaseBook,
        outbox: Outbox,
        rules: HostRules,
        outage: Outage,
        worker: str,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._frontier = frontier
        self._book = book
        self._outbox = outbox
        self._rules = rules
        self._outage = outage
        self._worker = worker
        self._clock = clock

    async def turn(self, request: Request) -> Turn:
        """Wait until *request* may go on the wire; raises TooLateError when its lease does not allow it any more."""
        held = self._book.of(request)
        if held is None:
            return await self._beside(request)
        if held.reported:  # a redirect hop: its lease had its turn
            return await self._take(request, None)
        if held.lent:
            await self._outbox.flush()  # the borrower's report: until it is in, the turn would count as unused
            await self._take(request, held)
        if held.lease.deliveries >= SUSPECT_DELIVERIES and not await self._outbox.start(held.handle):
            held.lost = True
            raise TooLateError
        now = self._clock()
        if now > held.start_by:
            raise TooLateError
        held.started_at = now
        return Turn(held.handle, now, held, self._outbox.start(held.handle, on_wire=True))

    async def _beside(self, request: Request) -> Turn:
        """A turn for what has no lease. A page that waits for it (its robots.txt) lends its slot at the host: with one
        slot per host the two would wait for each other for ever."""
        lender = self._book.unstarted(self._rules.of(request).group)
        if lender is None:
            return await self._take(request, None)
        lender.lent = True
        try:
            return await self._take(request, lender)
        except TooLateError:
            return await self._take(request, None)

    async def confirm(self, turn: Turn) -> None:
        """Wait until the delivery is charged; raises TooLateError when the lease turned out to be lost.

        No page reaches a callback before that, so a page that kills its worker is counted each time it does.
        """
        if turn.charged is not None and not await turn.charged:
            assert turn.held is not None
            turn.held.lost = True
            raise TooLateError

    def answered(self, turn: Turn, response: Response | None) -> None:
        """Report what came back for *turn*; None when nothing did. Frees the host's slot."""
        elapsed_ms = round((self._clock() - turn.started_at) * 1000)
        if turn.held is not None:
            turn.held.reported = True
        status = response.status if response is not None else 0
        wait_ms = _retry_after_ms(response)
        self._outbox.report(Report(*turn.handle, elapsed_ms, elapsed_ms, status, wait_ms, keep=turn.keep))

    async def _take(self, request: Request, lease: Held | None) -> Turn:
        """Wait for a slot of its own, or for another turn under the slot of *lease*."""
        rule = self._rules.of(request)
        handle = lease.handle if lease is not None else None
        while True:
            asked_at = self._clock()
            try:
                take = await self._frontier.take(
                    rule.group, delay_ms=rule.delay_ms, cap=rule.cap, worker=self._worker, lease=handle
                )
            except (RedisError, OSError) as error:
                await self._outage.wait(error)
                continue
            if take.lost:
                raise TooLateError
            start_by = asked_at + take.start_within_ms / 1000
            if take.token is None:
                await asyncio.sleep(take.wait_ms / 1000)
            elif self._clock() <= start_by:
                if lease is not None:
                    lease.start_by = start_by
                return Turn(take.token, self._clock(), keep=lease is not None)


def _retry_after_ms(response: Response | None) -> int:
    if response is None or response.status not in {429, 503}:
        return 0
    header = response.headers.get("Retry-After")
    return round(retry_after(header.decode("latin-1") if header else None, datetime.now(UTC)) * 1000)
