"""What keeps a worker from leasing although it has free slots."""

from __future__ import annotations

import logging

logger = logging.getLogger(__name__)


class Pauses:
    """Reasons, each with an owner who sets and clears it, and nobody else's.

    *stop*: nothing new is leased, because storage has nowhere to put items: buffered requests go back and those in
    flight wait; the time they wait does not count towards FRONTIER_HARD_CAP_SECONDS. *slow*: one request is leased at a
    time, because Redis is full: never none, for pages without new links make room.
    """

    def __init__(self) -> None:
        self._stops: dict[str, str] = {}
        self._slows: dict[str, str] = {}

    @property
    def reason(self) -> str:
        """Why nothing is leased, in words; empty: leasing goes on."""
        return "; ".join(self._stops.values())

    @property
    def slowed(self) -> str:
        """Why one request is leased at a time; empty: as many as there are places."""
        return "; ".join(self._slows.values())

    def stop(self, owner: str, reason: str) -> None:
        """On with a reason, off with none; says so when that changes."""
        _set(self._stops, owner, reason, "Nothing new is leased: %s", "Leasing goes on")

    def slow(self, owner: str, reason: str) -> None:
        """As `stop`."""
        _set(self._slows, owner, reason, "One request is leased at a time: %s", "Leasing goes on at full speed")


def _set(reasons: dict[str, str], owner: str, reason: str, begun: str, over: str) -> None:
    if reason and owner not in reasons:
        logger.warning(begun, reason)
    if reason:
        reasons[owner] = reason
    elif reasons.pop(owner, "") and not reasons:
        logger.warning(over)
