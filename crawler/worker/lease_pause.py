"""What keeps a worker from leasing although it has room."""

from __future__ import annotations

import logging

logger = logging.getLogger(__name__)


class LeasePause:
    """Pulled by whoever cannot take what new pages would bring: storage, while it has nowhere to put items.

    While it is on, buffered requests go back and those in flight wait; the time they wait does not count towards
    FRONTIER_HARD_CAP_SECONDS.
    """

    def __init__(self) -> None:
        self.reason = ""  # in words; empty = off

    def set(self, reason: str) -> None:
        """On with a reason, off with none; says so when that changes."""
        if reason and not self.reason:
            logger.warning("Nothing new is leased: %s", reason)
        if self.reason and not reason:
            logger.warning("Leasing goes on")
        self.reason = reason
