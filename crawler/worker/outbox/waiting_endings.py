"""Pages that have ended here, except for children that are not stored yet."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from time import monotonic
from typing import Final

from crawler.frontier.messages import Handle
from crawler.worker.outbox.children import Children
from crawler.worker.outbox.lease_endings import Ending, Move, Nack, handle_of

LOOK_SECONDS: Final = 1.0  # between checks for pages that wait too long
MOST_KEPT: Final = 64 * 2**20  # bytes of refused requests; beyond it the pages that wait longest go back


class WaitingEndings:
    """Holds back a page's ending until its own children are stored; other pages are not affected.

    *patience*: seconds that a page waits (a lease); then it is given back and its children are found again.
    """

    def __init__(self, children: Children, patience: float, clock: Callable[[], float] = monotonic) -> None:
        self._children = children
        self._patience = patience
        self._clock = clock
        self._pages: dict[Handle, tuple[Ending, float]] = {}  # in the order they started to wait
        self._look_at = float("-inf")

    def __len__(self) -> int:
        return len(self._pages)

    @property
    def handles(self) -> list[Handle]:
        """The leases of waiting pages, which have to be renewed."""
        return list(self._pages)

    def hold_back(self, endings: deque[Ending], count: int) -> list[Handle]:
        """Take endings with unstored children out of the first *count*; returns their leases."""
        first = [endings.popleft() for _ in range(count)]
        held = {handle_of(ending): ending for ending in first if self._children.pending(handle_of(ending))}
        endings.extendleft(reversed([ending for ending in first if handle_of(ending) not in held]))
        self._pages |= {handle: (ending, self._clock()) for handle, ending in held.items()}
        return list(held)

    def release(self, handle: Handle) -> Ending | None:
        """The ending that waited for the children of *handle*, once they are stored."""
        ending, _ = self._pages.pop(handle, (None, 0.0))
        return ending

    def forget(self, handles: Sequence[Handle]) -> None:
        """Forget pages whose leases are lost: whoever has them now finds their children."""
        self._children.drop(handles)
        for handle in handles:
            self._pages.pop(handle, None)

    def give_up(self, *, everything: bool = False) -> tuple[list[Nack | Move], list[Handle]]:
        """Pages that have waited too long, or all, without their children: the endings of those that are fetched again
        anyway, a retry not before another lease, and the leases of the others, to be put off."""
        endings: list[Nack | Move] = []
        others: list[Handle] = []
        for ending in self._given_up(everything=everything):
            if isinstance(ending, Nack):
                endings.append(replace(ending, delay_ms=max(ending.delay_ms, round(self._patience * 1000))))
            elif isinstance(ending, Move):
                endings.append(ending)
            else:
                others.append(handle_of(ending))
        return endings, others

    def _given_up(self, *, everything: bool) -> list[Ending]:
        if self._clock() < self._look_at and not everything:
            return []
        self._look_at = self._clock() + LOOK_SECONDS
        count = len(self._pages) if everything else self._late()
        given_up = [ending for ending, _ in list(self._pages.values())[:count]]
        self.forget([handle_of(ending) for ending in given_up])
        return given_up

    def _late(self) -> int:
        latest = self._clock() - self._patience
        late = sum(since <= latest for _, since in self._pages.values())
        too_many = len(self._pages) // 4 + 1 if self._children.kept_bytes > MOST_KEPT else 0
        return max(late, too_many)
