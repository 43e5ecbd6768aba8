"""When a busy worker drains itself, because suspects wait that only an idle worker may lease."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

# Chosen uniformly between: in a large fleet one worker soon makes room, and never all at once.
WAIT_SECONDS: Final = (5.0, 60.0)
LONGEST_WAIT: Final = 900.0
TURN_SECONDS: Final = 5.0  # how long it leases only suspects


class SuspectTurns:
    """A suspect may have killed its worker twice, so it is leased alone; without this a busy fleet would never lease
    it.

    A turn without a suspect (the worker did not drain in time, the suspect's host is blocked, another worker was first)
    doubles the wait for the next.
    """

    def __init__(self, clock: Callable[[], float], uniform: Callable[[float, float], float]) -> None:
        self._clock = clock
        self._uniform = uniform
        self._at = math.inf  # the next or current turn
        self._factor = 1.0
        self._served = False

    def saw(self, suspects: int, *, taken: bool, idle: bool) -> None:
        """Note a lease call of an *idle* or busy worker: hosts that have *suspects*, and whether one was *taken*."""
        self._served = self._served or taken
        if not suspects:
            self._at, self._factor = math.inf, 1.0
        elif self._at == math.inf or (idle and not taken and self.on()):
            self._plan()

    def on(self) -> bool:
        """Whether to lease only suspects now."""
        if self._clock() > self._at + TURN_SECONDS:
            self._plan()
        return self._clock() >= self._at

    def _plan(self) -> None:
        in_vain = self._at < math.inf and not self._served
        self._factor = 2 * self._factor if in_vain else 1.0
        self._served = False
        self._at = self._clock() + min(LONGEST_WAIT, self._factor * self._uniform(*WAIT_SECONDS))
