"""Redis is full for a while: workers die and MongoDB goes away meanwhile, and `scrapy status` names it."""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Final

from redis.exceptions import RedisError

from crawler.commands.views.status_snapshot import take_snapshot
from crawler.frontier.errors import FrontierUnavailableError
from crawler.frontier.frontier import Frontier
from crawler.frontier.messages import SpiderStats
from tests.chaos.trouble import Fleet

SHARE: Final = 0.9  # of what is used then is all that there is
LEASES: Final = 3.0  # it stays full for this many leases: pages that wait for room are given back meanwhile
STEPS: Final = 20
FIRST_STEP: Final = 3  # of the blows, and how far they are apart: the last one is long before there is room
STEPS_BETWEEN: Final = 6
GO_ON_SECONDS: Final = 5.0  # within which requests are stored again once there is room


@dataclass(slots=True)
class Fillings:
    """What was seen while Redis was full."""

    count: int = 0
    waited: int = 0  # pages that waited for room, at the most
    drained: int = 0  # pages that were done without any room
    killed: int = 0
    stopped: int = 0
    troubles: list[str] = field(default_factory=list)


async def fill(
    frontier: Frontier, fleet: Fleet, fillings: Fillings, lease: float, kill_mongo: Callable[[], bool]
) -> None:
    """Fill Redis, strike, and see how it goes on."""
    client: Any = frontier.client
    used = (await _insist(lambda: client.info("memory")))["used_memory"]
    before = (await frontier.inspection.stats()).total
    await client.config_set("maxmemory", int(SHARE * used))
    fillings.count += 1
    named = await _hold(frontier, fleet, fillings, lease, kill_mongo)
    full = (await frontier.inspection.stats()).total
    fillings.drained += full.done - before.done
    if not named:
        fillings.troubles.append("nobody named the full Redis")
    await client.config_set("maxmemory", 0)
    began = time.monotonic()
    while not _goes_on(full, (await frontier.inspection.stats()).total):
        if time.monotonic() - began > GO_ON_SECONDS:
            fillings.troubles.append(f"nothing went on within {GO_ON_SECONDS:g} s of more memory")
            return
        await asyncio.sleep(0.1)


async def _hold(
    frontier: Frontier, fleet: Fleet, fillings: Fillings, lease: float, kill_mongo: Callable[[], bool]
) -> bool:
    """Keep it full; whether `scrapy status` said so."""
    blows: list[Callable[[set[int]], bool]] = [
        lambda at_work: _stop(fleet, fillings, at_work),
        lambda at_work: _kill(fleet, fillings, at_work),
        lambda _: kill_mongo(),
    ]
    named = False
    due = FIRST_STEP
    for step in range(STEPS):
        await asyncio.sleep(LEASES * lease / STEPS)
        try:
            seen = await take_snapshot(frontier, None)
        except (RedisError, OSError, FrontierUnavailableError):
            continue
        at_work = {int(worker.name.rsplit("-", 2)[1]) for worker in seen.workers}
        if blows and step >= due and blows[-1](at_work):  # a blow that finds nobody to hit comes at the next step
            blows.pop()
            due = step + STEPS_BETWEEN
        fillings.waited = max(fillings.waited, seen.waiting_for_room)
        named = named or (seen.memory > 1 and any("maxmemory" in one or "refuses" in one for one in seen.held_up))
    return named


def _goes_on(before: SpiderStats, now: SpiderStats) -> bool:
    ended = (now.accepted, now.done, now.dead) != (before.accepted, before.done, before.dead)
    return ended or not (now.queued or now.leased or now.delayed)


async def _insist(call: Callable[[], Awaitable[Any]]) -> Any:
    """The server may have been killed a moment ago."""
    while True:
        try:
            return await call()
        except (RedisError, OSError, FrontierUnavailableError):
            await asyncio.sleep(0.1)


def _kill(fleet: Fleet, fillings: Fillings, at_work: set[int]) -> bool:
    if (victim := fleet.victim(at_work)) is None:
        return False
    fleet.kill(victim)
    fillings.killed += 1
    return True


def _stop(fleet: Fleet, fillings: Fillings, at_work: set[int]) -> bool:
    if (victim := fleet.victim(at_work)) is None:
        return False
    fleet.workers.remove(victim)
    victim.send(signal.SIGTERM)
    fleet.stopped.append(victim)
    fleet.add()
    fillings.stopped += 1
    return True
