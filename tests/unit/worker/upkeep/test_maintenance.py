"""The duties of a worker, while its server is not quite there."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter, deque
from types import SimpleNamespace
from typing import Any

import pytest
from scrapy.crawler import Crawler
from scrapy.settings import Settings
from scrapy.spiders import Spider
from scrapy.statscollectors import MemoryStatsCollector

from crawler.counting.tallies import tallies_of
from crawler.errors import ServiceError
from crawler.frontier.errors import FrontierUnavailableError
from crawler.frontier.server.outage import RedisOutage
from crawler.routing.tier_routing import TierRouting
from crawler.worker.pauses import Pauses
from crawler.worker.upkeep.maintenance import Maintenance, MaintenanceConfig

ROUNDS = 5


class Workers:
    """Refuses heartbeats, which are writes, while set to."""

    def __init__(self, refusal: Exception | None) -> None:
        self.refusal = refusal
        self.beats = 0
        self.newest: list[str] = []

    async def heartbeat(self, *_: Any, newest: str) -> int:
        self.beats += 1
        if self.refusal is not None:
            raise self.refusal
        self.newest.append(newest)
        return 0


class Queue(deque[Any]):
    """Empty, of spider "s"."""

    spider = SimpleNamespace(name="s")
    encoder = None
    tier_routing = TierRouting()


class Outbox(list[Any]):
    """Empty."""

    waiting: tuple[Any, ...] = ()
    refused = False

    def largest_waiting(self) -> None:
        """None."""


class Book(list[Any]):
    """Leases."""

    def in_hand(self) -> list[Any]:
        """All of them."""
        return [*self]


class Idle:
    """A crawler without an engine."""

    spider = SimpleNamespace(redis_key="k")
    engine = None
    stats = SimpleNamespace(get_value=lambda key, default=None: default)


class Coverage:
    """Takes everything."""

    async def add(self, spider: str, counts: Counter[tuple[str, ...]]) -> None:
        pass


class Domains:
    """Takes nothing while it is told to refuse."""

    def __init__(self) -> None:
        self.refusal: Exception | None = None
        self.told: Counter[tuple[str, str]] = Counter()

    async def add(self, answers: Counter[tuple[str, str]]) -> None:
        if self.refusal is not None:
            raise self.refusal
        self.told.update(answers)


def maintenance_of(workers: Workers, outage: RedisOutage) -> Maintenance:
    counts = {"domains": Domains(), "coverage": Coverage()}
    frontier = SimpleNamespace(workers=workers, client=None, runs=None, shards=None, spent=None, totals=None, **counts)
    worker: Any = SimpleNamespace(
        pauses=Pauses(),
        name="w",
        frontier=frontier,
        outage=outage,
        outbox=Outbox(),
        book=Book(),
        queue=Queue(),
        **dict.fromkeys(("generation", "cuts")),
        prefetcher=SimpleNamespace(wake=None),
    )
    settings = Settings({"FRONTIER_LEASE_SECONDS": 1, "REDIS_START_URLS_AS_SET": False})
    settings.set("REDIS_START_URLS_AS_ZSET", False)
    crawler: Any = Idle()
    crawler.settings = settings
    return Maintenance(crawler, worker, MaintenanceConfig(seeds=1, tiers=1))


async def reads(maintenance: Maintenance) -> None:
    """A duty that finds nothing to write, a few times."""
    left = iter(range(ROUNDS))

    async def duty() -> None:
        if next(left, None) is None:
            raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        await maintenance._every(0, duty)


async def test_a_server_that_serves_only_reads_is_away_and_that_is_said_once(caplog: pytest.LogCaptureFixture) -> None:
    refusal = FrontierUnavailableError("READONLY")
    stats, workers = MemoryStatsCollector(Crawler(Spider)), Workers(refusal)
    outage = RedisOutage(stats, lambda: None, lambda low, high: 0.0)
    maintenance = maintenance_of(workers, outage)
    with caplog.at_level(logging.WARNING):
        await outage.wait(refusal)  # of a call that writes
        await reads(maintenance)
        assert (outage.on, workers.beats) == (True, ROUNDS)
        workers.refusal = None
        await reads(maintenance)
    assert [record.msg.split(" (")[0] for record in caplog.records] == [
        "Redis does not answer",
        "Redis answers again after %.1f s",
    ]


async def test_what_hosts_answered_is_told_once_redis_takes_it() -> None:
    stats = MemoryStatsCollector(Crawler(Spider))
    outage = RedisOutage(stats, lambda: None, lambda low, high: 0.0)
    maintenance = maintenance_of(Workers(FrontierUnavailableError("away")), outage)
    domains: Any = maintenance._worker.frontier.domains
    answers = tallies_of(maintenance._crawler).answers
    for _ in range(3):
        answers.add("a.example", "ok")
    domains.refusal = FrontierUnavailableError("away")
    with pytest.raises(FrontierUnavailableError):
        await maintenance._tell_counts()
    answers.add("a.example", "ok")
    domains.refusal = None
    await maintenance._tell_counts()
    await maintenance._tell_counts()
    assert domains.told == {("a.example", "ok"): 4}


async def test_a_heartbeat_names_the_newest_run_that_it_holds_pages_of() -> None:
    workers = Workers(None)
    outage = RedisOutage(MemoryStatsCollector(Crawler(Spider)), lambda: None)
    maintenance = maintenance_of(workers, outage)
    await maintenance._heartbeat()
    generations = ("20231114000007", "20231114000012", "20231114000009", "3")
    book: Any = maintenance._worker.book
    book += [SimpleNamespace(lease=SimpleNamespace(generation=one)) for one in generations]
    await maintenance._heartbeat()
    assert workers.newest == ["0", "20231114000012"]


async def test_it_closes_in_order_where_data_of_another_release_have_taken_the_place_of_ours(
    caplog: pytest.LogCaptureFixture,
) -> None:
    stats = MemoryStatsCollector(Crawler(Spider))
    maintenance = maintenance_of(
        Workers(FrontierUnavailableError("away")), RedisOutage(stats, lambda: None, lambda low, high: 0.0)
    )
    domains: Any = maintenance._worker.frontier.domains
    domains.refusal = ServiceError("was written by a newer release")
    tallies_of(maintenance._crawler).answers.add("a.example", "ok")
    await maintenance.last()
    assert "Could not sign off (was written by a newer release)" in caplog.text
