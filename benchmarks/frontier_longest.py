"""The longest single operation.

Redis does one thing at a time, so the longest script is what everybody else waits for at most. Each operation of the
frontier is called many times on the standing queue, with batches as large as a worker sends them. INFO before and after
each call tells how long it took on the server's clock, and how much CPU time the main thread used meanwhile. The clock
goes on when the machine does other work, the CPU time holds whatever else the server did between the two looks: a call
took no more of the CPU than the smaller of the two, and that is held against the bar.

What the server does of itself is kept out of the way: the append-only file is not rewritten meanwhile. How long the
fork of such a rewrite stops the server on this queue is told below the table: it depends on the memory in use, and hits
whatever runs on such a server. Nothing but the frontier is on this server: the bundled one allocates with libc, which
a second queue of a million makes slower; packaged servers have jemalloc, which is quicker and steadier.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Final

import redis

from benchmarks import document
from benchmarks.frontier_bed import DOCUMENT, PUSHED, SPIDER, Ours, Shape
from benchmarks.frontier_meter import Metered, fork_ms
from crawler.frontier.frontier import Frontier
from crawler.frontier.messages import Handle, Message, Report
from crawler.frontier.prefetch import MOST_LEASED
from crawler.frontier.shards import BATCH

BAR_MS: Final = 5.0
CALLS: Final = 1_000
SHORT_LEASE_MS: Final = 2_000
SIGN_OF_LIFE_SECONDS: Final = 0.1  # a silence would put reaping off
REAP_SECONDS: Final = 30.0


@dataclass(frozen=True, slots=True)
class Longest:
    """One operation: in ms the longest call and the 99.9th percentile, and the most of either measure."""

    name: str
    calls: int
    most: float
    high: float
    cpu: float
    clock: float


@dataclass(frozen=True, slots=True)
class Stops:
    """What makes everybody else wait: the operations, and the fork of a rewrite."""

    operations: list[Longest]
    fork_ms: float


async def measure(url: str, shape: Shape, calls: int) -> Stops:
    """Each operation at least *calls* times, or for as many requests, on the frontier that stands at *url*."""
    ours = Ours(url, shape, client=Metered.from_url(url))
    try:
        return Stops(await Operations(ours, calls, 2 * shape.urls).all(), fork_ms(redis.Redis.from_url(url)))
    finally:
        await ours.client.aclose()


class Operations:
    """Calls each operation on the queue that stands."""

    def __init__(self, ours: Ours, calls: int, first: int) -> None:
        self._ours = ours
        self._frontier = ours.frontier
        self._calls = calls
        self._next = first

    async def all(self) -> list[Longest]:
        """Measure every operation."""
        return [await self._longest(name, call) for name, call in self._named().items()]

    def _named(self) -> dict[str, Callable[[], Awaitable[None]]]:
        frontier = self._frontier
        return {
            "push": self._push,
            "lease": lambda: self._on_leases(_nothing),
            "start": lambda: self._on_leases(lambda handles: frontier.start(handles, on_wire=True)),
            "report": lambda: self._on_leases(lambda handles: frontier.report([_answer(one) for one in handles])),
            "ack": self._ack,
            "settle": self._settle,
            "renew": lambda: self._on_leases(frontier.renew),
            "give_back": lambda: self._on_leases(frontier.give_back),
            "nack": lambda: self._one_by_one(lambda one: frontier.nack(*one, delay_ms=1_000)),
            "bury": lambda: self._one_by_one(lambda one: frontier.bury(*one, reason="benchmark")),
            "retry_dead": self._retry,
            "drop_dead": self._drop,
            "take": self._take,
            "crawl_delay": lambda: self._repeat(
                lambda at: frontier.robots.crawl_delay(f"robots-{at}.example", f"https://robots-{at}.example", 1)
            ),
            "stats": lambda: self._repeat(lambda _: frontier.census.stats()),
            "heartbeat": lambda: self._repeat(lambda at: frontier.census.heartbeat(f"worker-{at % 50}", {})),
            "reap": self._reap,
            "sweep": self._sweep,
        }

    async def _longest(self, name: str, call: Callable[[], Awaitable[None]]) -> Longest:
        digest = self._frontier.shards.digest(name)
        spent = self._ours.client.spent
        spent.clear()
        await call()
        calls = spent[digest]
        if not calls:
            raise LookupError(f"{name} was never called")
        times = sorted(one.own for one in calls)
        high = times[math.ceil(0.999 * len(times)) - 1]
        return Longest(
            name, len(times), times[-1], high, max(one.cpu for one in calls), max(one.clock for one in calls)
        )

    async def _push_batch(self) -> None:
        self._next += PUSHED
        await self._ours.push([self._ours.message(self._next + at) for at in range(PUSHED)])

    async def _push(self) -> None:
        for _ in range(self._calls):
            await self._push_batch()

    async def _ack(self) -> None:
        for _ in range(self._calls):
            await self._frontier.ack(await self._leases())
            await self._push_batch()  # the queue stands

    async def _settle(self) -> None:
        """As the outbox: what starts, what was answered and what is done, of three leases one after the other."""
        started: list[Handle] = []
        answered: list[Handle] = []
        for _ in range(self._calls):
            leased = await self._ours.lease(MOST_LEASED)
            await self._frontier.settle(leased, [_answer(one) for one in started], answered)
            started, answered = leased, started
        await self._frontier.settle((), [_answer(one) for one in started], [*answered, *started])

    async def _leases(self) -> list[Handle]:
        """As many as the scripts take at once, from two leases."""
        return await self._ours.lease(MOST_LEASED) + await self._ours.lease(BATCH - MOST_LEASED)

    async def _on_leases(self, call: Callable[[list[Handle]], Awaitable[object]]) -> None:
        for _ in range(self._calls):
            handles = await self._leases()
            await call(handles)
            await self._frontier.give_back(handles)

    async def _one_by_one(self, call: Callable[[Handle], Awaitable[object]]) -> None:
        left = self._calls
        while left > 0:
            handles = await self._ours.lease(min(MOST_LEASED, left))
            for handle in handles:
                await call(handle)
            left -= len(handles)

    async def _repeat(self, call: Callable[[int], Awaitable[object]]) -> None:
        for at in range(self._calls):
            await call(at)

    async def _dead(self) -> list[str]:
        await self._one_by_one(lambda one: self._frontier.bury(*one, reason="benchmark"))
        return [letter.id for letter in await self._frontier.dead.find(SPIDER, limit=self._calls)]

    async def _retry(self) -> None:
        await self._frontier.dead.retry(await self._dead())

    async def _drop(self) -> None:
        await self._frontier.dead.drop(await self._dead())

    async def _take(self) -> None:
        for at in range(self._calls):
            take = await self._frontier.take(f"media-{at}.example", worker="benchmark")
            assert take.token is not None
            await self._frontier.report([_answer(take.token)])

    async def _reap(self) -> None:
        """Workers that die with what they hold: leases too short to be renewed."""
        config = replace(self._frontier.config, lease_ms=SHORT_LEASE_MS, start_within_ms=SHORT_LEASE_MS // 2)
        dying = Frontier(self._ours.client, config)
        reaped = (await dying.census.stats()).total.reaped
        wanted = min(self._calls, self._ours.shape.hosts // 2)
        leased = 0
        while leased < wanted:
            leased += len((await dying.lease([SPIDER], MOST_LEASED, worker="dying")).leases)
        deadline = time.monotonic() + REAP_SECONDS
        while (await dying.census.stats()).total.reaped < reaped + leased:
            if time.monotonic() > deadline:
                raise TimeoutError("leases expired and were not reaped")
            await asyncio.sleep(SIGN_OF_LIFE_SECONDS)
            await dying.census.heartbeat("dying", {})
            await self._frontier.shards.run("reap", 0)

    async def _sweep(self) -> None:
        """A finished generation of another spider goes."""
        config = replace(self._frontier.config, retention_ms=0)
        sweeper = Frontier(self._ours.client, config)
        count = max(PUSHED, self._ours.shape.urls // 40)
        for at in range(0, count, PUSHED):
            await sweeper.push([_old(number) for number in range(at, at + PUSHED)], forced=True)
            await sweeper.ack(
                [(one.id, one.token) for one in (await sweeper.lease(["old"], PUSHED, worker="benchmark")).leases]
            )
        await sweeper.generations.open("old")
        while await sweeper.generations.sweep():
            pass
        await self._repeat(lambda _: self._frontier.generations.sweep())


async def _nothing(handles: list[Handle]) -> None:
    """Leased, and given back."""


def _answer(handle: Handle) -> Report:
    return Report(*handle, 50, 50, 200)


def _old(number: int) -> Message:
    return Message(host=f"old-{number}.example", stream="old", spider="old", body=b"body", fingerprint=number)


def publish(stops: Stops, shape: object) -> list[str]:
    """Write the section of the document; returns the bars that were missed."""
    found = stops.operations
    head = ("operation", "calls", "longest, ms", "99.9 %, ms", "most CPU around it, ms", "longest on the clock, ms")
    body = [
        [one.name, f"{one.calls:,}", *(f"{ms:.2f}" for ms in (one.most, one.high, one.cpu, one.clock))] for one in found
    ]
    worst = max(found, key=lambda one: one.most)
    verdict = "met" if worst.most <= BAR_MS else "not met"
    text = (
        f"## Longest operation\n\n{(__doc__ or '').strip()}\n\nStanding queue: {shape}.\n\n"
        f"{document.rows(head, body)}\n\nBar: no operation over {BAR_MS:.0f} ms: {verdict}, the longest is "
        f"`{worst.name}` with {worst.most:.2f} ms.\n\nThe fork of a rewrite of the append-only file: "
        f"{stops.fork_ms:.1f} ms."
    )
    document.write("longest", text, DOCUMENT)
    return [f"{one.name} took {one.most:.2f} ms, at most {BAR_MS} are wanted" for one in found if one.most > BAR_MS]
