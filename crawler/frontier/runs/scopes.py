"""Scopes that runs were given, texts that mean nothing here, and what they cut."""

from __future__ import annotations

from collections.abc import Mapping

from crawler.frontier.server.shards import Shards


class RunScopes:
    """One text for each run that has a scope of its own; it goes with the run's counters."""

    def __init__(self, shards: Shards) -> None:
        self._shards = shards
        self._key = shards.key(0, "scope")

    async def put(self, spider: str, generation: str, scope: str) -> None:
        """What is given first stays: workers read it once."""
        await self._shards.client.hsetnx(self._key, f"{spider}:{generation}", scope)

    async def get(self, spider: str, generation: str) -> str:
        """ "" for a run without."""
        raw = await self._shards.client.hget(self._key, f"{spider}:{generation}")
        return raw.decode(errors="replace") if raw else ""

    async def count_cuts(self, cuts: Mapping[tuple[str, str, str], int]) -> None:
        """Count links cut by the scope, by spider, generation and rule."""
        await self._shards.run("cut", 0, *(part for key, count in cuts.items() for part in (*key, count)))
