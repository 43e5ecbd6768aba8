"""Pages whose stored requests Redis may have lost since."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from crawler.frontier.messages import Handle
from crawler.worker.outbox.lease_endings import Ending, Move, Nack, handle_of

LOST: Final = "links_lost"  # why such a page is put back


class LostLinks:
    """Redis confirms a request before it is on disk or on a replica, and a restart or a failover may take up to two
    seconds of them back. If the page they were found on were acknowledged after that, they would be gone for good.

    So a page with such requests that is still under way at that moment is put back, uncharged: it finds them again.
    """

    def __init__(self) -> None:
        self._stored: set[Handle] = set()  # pages under way with requests that Redis has
        self._doubted: set[Handle] = set()
        self.losses = 0  # so often another server, or other data, has answered

    def __len__(self) -> int:
        return len(self._stored | self._doubted)

    def lose(self) -> None:
        """What was confirmed until now may be gone."""
        self.losses += 1
        self._doubted |= self._stored
        self._stored.clear()

    def stored(self, page: Handle, losses: int) -> None:
        """A request found on *page* was confirmed by a call that began when there had been so many *losses*."""
        (self._stored if losses == self.losses else self._doubted).add(page)

    def judged(self, ending: Ending) -> Ending:
        """*ending*, or a retry in its place."""
        if isinstance(ending, Nack | Move) or handle_of(ending) not in self._doubted:
            return ending  # these fetch the page again anyway
        return Nack(handle_of(ending), 0, LOST)

    def ended(self, pages: Sequence[Handle]) -> None:
        """The leases of *pages* have ended, or are lost."""
        self._stored.difference_update(pages)
        self._doubted.difference_update(pages)
