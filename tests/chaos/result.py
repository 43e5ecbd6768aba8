"""What a chaos run was asked to do, and what it found."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from crawler.frontier.frontier import Frontier
from crawler.frontier.inspection.inspection import FrontierStats
from crawler.frontier.messages import SpiderStats
from crawler.frontier.run_record import RunCounts
from crawler.routing import codec
from crawler.storage.connection import Database
from crawler.storage.reading import reader
from demo.log import Entry
from tests.chaos.full import Fillings
from tests.chaos.next_release import NextChaosSpider
from tests.chaos.plan import Plan
from tests.chaos.rules import Stricter
from tests.chaos.trouble import Freeze
from tests.chaos.verdict import Left

ENDS_WITHIN_SECONDS: Final = 30.0  # after a killed worker's heartbeat has expired, and its run has been idle
# Keys that exist only while there is work.
_WORK: Final = ("q:", "early:", "wait:", "due:", "park:", "infl", "body", "lease", "delayed")


@dataclass(frozen=True, slots=True)
class Options:
    """How hard, and for how long."""

    home: Path
    seed: int
    cap: int
    delay: float
    hosts: int
    pages: int  # per host
    fatal: int = 0  # pages that kill their worker
    workers: int = 4
    old: int = 1  # of these, of the release before
    kills: int = 30
    freezes: int = 4
    restarts: int = 1
    olders: int = 1  # times that Redis goes back to an older state, and the start URLs are pushed again
    mongo_kills: int = 10
    fills: int = 2  # times that Redis is full for a while
    empties: int = 1  # times that Redis loses all it holds, and the start URLs are pushed again
    rules: int = 1  # times that a worker with a longer delay joins, and is killed
    lease: float = 5.0  # seconds
    limit: float = 420.0  # seconds for the crawl
    forked: bool = False  # workers are forks of one loaded process


@dataclass(slots=True)
class Result:
    """What the run found."""

    options: Options
    plan: Plan
    seconds: float = 0.0
    counters: SpiderStats = field(default_factory=SpiderStats)
    left: Left | None = None
    dead: dict[str, str] = field(default_factory=dict)
    documents: list[dict[str, Any]] = field(default_factory=list)
    changes: int = 0
    log: list[Entry] = field(default_factory=list)
    passed_on: int = 0  # requests that old workers left to workers of the new release
    kills: int = 0
    fatal_kills: int = 0  # by pages
    mongo_kills: int = 0
    fillings: Fillings = field(default_factory=Fillings)
    emptied: list[tuple[float, float]] = field(default_factory=list)  # from when to when, seconds since the epoch
    set_back: list[tuple[float, float]] = field(
        default_factory=list
    )  # the same: Redis was killed, its last second lost
    restored: list[tuple[float, float]] = field(default_factory=list)  # the same, to an older state
    stricter: list[Stricter] = field(default_factory=list)
    spooled: int = 0  # files in the spool, at the most
    turned_away: int = 0  # workers that came while Redis was away
    freezes: list[Freeze] = field(default_factory=list)
    troubles: list[str] = field(default_factory=list)  # of the workers: ended by themselves, did not stop, errors


async def look(result: Result, frontier: Frontier, database: Database) -> None:
    """Fill in what is left in the frontier and what is stored."""
    spider = NextChaosSpider()
    result.counters = (await frontier.inspection.stats(spider.name)).total
    result.left = await _left(frontier, result.counters)
    result.troubles += await _runs(frontier)
    letters = await frontier.dead.find(limit=10_000)
    result.dead = {codec.decode(one.body, spider).url: one.reason for one in letters if one.host}
    result.documents = [document async for document in reader.documents(database, "products")]
    result.changes = await reader.count(database, "product_changes", {})


def below_0(stats: FrontierStats, told: Sequence[str]) -> list[str]:
    """A line for each counter that says nonsense, unless it was *told* before."""
    found = [
        f"generation {generation} of {spider} has {name} below 0"
        for (spider, generation), counters in stats.generations.items()
        for name in counters.__slots__
        if getattr(counters, name) < 0
    ]
    return [line for line in found if line not in told]


async def _runs(frontier: Frontier) -> list[str]:
    """A line for each run that did not end with the crawl, or with other counters than its URLs came to."""
    deadline = time.monotonic() + ENDS_WITHIN_SECONDS
    while True:
        await frontier.runs.settle()
        runs = await frontier.runs.find(limit=1_000)
        if all(run.is_over for run in runs) or time.monotonic() > deadline:
            break
        await asyncio.sleep(0.5)
    wrong = [run for run in runs if not run.is_over or run.counts.accepted != _ended(run.counts)]
    return [run.told() for run in wrong] or ([] if runs else ["there was no run"])


def _ended(counts: RunCounts) -> int:
    return counts.done + counts.dead + counts.dropped


async def _left(frontier: Frontier, counters: SpiderStats) -> Left:
    shards = frontier.shards
    names = [name.decode().partition(":0}:")[2] async for name in shards.client.scan_iter("{*", count=1000)]
    hosts = [name.decode() for name in await shards.client.hkeys(shards.key(0, "hosts"))]
    slots = [(await frontier.inspection._host(0, host, 0, 0)).in_flight for host in hosts]
    entries = sum(name.startswith(_WORK) for name in names)
    return Left(counters.queued, counters.leased, counters.delayed, slots=sum(slots), entries=entries)
