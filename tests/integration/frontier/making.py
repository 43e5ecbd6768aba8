"""Short words for what the frontier's tests make again and again."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

from crawler.frontier.config import FrontierConfig
from crawler.frontier.frontier import Frontier
from crawler.frontier.messages import Handle, Lease, Message, Report
from crawler.frontier.state.robots import CachedRobots
from crawler.policy.robots.responses import RobotsVerdict
from tests.integration.frontier.harness import CLOCK, FLEET_LIVES

START_MS = 1_700_000_000_000


def message(number: int, host: str = "a.example", stream: str = "s", **fields: Any) -> Message:
    """Request *number* of the spider that the stream names; its body is that number."""
    given = {"body": b"%d" % number, "fingerprint": number, **fields}
    return Message(host=host, stream=stream, spider=stream.partition(":")[0], **given)


def handles(leases: Sequence[Lease]) -> list[Handle]:
    return [(lease.id, lease.token) for lease in leases]


def answer(handle: Handle, status: int = 200, *, elapsed_ms: int = 0, latency_ms: int = 0, **fields: Any) -> Report:
    return Report(*handle, elapsed_ms, latency_ms, status, **fields)


async def sent(frontier: Frontier, leases: Sequence[Handle]) -> list[bool]:
    """*leases* are on the wire: tells that alone, as `reported` and `acked` tell theirs; workers tell all in one call.
    Whether each is still ours."""
    return (await frontier.settle(starts=leases))[0]


async def reported(frontier: Frontier, reports: Sequence[Report]) -> list[int]:
    return (await frontier.settle(reports=reports))[1]


async def acked(frontier: Frontier, leases: Sequence[Handle]) -> list[bool]:
    return (await frontier.settle(acks=leases))[2]


async def open_generation(frontier: Frontier, spider: str) -> str:
    """As a plain start after the end of a crawl: every URL may be crawled again."""
    return str(await frontier.shards.client.hincrby(frontier.shards.key(0, "current"), spider, 1))


async def spent_of(frontier: Frontier, budget: str, day_ms: int) -> tuple[float, ...]:
    """Requests, bytes, browser ms and cost in millionths of that day, over all shards."""
    keys = [frontier.shards.key(shard, f"used:{day_ms}") for shard in range(frontier.shards.count)]
    raws = [await frontier.shards.client.hget(key, budget) for key in keys]
    spent = [struct.unpack("<4d", raw) for raw in raws if raw]
    return tuple(map(sum, zip((0.0,) * 4, *spent, strict=True)))


async def asks_for(frontier: Frontier, host: str, origin: str, delay_ms: int) -> int | None:
    """The robots.txt of *origin* asks for a delay; returns the host's now. It is out of date at once: ask again."""
    file = CachedRobots(RobotsVerdict.RULES, 200, fresh_ms=0)
    return await frontier.robots.keep(host, origin, "w", file, keep_ms=86_400_000, delay_ms=delay_ms)


class Timed:
    """A frontier whose clock stands still until `pass_ms`, during which the fleet lives on (there is no silence)."""

    def __init__(self, client: Any, **config: Any) -> None:
        self.client = client
        self.frontier = Frontier(client, FrontierConfig(**config), rng=lambda: 0.0, replaced={"lib/clock": CLOCK})
        self.now = START_MS

    async def pass_ms(self, ms: int) -> None:
        self.now += ms
        await self.frontier.shards.run_all("heartbeat", "fleet", b"\x80")  # notices what befell the clock until now
        for shard in range(self.frontier.shards.count):
            await self.client.eval(FLEET_LIVES, 1, self.frontier.shards.tag(shard), self.now)

    async def be_silent(self, ms: int) -> None:
        """Time passes and no script runs: an outage, or a jump of the server's clock."""
        self.now += ms
        await self._set_clock(self.now)

    async def _set_clock(self, now: int) -> None:
        for shard in range(self.frontier.shards.count):
            await self.client.set(self.frontier.shards.key(shard, "clock"), now)

    async def lease(self, limit: int = 100, streams: Sequence[str] = ("s",), **fields: Any) -> list[Lease]:
        batch = await self.frontier.lease(streams, limit, worker="w", **fields)
        return batch.leases

    async def bodies(self, limit: int = 100, **fields: Any) -> list[int]:
        """What a lease call hands out, by number."""
        return [int(lease.body) for lease in await self.lease(limit, **fields)]

    async def fetch(self, limit: int = 100, **fields: Any) -> list[int]:
        """Lease, answer and acknowledge at once."""
        leases = await self.lease(limit, **fields)
        await reported(self.frontier, [answer(handle) for handle in handles(leases)])
        await acked(self.frontier, handles(leases))
        return [int(lease.body) for lease in leases]


async def timed(client: Any, **config: Any) -> Timed:
    """A `Timed` frontier, its clock set."""
    made = Timed(client, **config)
    await made.be_silent(0)
    return made
