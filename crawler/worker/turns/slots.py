"""Slots at hosts for what was not paced when it was leased: redirect hops, robots.txt, media, and late pages."""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Callable
from functools import partial
from time import monotonic
from typing import Final

from scrapy import Request

from crawler.errors import EndingError
from crawler.frontier.frontier import Frontier
from crawler.frontier.messages import Slot
from crawler.frontier.server.outage import RedisOutage
from crawler.routing.host_rules import HostRule, HostRules
from crawler.worker.leases.held import HeldLease
from crawler.worker.leases.lease_book import LeaseBook
from crawler.worker.outbox.outbox import Outbox
from crawler.worker.turns.addresses import AddressBook
from crawler.worker.turns.turn import TooLateError, Turn

POLL_SECONDS: Final = 0.5  # longest wait before asking again: other workers' reports may bring a slot forward

logger = logging.getLogger(__name__)


class Slots:
    """Takes slots for *worker*, and waits for them here."""

    def __init__(
        self,
        worker: str,
        frontier: Frontier,
        rules: HostRules,
        book: LeaseBook,
        outbox: Outbox,
        outage: RedisOutage,
        addresses: AddressBook,
        gives_up: Callable[[float], bool],
        clock: Callable[[], float] = monotonic,
    ) -> None:
        """*gives_up* says whether a request beside the queue gives up after so many seconds of waiting."""
        self._worker = worker
        self._frontier = frontier
        self._rules = rules
        self._book = book
        self._outbox = outbox
        self._outage = outage
        self._addresses = addresses
        self._gives_up = gives_up
        self._clock = clock

    async def take(self, request: Request, lease: HeldLease | None, patience: float = math.inf) -> Turn:
        """Wait for a slot, or for another turn in the slot of *lease*; raises TooLateError after *patience* seconds,
        for a request that can wait in the frontier, and EndingError if its worker has to end."""
        rule = self._rules.of(request)
        began = self._clock()
        give_up_at = began + patience
        await self._addresses.ensure(rule.group)
        # Our own reports: until they are stored the host looks busy and a lent turn unused. Who cancels this
        # request must not cut them off half sent.
        await asyncio.shield(self._outbox.flush())
        while True:
            asked_at, slot = await self._reserved(rule, lease)
            start_by = asked_at + slot.start_within_ms / 1000
            if slot.lost or (slot.token is None and asked_at >= give_up_at):
                raise TooLateError(slot.wait_ms)
            if slot.token is None:
                if lease is None:
                    self._clear(rule.group)
                    self._end(request, asked_at - began)
                await asyncio.sleep(min(slot.wait_ms / 1000, POLL_SECONDS))
            elif self._clock() <= start_by:
                if lease is not None:
                    lease.slot.start_by = start_by
                return Turn(slot.token, start_by, rule.group, lender=lease)
            elif lease is None:
                self._outbox.give_back(slot.token)  # this worker was frozen

    def _clear(self, host: str) -> None:
        """Give back this worker's leases of *host* that are not started: all of its downloads may wait for this one
        (robots.txt), and then nothing would start them and free their slots."""
        for held in self._book.withdraw(host):
            self._outbox.give_back(held.handle)

    async def _reserved(self, rule: HostRule, lease: HeldLease | None) -> tuple[float, Slot]:
        """When the frontier was asked, and what it answered. A slot of its own that is granted to a request which was
        cancelled meanwhile goes back: it would keep its host busy for as long as a lease."""
        asking = asyncio.ensure_future(self._outage.insist(partial(self._reserve, rule, lease)))
        try:
            return await asyncio.shield(asking)
        except asyncio.CancelledError:
            if lease is None:
                asking.add_done_callback(self._unwanted)
            raise

    def _unwanted(self, asked: asyncio.Future[tuple[float, Slot]]) -> None:
        if not asked.cancelled() and asked.exception() is None and (token := asked.result()[1].token) is not None:
            self._outbox.give_back(token)

    async def _reserve(self, rule: HostRule, lease: HeldLease | None) -> tuple[float, Slot]:
        asked_at = self._clock()
        slot = await self._frontier.reserve_slot(
            rule.group,
            delay_ms=rule.delay_ms,
            cap=rule.cap,
            burst=rule.burst,
            worker=self._worker,
            lease=lease.handle if lease is not None else None,
        )
        return asked_at, slot

    def _end(self, request: Request, seconds: float) -> None:
        """Raise EndingError if a request without a lease, which waits for *seconds*, may not wait any longer."""
        if not self._gives_up(seconds):
            return
        logger.warning("%s is not sent: this worker has to end. The page that asked for it is given back", request)
        if (asker := self._book.parent(request)) is not None:
            asker.evidence.unstored = True
        raise EndingError
