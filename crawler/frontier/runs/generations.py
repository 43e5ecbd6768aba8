"""Crawl generations: fingerprints known in one are new to the next."""

from __future__ import annotations

import asyncio
from typing import Final

from crawler.frontier.runs.runs import Runs
from crawler.frontier.server.shards import Shards

PAUSE_SECONDS: Final = 0.005


class Generations:
    """The current generation of each spider, a number as text; children inherit their parent's."""

    def __init__(self, shards: Shards) -> None:
        self._shards = shards
        self._runs = Runs(shards)
        self._key = shards.key(0, "current")

    async def current(self, spider: str) -> str:
        """The generation of pushes that name none; "0" until one was opened."""
        number = await self._shards.client.hget(self._key, spider)
        return number.decode() if number else "0"

    async def tidy(self) -> None:
        """Forget everything that may be forgotten, in slices with pauses, in which Redis serves others."""
        left = 1
        while left:
            left = await self.sweep() + await self._forget_outlived() + sum(await self._shards.run_all("dead_index"))
            await asyncio.sleep(PAUSE_SECONDS)

    async def _forget_outlived(self) -> int:
        """Where there are windows, check all fingerprints for an expired window once per quarter of the window."""
        if not self._shards.scripts.has_windows:
            return 0
        return sum(await self._shards.run_all("window", self._shards.config.window_s * 250))

    async def sweep(self) -> int:
        """Take one small step of forgetting idle hosts and finished generations; returns how much is left.

        A run's own generation is forgotten with the run, its fingerprints FRONTIER_RETENTION_SECONDS later. Any other
        one is forgotten that long after its last push or ack, if a newer one is open and no run is in it. Any worker
        may call this.
        """
        last, runs = await self._runs.unfinished()
        used = [f"{run.spider}:{name}" for run in runs for name in (run.generation, run.shares)]
        current = await self._shards.client.hgetall(self._key)
        flat = [part for pair in current.items() for part in pair]
        return sum(await self._shards.run_all("sweep", last, len(runs), *used, *flat))
