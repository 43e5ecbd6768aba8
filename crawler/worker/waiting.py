"""Pages that have ended here but for children that are not stored yet."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from time import monotonic
from typing import Final

from crawler.frontier.messages import Handle
from crawler.worker.children import Children
from crawler.worker.lease_endings import Ending

LOOK_SECONDS: Final = 1.0  # between two looks for those that wait too long
MOST_KEPT: Final = 64 * 2**20  # bytes of requests that find no room; beyond it the pages that wait longest go back


class Waiting:
    """Holds back the ending of a page until its own children are stored, and of no other page.

    *patience*: seconds for which a page waits, a lease; then it is given back, and its children are found again.
    """

    def __init__(self, children: Children, patience: float, clock: Callable[[], float] = monotonic) -> None:
        self._children = children
        self._patience = patience
        self._clock = clock
        self._pages: dict[Handle, tuple[Ending, float]] = {}  # in the order in which they began to wait
        self._look_at = float("-inf")

    def __len__(self) -> int:
        return len(self._pages)

    @property
    def handles(self) -> list[Handle]:
        """Their leases, which have to be renewed."""
        return list(self._pages)

    def hold_back(self, endings: deque[Ending], count: int) -> list[Handle]:
        """Take those of the first *count* endings out whose children are not stored; returns whose they are."""
        first = [endings.popleft() for _ in range(count)]
        held = {handle_of(ending): ending for ending in first if self._children.pending(handle_of(ending))}
        endings.extendleft(reversed([ending for ending in first if handle_of(ending) not in held]))
        self._pages |= {handle: (ending, self._clock()) for handle, ending in held.items()}
        return list(held)

    def release(self, handle: Handle) -> Ending | None:
        """The ending that waits for the children of *handle*, once: they are stored."""
        ending, _ = self._pages.pop(handle, (None, 0.0))
        return ending

    def forget(self, handles: Sequence[Handle]) -> None:
        """Their leases are lost: whoever has these pages now finds their children."""
        self._children.drop(handles)
        for handle in handles:
            self._pages.pop(handle, None)

    def give_up(self, *, everything: bool = False) -> list[Ending]:
        """The endings, without their children, of the pages that have waited for too long; or of all."""
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


def handle_of(ending: Ending) -> Handle:
    """The lease that *ending* ends."""
    return ending if isinstance(ending, tuple) else ending.handle
