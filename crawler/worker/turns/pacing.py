"""The last step before the wire: a paced turn at the host. How the host answers is told in answers.py.

A leased request was paced when it was leased: it only has to be in time. What bypasses the queue (redirect hops,
robots.txt, media) takes a turn from the same host state and waits for it here.
"""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any, TypeVar

from scrapy import Request
from scrapy.http import Response

from crawler.errors import EndingError
from crawler.frontier.messages import Slot
from crawler.routing.host_rules import HostRule
from crawler.utils.caches import Recent
from crawler.worker.context import WorkerContext
from crawler.worker.leases.held import HeldLease
from crawler.worker.turns.addresses import AddressBook
from crawler.worker.turns.answers import AnswerReporter
from crawler.worker.turns.turn import TooLateError, Turn
from crawler.worker.turns.unsent import UnsentRequests

logger = logging.getLogger(__name__)

T = TypeVar("T")

ASK_AFTER_SECONDS = 0.1  # an older lease asks once more: its host may have pushed back, at any worker
LEND_WITHIN_SECONDS = 1.0  # the same for a turn that a page lends to its robots.txt, which is fetched once a day
REMEMBERED = 10_000  # leases that were late once
POLL_SECONDS = 0.5  # longest wait for a turn before asking again: other workers' reports may bring it forward


