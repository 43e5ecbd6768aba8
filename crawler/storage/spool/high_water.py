"""Stops a worker from leasing when items have nowhere to go."""

from __future__ import annotations

from collections.abc import Callable

from crawler.storage.outage import MongoOutage
from crawler.storage.spool.fallback import SpoolFallback


class HighWater:
    """Calls *pause* with a reason, and with "" when leasing may resume.

    Without a spool: while MongoDB is away. With one: while that takes nothing (a full disk), and from *mark* (share of
    the spool in use) until it is down to half of that, to avoid flapping.
    """

    def __init__(
        self, outage: MongoOutage, fallback: SpoolFallback | None, mark: float, pause: Callable[[str], None]
    ) -> None:
        self._outage = outage
        self._fallback = fallback
        self._mark = mark
        self._pause = pause
        self._high = False
        outage.changed = self._look
        if fallback is not None:
            fallback.changed = self._look

    def _look(self) -> None:
        self._pause(self._reason())

    def _reason(self) -> str:
        if self._fallback is None:
            return "MongoDB is away, and there is no spool (SPOOL_DIR)" if self._outage.since is not None else ""
        if self._fallback.refused and (self._outage.on or self._fallback.taken):
            return f"items have nowhere to go: {self._fallback.refused}"
        share = self._fallback.share
        self._high = share >= (self._mark / 2 if self._high else self._mark)
        return f"the spool is {share:.0%} full, SPOOL_HIGH_WATER is {self._mark:.0%}" if self._high else ""
