"""Whether Redis has room for more, as one worker sees it, and what that means for its leasing."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import Final

from crawler.frontier.frontier import Frontier
from crawler.worker.pauses import Pauses

OWNER: Final = "redis"  # of a reason in Pauses
LONGEST_MS: Final = 900_000  # that a page is put off, which is recalled once there is room


class Room:
    """Slows leasing down while Redis is beyond FRONTIER_MEMORY_LIMIT, or refuses the requests found on pages.

    A page whose requests find no room is put off for as long as that has lasted already, so that each try comes
    twice as late as the one before. Once there is room, all that were put off are queued at once.
    """

    def __init__(self, frontier: Frontier, pauses: Pauses, clock: Callable[[], float] = monotonic) -> None:
        self._frontier = frontier
        self._pauses = pauses
        self._clock = clock
        self._since: float | None = None
        self._recall = True  # perhaps this worker's predecessor put some off

    @property
    def full(self) -> bool:
        """Whether one request is leased at a time."""
        return self._since is not None

    @property
    def delay_ms(self) -> int:
        """For how long a page is put off now."""
        lasted = self._clock() - self._since if self._since is not None else 0.0
        return min(LONGEST_MS, max(self._frontier.config.lease_ms, round(lasted * 1000)))

    def refused(self) -> None:
        """Redis does not take the requests of a page."""
        self._slow("Redis refuses new requests: pages wait until those found on them are stored")

    async def look(self, *, refused: bool) -> bool:
        """How full is it now? *refused*: requests of this worker wait for room. True: there is some for start URLs."""
        used, limit = await self._frontier.gauge.used(), self._frontier.config.memory_limit
        if used >= limit:
            self._slow(f"Redis uses {used:.0%} of its maxmemory, FRONTIER_MEMORY_LIMIT is {limit:.0%}")
        elif not refused:
            self._since = None
            self._pauses.slow(OWNER, "")
        await self._look_for_what_was_put_off(used < (1 + limit) / 2)
        return used < limit

    async def _look_for_what_was_put_off(self, has_room: bool) -> None:
        if has_room and self._recall:
            await self._frontier.recall()
        self._recall = not has_room

    def _slow(self, reason: str) -> None:
        if self._since is None:
            self._since = self._clock()
        self._pauses.slow(OWNER, reason)
