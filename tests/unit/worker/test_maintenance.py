"""The duties of a worker, while its server is not quite there."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from dataclasses import fields
from types import SimpleNamespace
from typing import Any
from unittest.mock import AsyncMock, MagicMock, Mock

import pytest
from scrapy.crawler import Crawler
from scrapy.spiders import Spider
from scrapy.statscollectors import MemoryStatsCollector

from crawler.errors import ServiceError
from crawler.frontier.errors import FrontierUnavailableError
from crawler.frontier.server.outage import RedisOutage
from crawler.worker.background import BackgroundTasks
from crawler.worker.maintenance import Maintenance, MaintenanceConfig

ROUNDS = 5


def maintenance_of(**parts: Any) -> Maintenance:
    """That of a worker with nothing but *parts*."""
    worker: Any = SimpleNamespace(**parts)
    return Maintenance(worker, MaintenanceConfig(seeds=1, tiers=1))


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
    outage = RedisOutage(MemoryStatsCollector(Crawler(Spider)), lambda: None, lambda low, high: 0.0)
    heartbeat, idleness = SimpleNamespace(beat=AsyncMock(side_effect=refusal)), Mock()
    maintenance = maintenance_of(outage=outage, heartbeat=heartbeat, idleness=idleness)
    with caplog.at_level(logging.WARNING):
        await outage.wait(refusal)  # of a call that writes
        await reads(maintenance)
        assert (outage.on, heartbeat.beat.await_count) == (True, ROUNDS)
        assert idleness.unknown.call_count == ROUNDS, "nobody can tell whether there is work"
        heartbeat.beat.side_effect = None
        await reads(maintenance)
    assert [record.msg.split(" (")[0] for record in caplog.records] == [
        "Redis does not answer",
        "Redis answers again after %.1f s",
    ]


async def test_it_closes_in_order_where_data_of_another_release_have_taken_the_place_of_ours(
    caplog: pytest.LogCaptureFixture,
) -> None:
    tallies = SimpleNamespace(send=AsyncMock(side_effect=ServiceError("was written by a newer release")))
    await maintenance_of(tallies=tallies).last()
    assert "Could not sign off (was written by a newer release)" in caplog.text


async def test_no_duty_outlives_its_end_though_a_driver_swallows_the_cancellation() -> None:
    """A heartbeat after the worker has signed off would have it taken for one that is silent."""
    beats, begun = list[str](), asyncio.Event()

    async def beat() -> None:
        beats.append("beat")
        begun.set()
        with suppress(asyncio.CancelledError):  # as `wait_for` of Python 3.11
            await asyncio.sleep(60 if len(beats) == 1 else 0)

    worker = MagicMock(tasks=BackgroundTasks(Mock(engine=None), lambda: None), outage=Mock(on=False))
    worker.frontier.config.renew_seconds = 60
    worker.heartbeat.beat = beat
    seldom = dict.fromkeys([one.name for one in fields(MaintenanceConfig)], 60.0)
    Maintenance(worker, MaintenanceConfig(**seldom | {"heartbeat": 0})).begin()
    await begun.wait()
    await worker.tasks.end()
    before = len(beats)
    await asyncio.sleep(0.01)
    assert len(beats) == before
