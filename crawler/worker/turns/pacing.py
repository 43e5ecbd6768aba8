"""The last step before the wire: a paced turn at the host. How the host answers is told in answers.py.

A leased request was paced when it was leased: it only has to be in time. What bypasses the queue (redirect hops,
robots.txt, media) takes a turn from the same host state and waits for it here.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from time import monotonic
from typing import Any, TypeVar

from scrapy import Request
from scrapy.http import Response

from crawler.errors import EndingError
from crawler.routing.host_rules import HostRules
from crawler.utils.caches import Recent
from crawler.worker.leases.held import HeldLease
from crawler.worker.leases.lease_book import LeaseBook
from crawler.worker.outbox.outbox import Outbox
from crawler.worker.turns.addresses import AddressBook
from crawler.worker.turns.answers import AnswerReporter
from crawler.worker.turns.slots import Slots
from crawler.worker.turns.turn import TooLateError, Turn
from crawler.worker.turns.unsent import UnsentRequests

T = TypeVar("T")

ASK_AFTER_SECONDS = 0.1  # an older lease asks once more: its host may have pushed back, at any worker
LEND_WITHIN_SECONDS = 1.0  # the same for a turn that a page lends to its robots.txt, which is fetched once a day
REMEMBERED = 10_000  # leases that were late once


class Pacer:
    """Grants turns for one worker."""

    def __init__(
        self,
        rules: HostRules,
        book: LeaseBook,
        outbox: Outbox,
        slots: Slots,
        answers: AnswerReporter,
        addresses: AddressBook,
        patience: float,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        """*patience*: for how many seconds what can wait in the frontier waits here."""
        self._rules = rules
        self._book = book
        self._outbox = outbox
        self._slots = slots
        self._answers = answers
        self._addresses = addresses
        self._patience = patience
        self._clock = clock
        self.unsent = UnsentRequests()
        self._late: Recent[str, None] = Recent(REMEMBERED)  # ids of leases that went back, as they came here too late

    async def turn(self, request: Request) -> Turn:
        """Wait until *request* may be sent; raises TooLateError if its lease no longer allows it."""
        held = self._book.of(request)
        if held is None:
            return await self._beside(request)
        slot = held.slot
        if slot.reported:
            return await self._hop(request, held)
        if self._clock() > slot.start_by and not slot.needs_turn:
            self._be_late(held)
        if not slot.needs_turn and self._answers.rests(held.lease.host):  # a page that needs another turn waits for it
            slot.go_back(self._clock())
            raise TooLateError
        if slot.lent:
            async with slot.loan:
                if slot.needs_turn:
                    await self._slots.take(request, held, self._patience)
        if self._clock() <= slot.start_by:
            await self._ask(held)
        if self._clock() > slot.start_by:
            raise TooLateError
        slot.started_at = self._clock()
        return Turn(held.handle, slot.start_by, held.lease.host, held)

    def _be_late(self, held: HeldLease) -> None:
        """A lease that comes here too late goes back; the second time, another turn is taken for it here: a middleware
        that waits for longer than a turn holds would send it back for ever."""
        if held.lease.id not in self._late:
            self._late[held.lease.id] = None
            raise TooLateError
        held.slot.lent, held.slot.free_at = True, None

    async def _hop(self, request: Request, held: HeldLease) -> Turn:
        """The turn of a redirect: its lease had one already. A lease that operators have stopped goes back."""
        if self._book.is_forbidden(held):
            raise TooLateError
        turn = await self._slots.take(request, None, self._patience)
        turn.led_by = held
        return turn

    async def _ask(self, held: HeldLease) -> None:
        """Charge a suspect, or a lease that is not fresh, before it is sent. If its host has pushed back meanwhile, or
        the lease is no longer ours, it goes back, uncharged."""
        asked_at = max(held.leased_at, held.slot.free_at or 0.0)
        fresh = held.slot.needs_turn or self._clock() - asked_at < ASK_AFTER_SECONDS
        if (held.lease.is_suspect or not fresh) and not await self._outbox.start(held.handle):
            held.slot.go_back(self._clock())
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
            turn.held.slot.started_at = None
            raise TooLateError
        if turn.lender is None:
            self._outbox.give_back(turn.handle)
        else:
            turn.lender.slot.loan.release()
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
            slot = lender.slot
            first, slot.lent = not slot.lent, True
            await slot.loan.acquire()  # one slot, one borrower: otherwise all would get the lender's turn at once
            if slot.started_at is not None:
                slot.loan.release()
                continue
            fresh = first and self._clock() - lender.leased_at < LEND_WITHIN_SECONDS
            if fresh and self._clock() <= slot.start_by and not self._answers.rests(group):  # no need to ask Redis
                return Turn(lender.handle, slot.start_by, group, lender=lender)
            try:
                return await self._slots.take(request, lender)
            except TooLateError:
                slot.loan.release()
                break
            except BaseException:
                slot.loan.release()
                raise
        return await self._slots.take(request, None)

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
            turn.lender.slot.loan.release()
