"""Leasing rests after a failover that Sentinels have made."""

from __future__ import annotations

import asyncio
from typing import Final

from crawler.worker.pauses import Pauses

REST_SECONDS: Final = 3.0  # other workers ask the Sentinels each second
_OWNER: Final = "failover"
_REASON: Final = "Redis has failed over, and other workers may still be with the old primary"


class FailoverRest:
    """The old primary may run on, and lease each host at its pace to workers that have not heard of the new one: two
    primaries together would shorten the delays."""

    def __init__(self, pauses: Pauses, seconds: float = REST_SECONDS) -> None:
        self._pauses = pauses
        self._seconds = seconds
        self._end: asyncio.TimerHandle | None = None

    def begin(self) -> None:
        """Also again, while it lasts."""
        self._pauses.stop(_OWNER, _REASON)
        if self._end is not None:
            self._end.cancel()
        self._end = asyncio.get_running_loop().call_later(self._seconds, self._pauses.stop, _OWNER, "")
