"""Reasons that keep a worker from leasing although it has free slots."""

from __future__ import annotations

import asyncio
import logging
from typing import Final

MACHINE_SECONDS: Final = 30.0  # since the last failure
FAILOVER_SECONDS: Final = 3.0  # other workers ask the Sentinels each second

logger = logging.getLogger(__name__)


class Pauses:
    """*stop*: nothing is leased, because storage has nowhere to put items, say: buffered requests go back and those in
    flight wait; that time does not count towards FRONTIER_HARD_CAP_SECONDS. *slow*: one request is leased at a time,
    because Redis is full: never none, as pages without new links make room.
    """

    def __init__(self) -> None:
        self._stops: dict[str, str] = {}  # reasons by owner
        self._ends: dict[str, asyncio.TimerHandle] = {}  # of those that end by themselves
        self.slowed = ""  # why only one request is leased at a time; "" for full speed

    @property
    def reason(self) -> str:
        """Why nothing is leased; "" while leasing goes on."""
        return "; ".join(self._stops.values())

    def stop(self, owner: str, reason: str) -> None:
        """Set the reason of *owner*, or clear it with ""; logs a change."""
        if reason:
            if owner not in self._stops:
                logger.warning("Leasing is paused: %s", reason)
            self._stops[owner] = reason
        elif self._stops.pop(owner, "") and not self._stops:
            logger.warning("Leasing resumes")

    def lacking(self, what: str) -> None:
        """This machine has nothing left for another connection, as *what* says: for a while others do the work, and
        files are closed here. Else this worker took request after request, and made dead letters of them."""
        self._rest("machine", what, MACHINE_SECONDS)

    def failed_over(self) -> None:
        """Sentinels have replaced Redis. The old primary may run on, and lease each host at its pace to workers that
        have not heard of the new one: two primaries together would shorten the delays."""
        reason = "Redis has failed over, and other workers may still be with the old primary"
        self._rest("failover", reason, FAILOVER_SECONDS)

    def _rest(self, owner: str, reason: str, seconds: float) -> None:
        """`stop` for so long from now on, also again, while it lasts."""
        self.stop(owner, reason)
        if owner in self._ends:
            self._ends[owner].cancel()
        self._ends[owner] = asyncio.get_running_loop().call_later(seconds, self.stop, owner, "")

    def slow(self, reason: str) -> None:
        """The same for the one reason to slow down."""
        before, self.slowed = self.slowed, reason
        if reason and not before:
            logger.warning("Leasing is slowed to one request at a time: %s", reason)
        if before and not reason:
            logger.warning("Leasing resumes at full speed")
