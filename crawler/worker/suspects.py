"""When a busy worker drains itself, because requests wait that only an idle one may lease."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

WAIT_SECONDS: Final = (5.0, 60.0)  # chosen evenly: a large fleet soon has one that makes room, and never all at once
LONGEST_WAIT: Final = 900.0
TURN_SECONDS: Final = 5.0  # for so long it takes nothing but suspects


class SuspectTurns:
    """A suspect may have killed its worker twice, so it is leased alone; without this a busy fleet would never do so.

    A turn in which none was taken (the worker did not run empty in time, the suspect's host is blocked, another worker
    was first) doubles the wait for the next.
    """

    def __init__(self, clock: Callable[[], float], uniform: Callable[[float, float], float]) -> None:
        self._clock = clock
        self._uniform = uniform
        self._at = math.inf  # the next turn, or the present one
        self._factor = 1.0
        self._served = False

    def saw(self, suspects: int, *, taken: bool, idle: bool) -> None:
        """Note a lease call of an *idle* or a busy worker: hosts that have *suspects*, and whether one was *taken*."""
        self._served = self._served or taken
        if not suspects:
            self._at, self._factor = math.inf, 1.0
        elif self._at == math.inf or (idle and not taken and self.on()):
            self._plan()

    def on(self) -> bool:
        """Whether to take nothing else at present."""
        if self._clock() > self._at + TURN_SECONDS:
            self._plan()
        return self._clock() >= self._at

    def _plan(self) -> None:
        in_vain = self._at < math.inf and not self._served
        self._factor = 2 * self._factor if in_vain else 1.0
        self._served = False
        self._at = self._clock() + min(LONGEST_WAIT, self._factor * self._uniform(*WAIT_SECONDS))
