"""What the state machines share: a client on a loop of their own, and the server's clock in the test's hands."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import Any

import redis.asyncio

CLOCK = "local function server_ms() return tonumber(redis.call('GET', KEYS[1] .. ':clock')) end"
SET_CLOCK = "#!lua flags=allow-oom\nredis.call('SET', KEYS[1], ARGV[1])"


class Harness:
    """Runs coroutines from the plain functions that hypothesis calls."""

    def __init__(self, url: str) -> None:
        self._loop = asyncio.new_event_loop()
        self.client: Any = redis.asyncio.from_url(url)

    def run(self, call: Awaitable[Any]) -> Any:
        async def awaited() -> Any:
            return await call

        return self._loop.run_until_complete(awaited())

    def set_clock(self, key: str, ms: int) -> None:
        self.run(self.client.eval(SET_CLOCK, 1, key, ms))

    def close(self) -> None:
        self.run(self.client.aclose())
        self._loop.close()
