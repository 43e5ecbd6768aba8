"""Crawl generations: what is known to one is new to the next."""

from __future__ import annotations

from crawler.frontier.shards import Shards


class Generations:
    """The current generation of each spider, a number as text; children inherit their parent's."""

    def __init__(self, shards: Shards) -> None:
        self._shards = shards
        self._key = shards.key(0, "current")

    async def current(self, spider: str) -> str:
        """What a push without a generation of its own belongs to; "0" until one was opened."""
        number = await self._shards.client.hget(self._key, spider)
        return number.decode() if number else "0"

    async def open(self, spider: str) -> str:
        """Start a new generation: every URL of *spider* may be crawled once more."""
        return str(await self._shards.client.hincrby(self._key, spider, 1))
