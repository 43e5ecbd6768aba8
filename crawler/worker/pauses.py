"""Reasons that keep a worker from leasing although it has free slots."""

from __future__ import annotations

import logging

logger = logging.getLogger(__name__)


class Pauses:
    """Reasons, each set and cleared only by its owner.

    *stop*: nothing is leased, because storage has nowhere to put items: buffered requests go back and those in flight
    wait; that time does not count towards FRONTIER_HARD_CAP_SECONDS. *slow*: one request is leased at a time, because
    Redis is full: never none, as pages without new links make room.
    """

    def __init__(self) -> None:
        self._stops: dict[str, str] = {}
        self._slows: dict[str, str] = {}

    @property
    def reason(self) -> str:
        """Why nothing is leased; empty while leasing goes on."""
        return "; ".join(self._stops.values())

    @property
    def slowed(self) -> str:
        """Why only one request is leased at a time; empty for full speed."""
        return "; ".join(self._slows.values())

    def stop(self, owner: str, reason: str) -> None:
        """Set with a reason, clear with ""; logs a change."""
        _set(self._stops, owner, reason, "Leasing is paused: %s", "Leasing resumes")

    def slow(self, owner: str, reason: str) -> None:
        """Like `stop`."""
        _set(
            self._slows,
            owner,
            reason,
            "Leasing is slowed to one request at a time: %s",
            "Leasing resumes at full speed",
        )


def _set(reasons: dict[str, str], owner: str, reason: str, begun: str, over: str) -> None:
    if reason and owner not in reasons:
        logger.warning(begun, reason)
    if reason:
        reasons[owner] = reason
    elif reasons.pop(owner, "") and not reasons:
        logger.warning(over)
