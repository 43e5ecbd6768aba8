"""Which sitemaps of a run are still to be read: its last one seals it, one that fails leaves it open."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from hashlib import sha1
from typing import Final

from crawler.frontier.server.shards import Shards

KEPT_MS: Final = 30 * 86_400_000
MOST: Final = 100_000  # sitemaps of a run, and of a spider whose state is known
LASTMOD_MOST: Final = 64  # characters
UNKNOWN: Final = -1  # the twin of the one in lua/runs/sitemap.lua


class SitemapVerdict(IntEnum):
    """What to do with a sitemap that another one names."""

    TOO_MANY = -1
    UNCHANGED = 0  # since it was read last, in any run
    READ = 1


class Sitemaps:
    """Of all runs; forgotten 30 days after the last change."""

    def __init__(self, shards: Shards) -> None:
        self._shards = shards

    async def add(
        self, spider: str, generation: str, named: Sequence[tuple[str, str]], *, changed_only: bool = False
    ) -> list[SitemapVerdict]:
        """What to do with each URL of *named*, which come with their lastmod. May be repeated."""
        parts = [part for url, lastmod in named for part in (digest(url), lastmod[:LASTMOD_MOST])]
        flag = "1" if changed_only else "0"
        _, *verdicts = await self._shards.run("sitemap", 0, spider, generation, flag, "", "", KEPT_MS, MOST, *parts)
        return [SitemapVerdict(verdict) for verdict in verdicts]

    async def left(self, spider: str, generation: str) -> int:
        """How many of a run are still to be read."""
        return int(await self._shards.client.zcount(self._shards.key(0, f"sitemaps:{spider}:{generation}"), 0, 0))

    async def end(self, spider: str, generation: str, url: str, lastmod: str = "") -> int:
        """*url* was read to its end and all that it names is queued; returns how many are left, UNKNOWN if it is none
        of the run's: Redis was emptied, and has given the run's number to another one. May be repeated."""
        told = digest(url), lastmod[:LASTMOD_MOST]
        left: int = (await self._shards.run("sitemap", 0, spider, generation, "0", *told, KEPT_MS, MOST))[0]
        return left


def digest(url: str) -> bytes:
    """What a sitemap is known by."""
    return sha1(url.encode("utf-8", "surrogatepass"), usedforsecurity=False).digest()
