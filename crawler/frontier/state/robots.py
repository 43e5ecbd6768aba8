"""robots.txt for the whole fleet: one worker at a time fetches a file, and all use it."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from typing import Any, Final

from crawler.frontier.server.batched_calls import BatchedCalls
from crawler.frontier.server.shards import Shards
from crawler.frontier.state.budgets import Terms
from crawler.policy.robots.responses import RobotsVerdict

LOCK_MS: Final = 5_000  # extended while the fetch runs: the delay that a killed worker causes
MOST: Final = 16  # files per call: storing them takes Redis about a millisecond
SMALL: Final = 4 * 1024  # bytes of a file that zlib packs with little memory

Row = tuple[bytes | str | float, ...]


@dataclass(frozen=True, slots=True)
class CachedRobots:
    """A fetched file. *rules*: the text to obey, "" if nothing is forbidden or it was unreachable."""

    verdict: RobotsVerdict
    status: int  # of the last response, 0 without one
    fresh_ms: int  # time until it has to be fetched again
    rules: str = ""
    sitemaps: tuple[str, ...] = ()
    failing_ms: int = field(default=0, compare=False)  # how long it has been unreachable


@dataclass(frozen=True, slots=True)
class FetchTask:
    """This worker has to fetch, for LOCK_MS at a time."""

    failing_ms: int  # how long it has been unreachable, 0 if that is new


class Robots:
    """An origin (`https://shop.example`) is on the shard of the politeness group *host* of the pages that need it."""

    def __init__(self, shards: Shards) -> None:
        self._shards = shards
        self._claims = self._gathered("robots_claim", lambda: (LOCK_MS,))
        self._keeps = self._gathered("robots_keep", tuple)

    def _gathered(self, script: str, first: Callable[[], tuple[int, ...]]) -> list[BatchedCalls[Row]]:
        """Calls of *script* for each shard, with rows behind *first*."""

        async def send(shard: int, rows: list[Row]) -> Sequence[Any]:
            answers: list[Any] = await self._shards.run(script, shard, *first(), *chain.from_iterable(rows))
            return answers

        return [BatchedCalls(partial(send, shard), MOST) for shard in range(self._shards.count)]

    async def claim(self, host: str, origin: str, worker: str) -> CachedRobots | FetchTask | None:
        """What is known of *origin*, else the task to fetch it; None while another worker does. Calling it again
        extends the task."""
        shard = self._shards.of_host(host)
        kind, *rest = await self._claims[shard].ask((origin, worker))
        if kind == b"known":
            verdict, fresh_ms, status, body, failing_ms = rest
            try:
                rules = zlib.decompress(body).decode()
                return CachedRobots(RobotsVerdict(verdict.decode()), status, fresh_ms, rules, failing_ms=failing_ms)
            except (ValueError, zlib.error):  # damaged: fetch it again
                await self._shards.client.delete(self._shards.key(shard, f"robots:{origin}"))
                return await self.claim(host, origin, worker)
        return FetchTask(rest[0]) if kind == b"fetch" else None

    async def kept(self, host: str, origin: str) -> CachedRobots | None:
        """What the fleet knows of *origin*, fresh or not; None if it was not fetched recently."""
        shard = self._shards.of_host(host)
        names = ["verdict", "status", "body"]
        verdict, status, body = await self._shards.client.hmget(self._shards.key(shard, f"robots:{origin}"), names)
        try:
            rules = zlib.decompress(body or b"").decode() if body else ""
            return CachedRobots(RobotsVerdict(verdict.decode()), int(status), 0, rules) if verdict else None
        except (ValueError, TypeError, zlib.error):
            return None

    async def keep(
        self,
        host: str,
        origin: str,
        worker: str,
        known: CachedRobots,
        *,
        keep_ms: int,
        delay_ms: int = 0,
        hours: Terms | None = None,
    ) -> int | None:
        """Tell the fleet, for *keep_ms*, and that the file asks for *delay_ms* between two requests and for *hours*;
        what an earlier one asked for stands while it cannot be reached. Of a host's origins the last one says them.

        Returns the host's delay now in ms, more where it is left alone for longer; None when the task had passed to
        another worker meanwhile.
        """
        asked = "" if known.verdict is RobotsVerdict.LATER else delay_ms
        texts = (packed(known.rules.encode()), "\n".join(known.sitemaps))
        terms = b"" if hours is None else hours.packed()
        row = (known.verdict, known.status, known.fresh_ms, keep_ms, *texts, host, asked, terms)
        now_ms = int(await self._keeps[self._shards.of_host(host)].ask((origin, worker, *row)))
        return now_ms if now_ms >= 0 else None

    async def sitemaps(self, host: str) -> Mapping[str, list[str]]:
        """The sitemaps named by the robots.txt of *host*'s origins, by origin."""
        shard, client = self._shards.of_host(host), self._shards.client
        names = await client.hkeys(self._shards.key(shard, f"origins:{host}"))
        origins = [name.decode(errors="replace") for name in names]
        named = [await client.hget(self._shards.key(shard, f"robots:{origin}"), "sitemaps") for origin in origins]
        found = zip(origins, named, strict=True)
        return {origin: raw.decode(errors="replace").split("\n") for origin, raw in found if raw}


def packed(text: bytes) -> bytes:
    """*text* as `zlib.decompress` reads it. To clear the 256 KB that zlib works with by default takes ten times as long
    as to pack the few lines that most files have."""
    if len(text) > SMALL:
        return zlib.compress(text)
    packing = zlib.compressobj(wbits=SMALL.bit_length() - 1, memLevel=4)
    return packing.compress(text) + packing.flush()
