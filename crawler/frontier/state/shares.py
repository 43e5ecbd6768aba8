"""Limits of hosts on several shards: each shard spends its share, and what one has left goes to those that want it."""

from __future__ import annotations

import random
from collections.abc import Callable, Container, Sequence
from contextlib import suppress
from typing import Any, Final

from crawler.frontier.errors import FrontierFullError
from crawler.frontier.server.shards import Shards
from crawler.frontier.server.wire_format import pairs
from crawler.frontier.state.budgets import Terms

TURN_MS: Final = 900  # between rounds, for any number of workers
BEGUN_AT_ONCE: Final = 20  # limits; each costs two calls a shard


class Shares:
    """With one shard there is nothing to do. A limit is never overrun, and its last part is found in a few rounds."""

    def __init__(self, shards: Shards, rng: Callable[[], float] = random.random) -> None:
        self._shards = shards
        self._rng = rng
        self._begun: set[tuple[str, int]] = set()

    async def begin(self, terms: Sequence[Terms]) -> None:
        """Deal each shard its part of these limits before it asks, which takes it a second. Of many limits some are
        left to ask; dealing them once more changes nothing."""
        if self._shards.count == 1:
            return
        new = {(one.name, one.day[0]) for one in terms if one.is_shared} - self._begun
        for name, day in sorted(new)[:BEGUN_AT_ONCE]:
            await self._deal(name, str(day), set(range(self._shards.count)))
        self._begun = {(one.name, one.day[0]) for one in terms}

    async def turn(self) -> None:
        """A round, unless another worker has just made one, or Redis is full: then shares stay as they are."""
        if self._shards.count > 1:
            client = self._shards.client
            with suppress(FrontierFullError):
                if await client.set(self._shards.key(0, "shares:turn"), "1", nx=True, px=TURN_MS):
                    await self.balance()

    async def balance(self) -> int:
        """Deal to the shards that want some; returns of how many limits. Two at once do no harm."""
        wants: dict[tuple[str, str], set[int]] = {}
        for shard, answer in enumerate(await self._shards.run_all("share_wants")):
            for name, begin in pairs(answer):
                wants.setdefault((name.decode(), begin.decode()), set()).add(shard)
        asking = set[int]().union(*wants.values())
        for (name, begin), wanting in wants.items():
            await self._deal(name, begin, wanting, asking)
        return len(wants)

    async def _deal(self, name: str, begin: str, wanting: set[int], asking: Container[int] = ()) -> None:
        """*asking*: shards that want anything. Two that each want what the other has left would swap it for ever if
        both gave it back each time."""
        before = await self._shards.run_all("share_state", name, begin, b"", "0")
        dealt = await self._dealt(name, begin, wanting, before)
        if all(dealt[shard][:32] == before[shard][32:64] for shard in wanting):  # nobody got anything
            others = [shard for shard in range(self._shards.count) if shard not in wanting]
            rich = [shard for shard in others if shard not in asking or self._rng() < 0.5]
            for shard in rich:
                before[shard] = await self._shards.run("share_state", shard, name, begin, b"", "1")
            dealt = await self._dealt(name, begin, wanting, before)
        for shard, news in enumerate(dealt):
            await self._shards.run("share_state", shard, name, begin, news, "0")

    async def _dealt(self, name: str, begin: str, wanting: set[int], states: Sequence[bytes]) -> list[Any]:
        told = [part for shard, state in enumerate(states) for part in ("1" if shard in wanting else "0", state)]
        dealt: list[Any] = await self._shards.run("share_deal", 0, name, begin, *told)
        return dealt
