"""How full Redis is, and what that means for new work."""

from __future__ import annotations

import logging
from collections.abc import Callable
from time import monotonic
from typing import Any, Final

from crawler.frontier.server.drops import seen
from crawler.frontier.server.known_servers import SECTIONS
from crawler.frontier.server.server_check import EVICTS, address, evicts, infos, places, primaries
from crawler.frontier.server.shards import Shards

REFRESH_SECONDS: Final = 1.0

logger = logging.getLogger(__name__)


class Backpressure:
    """Checks the servers of our shards at most once a second.

    First the intake of seeds pauses (high-water marks of the fullest one), then a full one's shards refuse pushes
    (limits), and their leasing slows down so that children of pages in flight find room.
    """

    def __init__(self, client: Any, shards: Shards, clock: Callable[[], float] = monotonic) -> None:
        self._client = client
        self._shards = shards
        self._config = shards.config
        self._clock = clock
        self._read_at = float("-inf")
        self._memory: dict[int, tuple[float, str]] = {}  # by shard: the share in use, and the node of a Cluster
        self._evicts = True  # as far as is told: the check at a start tells of its own
        self._evicted: dict[str, int] = {}  # by server: keys that it has thrown away since it was started
        self.on_eviction: Callable[[], None] = lambda: None  # called after an eviction

    async def used(self) -> float:
        """Share of maxmemory in use on the fullest server; 0 without a limit."""
        return (await self._fullest())[0]

    async def full(self) -> set[int]:
        """The shards whose server is above FRONTIER_MEMORY_LIMIT."""
        await self._look()
        return {shard for shard, (used, _) in self._memory.items() if used >= self._config.memory_limit}

    async def told(self) -> str:
        """How full the fullest server is, and which it is, as a person reads it."""
        used, node = await self._fullest()
        return f"Redis{node and f' at {node}'} uses {used:.0%} of its maxmemory"

    async def _fullest(self) -> tuple[float, str]:
        await self._look()
        return max(self._memory.values(), default=(0.0, ""))

    async def _look(self) -> None:
        if self._clock() - self._read_at < REFRESH_SECONDS:
            return
        self._read_at = self._clock()
        there = self._shards.there
        tags = [self._shards.tag(shard) for shard in there]
        with self._shards.scripts.rights.translating("INFO"):
            servers = await infos(self._client, "memory", "stats", *SECTIONS, keys=tags)
            nodes = places(self._client, tags)
        self._memory = {
            shard: (_used(servers[node]), node) for shard, node in zip(there, nodes, strict=True) if node in servers
        }
        self._look_for_evictions([*servers.values()])
        self._look_at_policy([*servers.values()])
        seen(self._client, servers, primaries(self._client))

    async def why_full(self, queued: int) -> str:
        """Why nothing new is accepted with *queued* requests in the frontier; "" while it is."""
        high_memory, high_queue = self._config.memory_high_water, self._config.queue_high_water
        if await self.used() >= high_memory:
            return f"{await self.told()}, FRONTIER_MEMORY_HIGH_WATER is {high_memory:.0%}"
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

    def _look_at_policy(self, servers: list[dict[str, Any]]) -> None:
        """Somebody may set another one under a crawl: that is told before anything is lost."""
        before, self._evicts = self._evicts, evicts(servers)
        if self._evicts and not before:
            logger.warning("Redis at %s: %s", address(self._client), EVICTS)


def _used(server: dict[str, Any]) -> float:
    limit = int(server.get("maxmemory") or 0)
    return int(server["used_memory"]) / limit if limit else 0.0
