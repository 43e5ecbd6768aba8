"""How full Redis is, and what that means for new work."""

from __future__ import annotations

import logging
from collections.abc import Callable
from time import monotonic
from typing import Any, Final

from crawler.frontier.config import FrontierConfig
from crawler.frontier.server.drops import seen
from crawler.frontier.server.failures import translating
from crawler.frontier.server.known_servers import SECTIONS
from crawler.frontier.server.server_check import infos

REFRESH_SECONDS: Final = 1.0

logger = logging.getLogger(__name__)


class Backpressure:
    """Checks the fullest server at most once a second.

    First the intake of seeds pauses (high-water marks), then pushes are refused (limits), and leasing slows down so
    that children of pages in flight find room.
    """

    def __init__(self, client: Any, config: FrontierConfig, clock: Callable[[], float] = monotonic) -> None:
        self._client = client
        self._config = config
        self._clock = clock
        self._read_at = float("-inf")
        self._memory = 0.0
        self._evicted: dict[str, int] = {}  # by server: keys that it has thrown away since it was started
        self.on_eviction: Callable[[], None] = lambda: None  # called after an eviction

    async def used(self) -> float:
        """Share of maxmemory in use on the fullest server; 0 without a limit."""
        if self._clock() - self._read_at >= REFRESH_SECONDS:
            self._read_at = self._clock()
            with translating():
                servers = await infos(self._client, "memory", "stats", *SECTIONS)
            self._memory = max(map(_used, servers.values()))
            self._look_for_evictions([*servers.values()])
            seen(self._client, servers)
        return self._memory

    async def memory_full(self) -> bool:
        """Whether memory is above FRONTIER_MEMORY_LIMIT."""
        return await self.used() >= self._config.memory_limit

    async def why_full(self, queued: int) -> str:
        """Why nothing new is accepted with *queued* requests in the frontier; "" while it is."""
        high_memory, high_queue = self._config.memory_high_water, self._config.queue_high_water
        if (used := await self.used()) >= high_memory:
            return f"Redis uses {used:.0%} of its maxmemory, FRONTIER_MEMORY_HIGH_WATER is {high_memory:.0%}"
        if queued >= high_queue:
            return f"{queued:,} requests are queued, FRONTIER_QUEUE_HIGH_WATER is {high_queue:,}"
        return ""

    def _look_for_evictions(self, servers: list[dict[str, Any]]) -> None:
        """A server that throws keys away to make room tells nobody: each of them may be a queue, or what is known."""
        known = self._evicted
        self._evicted = {str(one.get("run_id", "")): int(one.get("evicted_keys") or 0) for one in servers}
        gone = sum(max(0, count - known.get(name, count)) for name, count in self._evicted.items())
        if gone:
            policies = ", ".join(sorted({str(one.get("maxmemory_policy")) for one in servers}))
            logger.error(
                "Redis has thrown away %d keys to make room (maxmemory-policy %s): queued requests may be among them. "
                "Set maxmemory-policy to noeviction, raise maxmemory, and push again what is missing",
                gone,
                policies,
            )
            self.on_eviction()


def _used(server: dict[str, Any]) -> float:
    limit = int(server.get("maxmemory") or 0)
    return int(server["used_memory"]) / limit if limit else 0.0