class Pacer:
    """Grants turns for one worker."""

    def __init__(
        self, context: WorkerContext, answers: AnswerReporter, addresses: AddressBook, gives_up: Callable[[float], bool]
    ) -> None:
        """*gives_up* says whether a request beside the queue gives up after so many seconds of waiting."""
        self._frontier, self._rules, self._outage = context.frontier, context.rules, context.outage
        self._book, self._outbox = context.book, context.outbox
        self._worker, self._clock = context.worker, context.clock
        self._answers = answers
        self._addresses = addresses
        self._gives_up = gives_up
        self.unsent = UnsentRequests()
        self._patience = context.frontier.config.start_within_ms / 1000
        self._late: Recent[str, None] = Recent(REMEMBERED)  # ids of leases that went back, as they came here too late

    async def turn(self, request: Request) -> Turn:
        """Wait until *request* may be sent; raises TooLateError if its lease no longer allows it."""
        held = self._book.of(request)
        if held is None:
            return await self._beside(request)
        if held.reported:
            return await self._hop(request, held)
        if self._clock() > held.start_by and not held.needs_turn:
            self._be_late(held)
        if not held.needs_turn and self._answers.rests(held.lease.host):  # a page that needs another turn waits for it
            held.started_at = self._clock()  # on its way back: its turn may not be borrowed any more
            raise TooLateError
        if held.lent:
            async with held.loan:
                if held.needs_turn:
                    await self._take(request, held, self._patience)
        if self._clock() <= held.start_by:
            await self._ask(held)
        if self._clock() > held.start_by:
            raise TooLateError
        held.started_at = self._clock()
        return Turn(held.handle, held.start_by, held.lease.host, held)

    def _be_late(self, held: HeldLease) -> None:
        """A lease that comes here too late goes back; the second time, another turn is taken for it here: a middleware
        that waits for longer than a turn holds would send it back for ever."""
        if held.lease.id not in self._late:
            self._late[held.lease.id] = None
            raise TooLateError
        held.lent, held.free_at = True, None

    async def _hop(self, request: Request, held: HeldLease) -> Turn:
        """The turn of a redirect: its lease had one already. A lease that operators have stopped goes back."""
        if self._book.is_forbidden(held):
            raise TooLateError
        turn = await self._take(request, None, self._patience)
        turn.led_by = held
        return turn

    async def _ask(self, held: HeldLease) -> None:
        """Charge a suspect, or a lease that is not fresh, before it is sent. If its host has pushed back meanwhile, or
        the lease is no longer ours, it goes back, uncharged."""
        asked_at = max(held.leased_at, held.free_at or 0.0)
        fresh = held.needs_turn or self._clock() - asked_at < ASK_AFTER_SECONDS
        if (held.lease.is_suspect or not fresh) and not await self._outbox.start(held.handle):
            held.started_at = self._clock()  # on its way back: its turn may not be borrowed any more
            raise TooLateError

    def allowed(self, turn: Turn) -> bool:
        """Whether the request of *turn* may still be written: the last check of the clock and of operators."""
        held = turn.held or turn.led_by or turn.lender
        forbidden = held is not None and self._book.is_forbidden(held)
        paced_by = turn.held.address if turn.held is not None else ""
        moving = self._addresses.is_moving(turn.host, paced_by)
        return self._clock() <= turn.start_by and not forbidden and not moving

    async def connecting(self, turn: Turn, step: Coroutine[Any, Any, T]) -> T:
        """The result of *step*, without which the request of *turn* cannot be written; raises MissedError if its worker
        closes before. What a page asks for beside the queue is waited for: that page would be fetched again."""
        ends = turn.held is not None or turn.lender is not None
        return await (self.unsent.wait(step) if ends else step)

    def missed(self, turn: Turn) -> None:
        """Note that *turn* was not used; raises TooLateError if the lease allows no other one, and EndingError for a
        request of a page that is not sent any more."""
        if turn.held is not None:
            turn.held.started_at = None
            raise TooLateError
        if turn.lender is None:
            self._outbox.give_back(turn.handle)
        else:
            turn.lender.loan.release()
            if self.unsent.ended:
                raise EndingError

    def leaving(self, turn: Turn) -> None:
        """The request of *turn* is about to be written by a handler that reports the time later. Charges the
        delivery."""
        if turn.held is not None:
            turn.charged = self._outbox.start(turn.handle)

    def sent(self, turn: Turn, ago: float = 0.0) -> None:
        """The request of *turn* was written *ago* seconds; the first call counts. Charges the delivery."""
        if turn.sent_at is not None:
            return
        turn.sent_at = self._clock() - ago
        if (held := turn.held or turn.led_by) is not None:
            held.unsent_hops = 0
        if turn.held is not None and turn.charged is None:
            turn.charged = self._outbox.start(turn.handle, on_wire=True)

    async def _beside(self, request: Request) -> Turn:
        """A turn for a request without a lease. A page that waits for it (for its robots.txt) lends its slot: with one
        slot per host the two would wait for each other for ever."""
        group = self._rules.of(request).group
        while (lender := self._book.unstarted(group)) is not None:
            first, lender.lent = not lender.lent, True
            await lender.loan.acquire()  # one slot, one borrower: otherwise all would get the lender's turn at once
            if lender.started_at is not None:
                lender.loan.release()
                continue
            fresh = first and self._clock() - lender.leased_at < LEND_WITHIN_SECONDS
            if fresh and self._clock() <= lender.start_by and not self._answers.rests(group):  # no need to ask Redis
                return Turn(lender.handle, lender.start_by, group, lender=lender)
            try:
                return await self._take(request, lender)
            except TooLateError:
                lender.loan.release()
                break
            except BaseException:
                lender.loan.release()
                raise
        return await self._take(request, None)

    async def confirm(self, turn: Turn) -> None:
        """Wait until the delivery is charged; raises TooLateError if the lease turns out to be lost.

        No page reaches a callback before that, so a page that kills its worker is charged each time.
        """
        if turn.charged is not None and not await turn.charged:
            assert turn.held is not None
            turn.held.lost = True
            raise TooLateError

    def answered(
        self,
        turn: Turn,
        response: Response | None,
        *,
        excused: bool = False,
        fault: bool = False,
        request: Request | None = None,
    ) -> None:
        """The response to *turn* has come, None if there was none (the arguments are those of `AnswerReporter.report`):
        what lent its slot has it again."""
        self.sent(turn)  # if the handler did not: too late is safe, too early is not
        self._answers.report(turn, response, excused=excused, fault=fault, request=request)
        if turn.lender is not None:
            turn.lender.loan.release()

    def _clear(self, host: str) -> None:
        """Give back this worker's leases of *host* that are not started: all of its downloads may wait for this one
        (robots.txt), and then nothing would start them and free their slots."""
        for held in self._book.withdraw(host):
            self._outbox.give_back(held.handle)

    async def _take(self, request: Request, lease: HeldLease | None, patience: float = math.inf) -> Turn:
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
                    lease.start_by = start_by
                return Turn(slot.token, start_by, rule.group, lender=lease)
            elif lease is None:
                self._outbox.give_back(slot.token)  # this worker was frozen

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
