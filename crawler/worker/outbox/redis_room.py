"""Whether Redis has room, as one worker sees it, and what that means for its leasing."""

from __future__ import annotations

from crawler.frontier.frontier import Frontier
from crawler.worker.pauses import Pauses


class RedisRoom:
    """Slows leasing while all shards are above FRONTIER_MEMORY_LIMIT, or refuse requests found on pages of others.

    Pages whose requests find no room are put off; once there is room they are all queued at once.
    """

    def __init__(self, frontier: Frontier, pauses: Pauses) -> None:
        self._frontier = frontier
        self._pauses = pauses
        self._recall = True  # this worker's predecessor may have put some off

    @property
    def full(self) -> bool:
        """Whether leasing is slowed."""
        return bool(self._pauses.slowed)

    def refused(self) -> None:
        """Note that Redis refused requests of a page."""
        self._pauses.slow("Redis refuses new requests: pages wait until the requests found on them are stored")

    async def look(self, *, refused: bool) -> bool:
        """Check how full Redis is. *refused*: requests of this worker wait for room. True if there is room for start
        URLs."""
        gauge, limit = self._frontier.gauge, self._frontier.config.memory_limit
        used, full = await gauge.used(), await gauge.full()
        if full.issuperset(self._frontier.shards.there):
            self._pauses.slow(f"{await gauge.told()}, FRONTIER_MEMORY_LIMIT is {limit:.0%}")
        elif not refused:
            self._pauses.slow("")
        await self._look_for_what_was_put_off(used < (1 + limit) / 2)
        return used < limit

    async def _look_for_what_was_put_off(self, has_room: bool) -> None:
        if has_room and self._recall:
            await self._frontier.recall()
        self._recall = not has_room
