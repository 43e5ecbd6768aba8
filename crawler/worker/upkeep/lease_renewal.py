"""Keeps what this worker has in hand from expiring, and learns which leases are lost."""

from __future__ import annotations

from crawler.frontier.frontier import Frontier
from crawler.worker.leases.lease_book import LeaseBook
from crawler.worker.outbox.outbox import Outbox
from crawler.worker.pauses import Pauses


class LeaseRenewal:
    """Renews leases of shards that are there: those in hand, and those of pages whose endings wait."""

    def __init__(self, frontier: Frontier, book: LeaseBook, outbox: Outbox, pauses: Pauses) -> None:
        self._frontier = frontier
        self._book = book
        self._outbox = outbox
        self._pauses = pauses

    async def renew(self) -> None:
        """Renew all of them."""
        await self._renew_in_hand()
        await self._renew_waiting()

    async def _renew_in_hand(self) -> None:
        is_there = self._frontier.shards.has
        held = [one for one in self._book.in_hand() if is_there(one.handle)]
        if handles := [*(one.handle for one in held), *filter(is_there, self._outbox.ending())]:
            answers = await self._frontier.renew(handles, suspended=bool(self._pauses.reason))
            for one, ours in zip(held, answers, strict=False):  # endings that wait to be sent need no answer
                one.lost = one.lost or not ours
            self._book.stop_overdue(self._frontier.config.hard_cap_ms / 1000)

    async def _renew_waiting(self) -> None:
        if waiting := [*filter(self._frontier.shards.has, self._outbox.waiting)]:
            answers = await self._frontier.renew(waiting, for_room=self._outbox.new.children.refused)
            for handle, ours in zip(waiting, answers, strict=True):
                if not ours:
                    self._outbox.abandon(handle)
