"""What the fleet knows of tiers, in Redis: learned per host, served, spent today."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from msgpack.exceptions import UnpackException

from crawler.frontier.server.shards import Shards, pack, unpack
from crawler.frontier.server.wire_format import pairs
from crawler.frontier.streams import tier_of
from crawler.policy.tiers import TIERS, UNKNOWN, LearnedTier, Tier, rank

MOST_HOSTS: Final = 100_000  # learned hosts on all shards; beyond it those unchanged for longest are forgotten
PAGE: Final = 500  # hosts per call
SERVED_MS: Final = 60_000  # how long a tier counts as served after its last worker's heartbeat
DAY_MS: Final = 86_400_000
_ZERO: Final = b""  # nothing is known


class Spent(NamedTuple):
    """What each tier cost on one day (UTC)."""

    requests: Mapping[Tier, float]
    cost: Mapping[Tier, float]


class Tiers:
    """The fleet's side: each method is one call, or one per shard."""

    def __init__(self, shards: Shards, keep_ms: int) -> None:
        self._shards = shards
        self._keep_ms = keep_ms
        self._seen = ["0"] * shards.count  # the last change known, by shard
        self.now_ms = 0  # the frontier's time at the last call of `changes`

    def forget(self) -> None:
        """Make the next call of `changes` return all hosts."""
        self._seen = ["0"] * len(self._seen)

    async def changes(self) -> dict[str, LearnedTier]:
        """What is known of hosts whose tier changed since the last call; of all on the first call."""
        found: dict[str, LearnedTier] = {}
        for shard in self._shards.there:
            told = PAGE
            while told == PAGE:
                self.now_ms, last, rows = await self._shards.run("tiers_learned", shard, self._seen[shard], PAGE)
                self._seen[shard] = last.decode() if isinstance(last, bytes) else str(last)
                told = len(rows) // 2
                found |= {name.decode(): read_learned(raw) for name, raw in pairs(rows)}
        return found

    async def learn(self, host: str, lesson: Callable[[LearnedTier], LearnedTier]) -> LearnedTier:
        """Apply *lesson* to what is known of *host*, atomically; returns what is known then."""
        shard = self._shards.of_host(host)
        most = max(1, MOST_HOSTS // self._shards.count)
        while True:
            raw = await self._shards.client.hget(self._shards.key(shard, "tiers"), host) or _ZERO
            before = read_learned(raw)
            after = lesson(before)
            change = (host, raw, _write(after))
            if after == before or await self._shards.run("tier_learn", shard, *change, self._keep_ms, most):
                return after

    async def served(self, spider: str) -> frozenset[Tier]:
        """The tiers of *spider* served by some worker, as of the last call of `changes`."""
        since = self.now_ms - SERVED_MS
        streams = await self._shards.client.zrangebyscore(self._shards.key(0, "streams"), since, "+inf")
        names = [stream.decode(errors="replace") for stream in streams]
        return frozenset(tier_of(name) for name in names if name.partition(":")[0] == spider)

    async def spend(self, requests: Mapping[Tier, int], cost: Mapping[Tier, float]) -> Spent:
        """Add spending, and return what the fleet has spent today."""
        tiers = [tier for tier in TIERS if requests.get(tier) or cost.get(tier)]
        counts = [part for tier in tiers for part in (tier, requests.get(tier, 0), cost.get(tier, 0.0))]
        flat = await self._shards.run("tier_spend", 0, *counts)
        return _spent(dict(pairs(flat)))

    async def spent(self, now_ms: int) -> Spent:
        """Spending on the day of *now_ms*."""
        return _spent(await self._shards.client.hgetall(self._shards.key(0, f"spent:{now_ms // DAY_MS}")))


def _spent(fields: Mapping[bytes, bytes]) -> Spent:
    sums = {name.decode(errors="replace"): _number(value) for name, value in fields.items()}
    of = {what: {tier: sums.get(f"{tier}:{what}", 0.0) for tier in TIERS} for what in Spent._fields}
    return Spent(of["requests"], of["cost"])


def _number(value: bytes) -> float:
    try:
        return float(value)
    except ValueError:
        return 0.0  # damaged: starts anew


def _write(known: LearnedTier) -> bytes:
    numbers = (rank(known.tier), known.failed, known.ok, known.trial, known.until_ms, known.term_ms)
    return pack(numbers)


def read_learned(raw: bytes | None) -> LearnedTier:
    """The stored state of a host, or the default."""
    if not raw:
        return UNKNOWN
    try:
        tier, *numbers = unpack(raw)
        return LearnedTier(TIERS[tier], *(int(number) for number in numbers))
    except (ValueError, TypeError, IndexError, UnpackException):  # damaged: learned again and overwritten
        return UNKNOWN
