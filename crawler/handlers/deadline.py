"""A time limit for network input that does not mistake a blocked event loop for a slow host."""

from __future__ import annotations

import asyncio
from time import monotonic
from types import TracebackType
from typing import Final, Self

LATE_SECONDS: Final = 0.5  # a timer this late comes from a loop that could not read what had arrived


class Deadline:
    """Like `asyncio.timeout`. If the loop was blocked when time was up, the limit is extended by that time.

    A loop runs timers before it reads: without this, responses that arrived meanwhile would count as failures of their
    hosts.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._timeout = asyncio.timeout(None)
        self._timer: asyncio.TimerHandle | None = None

    async def __aenter__(self) -> Self:
        await self._timeout.__aenter__()
        self._timer = asyncio.get_running_loop().call_later(self._seconds, self._over, monotonic() + self._seconds)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._timer is not None:
            self._timer.cancel()
        await self._timeout.__aexit__(kind, error, trace)

    def _over(self, due: float) -> None:
        loop, late = asyncio.get_running_loop(), monotonic() - due
        if late < LATE_SECONDS:
            self._timeout.reschedule(loop.time())
        else:
            again = min(late, self._seconds)
            self._timer = loop.call_later(again, self._over, monotonic() + again)
