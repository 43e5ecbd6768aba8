"""Calls each operation of the frontier on the queue that stands."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Final

from benchmarks.frontier_bed import PUSHED, SPIDER, Ours
from benchmarks.frontier_meter import Spent
from crawler.frontier.frontier import Frontier
from crawler.frontier.messages import Handle, Message, Report
from crawler.frontier.server.shards import BATCH
from crawler.frontier.state.robots import CachedRobots
from crawler.policy.robots.responses import RobotsVerdict
from crawler.worker.prefetch import MOST_LEASED

LOOP: Final = "loop"  # touches no data: what it takes now and then, the machine takes
LOOP_SCRIPT: Final = "local sum = 0 for i = 1, 100000 do sum = sum + i end return sum"
SHORT_LEASE_MS: Final = 2_000
SIGN_OF_LIFE_SECONDS: Final = 0.1  # a silence would put reaping off
REAP_SECONDS: Final = 30.0


class Operations:
    """Calls each operation on the queue that stands."""

    def __init__(self, ours: Ours, calls: int, first: int) -> None:
        self._ours = ours
        self._frontier = ours.frontier
        self._calls = calls
        self._next = first

    async def round(self) -> dict[str, list[Spent]]:
        """What each call of every operation took, and of the loop."""
        return {name: await self._spent(name, call) for name, call in self._named().items()}

    def _named(self) -> dict[str, Callable[[], Awaitable[None]]]:
        frontier = self._frontier
        return {
            "push": self._push,
            "lease": lambda: self._on_leases(_nothing),
            "start": lambda: self._on_leases(frontier.start),
            "settle": self._settle,
            "renew": lambda: self._on_leases(frontier.renew),
            "give_back": lambda: self._on_leases(frontier.give_back),
            "nack": lambda: self._one_by_one(lambda one: frontier.nack(*one, delay_ms=1_000)),
            "bury": lambda: self._one_by_one(lambda one: frontier.bury(*one, reason="benchmark")),
            "retry_dead": self._retry,
            "drop_dead": self._drop,
            "reserve_slot": self._reserve_slot,
            "robots_keep": lambda: self._repeat(self._keep_robots),
            "stats": lambda: self._repeat(lambda _: frontier.inspection.stats()),
            "heartbeat": lambda: self._repeat(lambda at: frontier.workers.heartbeat(f"worker-{at % 50}", {})),
            "reap": self._reap,
            "sweep": self._sweep,
            LOOP: self._loop,
        }

    async def _spent(self, name: str, call: Callable[[], Awaitable[None]]) -> list[Spent]:
        client = self._ours.client
        digest = await client.script_load(LOOP_SCRIPT) if name == LOOP else self._frontier.shards.scripts.digest(name)
        client.spent.clear()
        await call()
        if not client.spent[digest]:
            raise LookupError(f"{name} was never called")
        return list(client.spent[digest])

    async def _push_batch(self) -> None:
        self._next += PUSHED
        await self._ours.push([self._ours.message(self._next + at) for at in range(PUSHED)])

    async def _push(self) -> None:
        for _ in range(self._calls):
            await self._push_batch()

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

    async def _keep_robots(self, at: int) -> None:
        host = f"robots-{at}.example"
        file = CachedRobots(RobotsVerdict.RULES, 200, 1, "User-agent: *\nDisallow: /private\n")
        await self._frontier.robots.keep(host, f"https://{host}", "w", file, keep_ms=60_000, delay_ms=1)

    async def _dead(self) -> list[str]:
        await self._one_by_one(lambda one: self._frontier.bury(*one, reason="benchmark"))
        return [letter.id for letter in await self._frontier.dead.find(SPIDER, limit=self._calls)]

    async def _retry(self) -> None:
        await self._frontier.dead.retry(await self._dead())

    async def _drop(self) -> None:
        await self._frontier.dead.drop(await self._dead())

    async def _reserve_slot(self) -> None:
        for at in range(self._calls):
            slot = await self._frontier.reserve_slot(f"media-{at}.example", worker="benchmark")
            assert slot.token is not None
            await self._frontier.settle(reports=[_answer(slot.token)])

    async def _reap(self) -> None:
        """Workers that die with what they hold: leases too short to be renewed."""
        config = replace(self._frontier.config, lease_ms=SHORT_LEASE_MS, start_within_ms=SHORT_LEASE_MS // 2)
        dying = Frontier(self._ours.client, config)
        reaped = (await dying.inspection.stats()).total.reaped
        wanted = min(self._calls, self._ours.shape.hosts // 2)
        leased = 0
        while leased < wanted:
            leased += len((await dying.lease([SPIDER], MOST_LEASED, worker="dying")).leases)
        deadline = time.monotonic() + REAP_SECONDS
        while (await dying.inspection.stats()).total.reaped < reaped + leased:
            if time.monotonic() > deadline:
                raise TimeoutError("leases expired and were not reaped")
            await asyncio.sleep(SIGN_OF_LIFE_SECONDS)
            await dying.workers.heartbeat("dying", {})
            await self._frontier.shards.run("reap", 0)

    async def _sweep(self) -> None:
        """A finished generation of another spider goes."""
        config = replace(self._frontier.config, retention_ms=0)
        sweeper = Frontier(self._ours.client, config)
        count = max(PUSHED, self._ours.shape.urls // 40)
        for at in range(0, count, PUSHED):
            await sweeper.push([_old(number) for number in range(at, at + PUSHED)], forced=True)
            leased = (await sweeper.lease(["old"], PUSHED, worker="benchmark")).leases
            await sweeper.settle(acks=[(one.id, one.token) for one in leased])
        await sweeper.shards.client.hincrby(sweeper.shards.key(0, "current"), "old", 1)
        while await sweeper.generations.sweep():
            pass
        await self._repeat(lambda _: self._frontier.generations.sweep())

    async def _loop(self) -> None:
        await self._repeat(lambda _: self._ours.client.eval(LOOP_SCRIPT, 0))


async def _nothing(handles: list[Handle]) -> None:
    """Leased, and given back."""


def _answer(handle: Handle) -> Report:
    return Report(*handle, 50, 50, 200)


def _old(number: int) -> Message:
    return Message(host=f"old-{number}.example", stream="old", spider="old", body=b"body", fingerprint=number)
