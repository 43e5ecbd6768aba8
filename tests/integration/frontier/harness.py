"""What the state machines share: a client on a loop of their own, and the server's clock in the test's hands."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import Any

from redis.asyncio.cluster import RedisCluster
from scrapy.settings import BaseSettings

from crawler.frontier.server import connection

CLOCK = "local function server_ms() return tonumber(redis.call('GET', KEYS[1] .. ':clock')) end"
# The clock goes on while scripts run all the time: the last one ran just now. Clock and offset stand in T:state.
FLEET_LIVES = """#!lua flags=allow-oom
redis.call('SET', KEYS[1] .. ':clock', ARGV[1])
local clock, offset = struct.unpack('<dd', redis.call('GETRANGE', KEYS[1] .. ':state', 16, 31))
redis.call('SETRANGE', KEYS[1] .. ':state', 16, struct.pack('<d', math.max(clock, ARGV[1] + offset)))
"""
SET_CLOCK = "#!lua flags=allow-oom\nredis.call('SET', KEYS[1], ARGV[1])"


def everywhere(client: Any) -> dict[str, Any]:
    """Options of a command that is meant for all servers of *client*."""
    return {"target_nodes": RedisCluster.PRIMARIES} if isinstance(client, RedisCluster) else {}


async def all_keys(client: Any, pattern: str = "*") -> list[bytes]:
    """Of all servers of *client*; a Cluster's has no `scan_iter`."""
    return [*await client.keys(pattern, **everywhere(client))]


class Harness:
    """Runs coroutines from the plain functions that hypothesis calls."""

    def __init__(self, settings: BaseSettings) -> None:
        self._loop = asyncio.new_event_loop()
        self.client: Any = connection.connect(settings)
        self.run(self.client.flushall(**everywhere(self.client)))

    def run(self, call: Awaitable[Any]) -> Any:
        async def awaited() -> Any:
            return await call

        return self._loop.run_until_complete(awaited())

    def set_clock(self, key: str, ms: int) -> None:
        self.run(self.client.eval(SET_CLOCK, 1, key, ms))

    def set_maxmemory(self, limit: int) -> None:
        self.run(self.client.config_set("maxmemory", limit, **everywhere(self.client)))

    def close(self) -> None:
        self.run(self.client.aclose())
        self._loop.close()
