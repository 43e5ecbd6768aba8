"""Whether a disk takes what is written to it, as its writer tells others."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Final

logger = logging.getLogger(__name__)

STEADY_SECONDS: Final = 30.0


class DiskRoom:
    """Full from the first refusal until the disk has taken everything for STEADY_SECONDS: on a disk that is nearly
    full a small batch fits and the next one does not, which would stop and start the worker with every batch.

    *changed* is called whenever `reason` has changed. One log line says what is waited for; *name* is whose disk it is.
    """

    def __init__(self, changed: Callable[[], None], name: str) -> None:
        self._name = name
        self.reason = ""  # why it is full; empty while there is room
        self._changed = changed
        self._is_told = False  # that it takes things again; it may refuse and take by turns
        self._steady: asyncio.TimerHandle | None = None  # while it takes all since the last refusal

    def refused(self, reason: str) -> bool:
        """Note a refusal; whether it is the first."""
        self.forget()
        first, self.reason = not self.reason, reason
        self._changed()
        return first

    def taken(self) -> None:
        """Note a success."""
        if self.reason and self._steady is None:
            if not self._is_told:
                self._is_told = True
                words = "The disk takes what goes to %s again; once it has for %g s, leasing may resume"
                logger.warning(words, self._name, STEADY_SECONDS)
            self._steady = asyncio.get_running_loop().call_later(STEADY_SECONDS, self.freed)

    def freed(self) -> None:
        """There is room again."""
        self.forget()
        if self.reason:
            self.reason, self._is_told = "", False
            self._changed()

    def forget(self) -> None:
        """Wait for nothing, such as when the worker ends."""
        if self._steady is not None:
            self._steady.cancel()
            self._steady = None
