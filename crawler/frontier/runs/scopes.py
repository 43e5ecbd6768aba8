"""Scopes that runs were given: texts that mean nothing here."""

from __future__ import annotations

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
