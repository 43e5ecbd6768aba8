"""A worker whose machine has nothing left for another connection: it leases nothing for a while."""

from __future__ import annotations

import asyncio
from typing import Final

from crawler.worker.pauses import Pauses

REST_SECONDS: Final = 30.0  # since the last failure: until then others do the work, and files are closed here


class Shortages:
    """Without it such a worker took request after request, and made dead letters of them within seconds."""

    def __init__(self, pauses: Pauses) -> None:
        self._pauses = pauses
        self._over: asyncio.TimerHandle | None = None

    def met(self, lacks: str) -> None:
        """Lease nothing for REST_SECONDS from now: *lacks* says why."""
        self._pauses.stop("machine", lacks)
        if self._over is not None:
            self._over.cancel()
        self._over = asyncio.get_running_loop().call_later(REST_SECONDS, self._pauses.stop, "machine", "")
