"""ASYNCIO_EVENT_LOOP of the project: uvloop, with timers that never fire early.

uvloop rounds a delay to whole milliseconds and counts it from a clock truncated to milliseconds, so a timer may fire
1.5 ms before its time. Whatever works in periods (Scrapy's LogStats, memory and close checks, Twisted's LoopingCall)
then finds a few microseconds left, which round to 0, and is called in a tight loop until its time comes.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Callable
from contextvars import Context
from math import ceil, floor, isfinite
from typing import Final, TypeVarTuple

import uvloop

_Ts = TypeVarTuple("_Ts")
_COARSE_CLOCK: Final = 6  # Linux' CLOCK_MONOTONIC_COARSE, which libuv reads where its resolution is 1 ms or better
_LAG_MS: Final = int(sys.platform == "linux" and time.clock_getres(_COARSE_CLOCK) <= 0.001)


class Loop(uvloop.Loop):
    """Timers fire at their time or up to 1 ms later (2 ms where libuv reads a coarse clock)."""

    def call_later(
        self, delay: float, callback: Callable[[*_Ts], object], *args: *_Ts, context: Context | None = None
    ) -> asyncio.TimerHandle:
        """As asyncio's; `call_at`, `asyncio.sleep` and `asyncio.timeout` also end up here."""
        if delay > 0 and isfinite(delay):
            now = time.monotonic() * 1000
            delay = (ceil(now + delay * 1000) - floor(now) + _LAG_MS) / 1000
        return super().call_later(delay, callback, *args, context=context)
