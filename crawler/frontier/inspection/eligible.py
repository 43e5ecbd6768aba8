"""How much of the queue could be crawled now: what more workers would find to do, and how long it has waited."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Container, Mapping
from contextlib import suppress
from dataclasses import dataclass
from operator import methodcaller
from typing import Any, Final

from crawler.frontier.inspection.host_records import lead_of, read_host
from crawler.frontier.inspection.queue_lengths import queue_lengths
from crawler.frontier.messages import HostState
from crawler.frontier.runs.control import Control
from crawler.frontier.script_constants import ADDRESS
from crawler.frontier.server.shards import Shards
from crawler.frontier.state.addresses import with_lines
from crawler.frontier.streams import tier_of
from crawler.policy.tiers import Tier

SOON_MS: Final = 30_000  # hosts whose turn comes within this time count: politeness is no reason to scale down
SAMPLED: Final = 100  # hosts per stream and shard whose queues and caps are read; with more, their mean is used


@dataclass(frozen=True, slots=True)
class Eligible:
    """*hosts* may get a request within SOON_MS, *requests* wait at them, and they have *slots* in all.

    *late_ms*: how long the first of them has waited for a worker, not for its turn. Exact up to SAMPLED hosts per
    stream and shard, with more estimated from a sample of that size.
    """

    hosts: int = 0
    requests: float = 0
    slots: float = 0
    delayed: int = 0  # requests that are queued again within SOON_MS
    late_ms: float = 0

    def __add__(self, other: Eligible) -> Eligible:
        return Eligible(
            self.hosts + other.hosts,
            self.requests + other.requests,
            self.slots + other.slots,
            self.delayed + other.delayed,
            max(self.late_ms, other.late_ms),
        )


Queue = tuple[str, Tier]  # of a spider and a tier


async def by_queue(shards: Shards, spent: Container[Tier] = ()) -> dict[Queue, Eligible]:
    """Of each queue but those of paused spiders and of tiers whose budget is *spent*: an operator or the next day lets
    them go on, not a worker. O(streams * log hosts), and at most SAMPLED hosts of each stream and shard are read."""
    paused = frozenset((await Control(shards).said()).paused)
    found: dict[Queue, Eligible] = {}
    for of_shard in await asyncio.gather(*(_of_shard(shards, shard, paused) for shard in range(shards.count))):
        for stream, one in of_shard:
            queue = (stream.partition(":")[0], tier_of(stream))
            if f"spider {queue[0]}" not in paused and queue[1] not in spent:
                found[queue] = found.get(queue, Eligible()) + one
    return found


def waiting_ms(queues: Mapping[Queue, Eligible]) -> dict[str, float]:
    """How long the first host of each spider has waited for a worker."""
    found: dict[str, float] = {}
    for (spider, _), one in queues.items():
        found[spider] = max(found.get(spider, 0.0), one.late_ms)
    return found


async def hosts(shards: Shards, names: list[str], now_ms: int) -> dict[str, HostState]:
    """What the fleet knows at *now_ms* of these hosts but for their queues; those that it has forgotten are missing."""
    found: dict[str, HostState] = {}
    for shard in range(shards.count):
        mine = [name for name in names if shards.of_host(name) == shard]
        raws = await shards.client.hmget(shards.key(shard, "hosts"), mine) if mine else []
        for name, raw in zip(mine, raws, strict=True):
            with suppress(ValueError):  # damaged: the next script that needs it restores it
                found |= {name: read_host(name, raw, now_ms)} if raw else {}
    return found


async def _of_shard(shards: Shards, shard: int, paused: Container[str]) -> list[tuple[str, Eligible]]:
    stats = await shards.stats(shard)
    now, streams = stats.now_ms, [stream.decode() for stream, *_ in stats.streams]
    found = [
        (stream, await _of_stream(shards, shard, stream + apart, now, paused))
        for stream in streams
        for apart in ("", "!")
    ]
    delayed = await _delayed(shards, shard, now)
    return [*found, *((stream, Eligible(delayed=count)) for stream, count in delayed.items())]


async def _delayed(shards: Shards, shard: int, now: int) -> Counter[str]:
    """How many of a stream are queued again within SOON_MS, of the first SAMPLED."""
    key = shards.key(shard, "delayed")
    entries = await shards.client.zrangebyscore(key, "-inf", now + SOON_MS, start=0, num=SAMPLED)
    return Counter(entry[1 : 1 + entry[0]].decode(errors="replace") for entry in entries if entry)


async def _of_stream(shards: Shards, shard: int, stream: str, now: int, paused: Container[str]) -> Eligible:
    is_due, soon, full, first_due, first_waiting, *samples = await _lists(shards, shard, stream, now)
    if not (count := is_due + soon + full):
        return Eligible()
    names = [*samples[0], *samples[1][: min(soon, SAMPLED)], *samples[2]]
    chosen = [name.decode(errors="replace") for name in names[:: max(1, len(names) // SAMPLED)]][:SAMPLED]
    known = await hosts(shards, chosen, now)
    lengths = await _lengths(shards, shard, stream, chosen)
    active = [
        name for name in chosen if f"host {name}" not in paused and (name not in known or _is_active(known[name]))
    ]
    scale = count / len(chosen) if chosen else 0
    overdue = max((now - at for _, at in first_waiting), default=0.0)
    return Eligible(
        hosts=round(len(active) * scale),
        requests=sum(lengths[name] for name in active) * scale,
        slots=sum(_slots(known.get(name)) for name in active) * scale,
        late_ms=max(await _late(shards, shard, first_due, now), overdue, 0.0) if active else 0.0,
    )


async def _lists(shards: Shards, shard: int, stream: str, now: int) -> list[Any]:
    """Of a stream's hosts that are due, that are soon, that are at their cap: how many; the first ones due and waiting;
    a sample of each."""
    due, wait, at_cap = (shards.key(shard, f"{kind}:{stream}") for kind in ("due", "wait", "park"))
    return await shards.read(
        [
            methodcaller("zcard", due),
            methodcaller("zcount", wait, "-inf", now + SOON_MS),
            methodcaller("scard", at_cap),
            methodcaller("zrange", due, 0, 0, withscores=True),
            methodcaller("zrange", wait, 0, 0, withscores=True),
            methodcaller("zrandmember", due, SAMPLED),
            methodcaller("zrange", wait, 0, SAMPLED - 1),
            methodcaller("srandmember", at_cap, SAMPLED),
        ]
    )


async def _lengths(shards: Shards, shard: int, stream: str, names: list[str]) -> Counter[str]:
    """How many requests each of *names* has on a stream; hosts of an address take turns: they are one."""
    lengths = await queue_lengths(shards, shard, stream, names)
    for name in names:
        if name.startswith(ADDRESS):
            line = await with_lines(shards, shard, stream, [name], SAMPLED)
            lengths[name] = (await queue_lengths(shards, shard, stream, line)).total()
    return lengths


def _is_active(host: HostState) -> bool:
    """Whether its turn comes soon: the lists are looked at more often than that, because rules may change."""
    return host.in_flight > 0 or host.waits_ms <= SOON_MS


def _slots(host: HostState | None) -> int:
    return 1 if host is None or host.openings else max(1, host.cap)


async def _late(shards: Shards, shard: int, first: list[tuple[bytes, float]], now: int) -> float:
    """How long the first host has been due; without the head start of its priority."""
    for name, score in first:
        lead = 0
        with suppress(ValueError):
            lead = lead_of(await shards.client.hget(shards.key(shard, "hosts"), name))
        return now - score - lead * shards.config.priority_step_ms
    return 0.0
