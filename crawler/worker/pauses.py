"""Reasons that keep a worker from leasing although it has free slots."""

from __future__ import annotations

import logging

logger = logging.getLogger(__name__)


class Pauses:
    """*stop*: nothing is leased, because storage has nowhere to put items, say: buffered requests go back and those in
    flight wait; that time does not count towards FRONTIER_HARD_CAP_SECONDS. *slow*: one request is leased at a time,
    because Redis is full: never none, as pages without new links make room.
    """

    def __init__(self) -> None:
        self._stops: dict[str, str] = {}  # reasons by owner
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

    def slow(self, reason: str) -> None:
        """The same for the one reason to slow down."""
        before, self.slowed = self.slowed, reason
        if reason and not before:
            logger.warning("Leasing is slowed to one request at a time: %s", reason)
        if before and not reason:
            logger.warning("Leasing resumes at full speed")
