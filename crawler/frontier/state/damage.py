"""Damaged data in Redis: set aside by the scripts, named in the log."""

from __future__ import annotations

import logging

from crawler.frontier.server.shards import Shards

logger = logging.getLogger(__name__)


class Damage:
    """Logs each value once when it is set aside; `{<shard>}:damaged` keeps the original."""

    def __init__(self, shards: Shards) -> None:
        self._shards = shards
        self._said: set[bytes] = set()
        self._counts: dict[int, int] = {}

    async def told(self, shard: int, count: int) -> None:
        """Log the new ones of *count* such values on *shard*."""
        if count == self._counts.get(shard, 0):
            return
        self._counts[shard] = count
        key = self._shards.key(shard, "damaged")
        for name in await self._shards.client.hkeys(key):
            if name not in self._said:
                self._said.add(name)
                logger.error(
                    "Redis held a foreign value at %s: moved to the hash %s; what it stood for is lost "
                    "or started anew. Does another program write there, or use this FRONTIER_KEY?",
                    name.decode(errors="backslashreplace"),
                    key,
                )
