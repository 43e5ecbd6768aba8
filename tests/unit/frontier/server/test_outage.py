"""An outage is logged once, and caches are cleared at its start and end."""

from __future__ import annotations

import asyncio
import logging

import pytest
from scrapy.crawler import Crawler
from scrapy.spiders import Spider
from scrapy.statscollectors import MemoryStatsCollector

from crawler import stats as names
from crawler.frontier.errors import FrontierRefusedError, FrontierUnavailableError, ShardAwayError
from crawler.frontier.server.outage import RedisOutage


@pytest.mark.parametrize("failures", [1, 3])
async def test_however_many_calls_fail_it_is_one_outage(failures: int, caplog: pytest.LogCaptureFixture) -> None:
    stats, forgotten = MemoryStatsCollector(Crawler(Spider)), 0

    def forget() -> None:
        nonlocal forgotten
        forgotten += 1

    outage = RedisOutage(stats, forget, lambda low, high: 0.0)
    outage.over()
    assert forgotten == 0

    with caplog.at_level(logging.WARNING):
        for _ in range(failures):
            await outage.wait(FrontierUnavailableError("gone"))
        assert bool(outage.on)
        assert forgotten == 1
        outage.over()
        outage.over()

    assert not bool(outage.on)
    assert forgotten == 2
    ours = [record for record in caplog.records if record.name == "crawler.frontier.server.outage"]
    assert [record.msg.split(" (")[0] for record in ours] == [
        "Redis does not answer",
        "Redis answers again after %.1f s",
    ]
    assert stats.get_value(names.REDIS_ERRORS) == failures


async def test_loops_do_not_wait_longer_and_longer_while_only_some_shards_are_away() -> None:
    outage, waited = RedisOutage(MemoryStatsCollector(Crawler(Spider)), lambda: None, lambda low, high: high), []

    async def sleep(seconds: float) -> None:
        waited.append(seconds)

    outage._sleep = sleep
    for error in (*[ShardAwayError("one node")] * 3, FrontierUnavailableError("all"), FrontierUnavailableError("all")):
        await outage.wait(error)
    assert waited[0] == waited[1] == waited[2] <= waited[3] < waited[4]


async def test_that_other_hosts_go_on_is_told_once_and_only_when_one_was_served(
    caplog: pytest.LogCaptureFixture,
) -> None:
    away: set[int] = set()
    outage = RedisOutage(MemoryStatsCollector(Crawler(Spider)), lambda: None, lambda low, high: 0.0, away=away)
    for first in (FrontierUnavailableError("silent"), ShardAwayError("silent; hosts of shard 1 wait")):
        caplog.clear()
        outage.failed(first, outage._clock())
        away.update({2, 1})
        outage.failed(ShardAwayError("silent; hosts of shard 2 wait"), outage._clock())
        assert len(caplog.records) == 1, "all nodes may be away"
        outage.over()
        outage.over()
        assert [record.getMessage() for record in caplog.records[1:]] == [
            "Hosts of shards 1, 2 wait, those of others go on"
        ]
        away.clear()
        outage.over()
        assert not outage.on
        assert len(caplog.records) == 3


async def test_a_server_that_comes_and_goes_fills_no_log(caplog: pytest.LogCaptureFixture) -> None:
    now, forgotten = 0.0, [0]

    def forget() -> None:
        forgotten[0] += 1

    outage = RedisOutage(MemoryStatsCollector(Crawler(Spider)), forget, lambda low, high: 0.0, lambda: now)
    outage._sleep = lambda seconds: asyncio.sleep(0)
    for _ in range(40):
        now += 0.5
        await outage.wait(FrontierUnavailableError("gone"))
        outage.over()
    assert forgotten == [80], "each outage counts, told or not"
    assert len(caplog.records) == 6, "three, each with its end"

    await outage.wait(FrontierUnavailableError("gone"))
    assert len(caplog.records) == 6
    now += 6
    await outage.wait(FrontierUnavailableError("gone"))
    assert caplog.records[-1].getMessage().endswith("It comes and goes: 38 times since the last such line.")
    now += 1
    outage.over()
    assert caplog.records[-1].getMessage() == "Redis answers again after 7.0 s"

    now += 60
    await outage.wait(FrontierUnavailableError("gone"))
    assert caplog.records[-1].getMessage() == "Redis does not answer (gone): waiting; nothing is lost."


async def test_it_is_over_once_no_call_has_failed_for_long_enough() -> None:
    """Of a Cluster some nodes answer while another is away."""
    stats, now = MemoryStatsCollector(Crawler(Spider)), 0.0
    outage = RedisOutage(stats, lambda: None, lambda low, high: 0.0, lambda: now, steady_seconds=6)
    await outage.wait(FrontierUnavailableError("gone"))
    now = 4.0
    outage.over()
    await outage.wait(FrontierUnavailableError("gone"))
    now = 9.9
    outage.over()
    assert bool(outage.on)
    now = 10.0
    outage.over()
    assert not bool(outage.on)


async def test_a_call_is_repeated_until_it_is_served() -> None:
    outage = RedisOutage(MemoryStatsCollector(Crawler(Spider)), lambda: None, lambda low, high: 0.0)
    answers = iter([FrontierUnavailableError("gone"), FrontierUnavailableError("gone"), None])
    seen: list[bool] = []

    async def call() -> str:
        seen.append(outage.on)
        if (error := next(answers)) is not None:
            raise error
        return "served"

    assert await outage.insist(call) == "served"
    assert seen == [False, True, True]
    assert not outage.on


async def test_patience_has_an_end_where_one_is_given() -> None:
    now = 0.0
    outage = RedisOutage(MemoryStatsCollector(Crawler(Spider)), lambda: None, lambda low, high: 0.0, lambda: now)
    outage._sleep = lambda seconds: asyncio.sleep(0)

    async def call() -> None:
        nonlocal now
        now += 3
        raise FrontierUnavailableError("gone")

    with pytest.raises(FrontierUnavailableError):
        await outage.insist(call, 10)
    assert now == 12


async def test_a_refusal_is_no_outage() -> None:
    outage = RedisOutage(MemoryStatsCollector(Crawler(Spider)), lambda: None, lambda low, high: 0.0)

    async def call() -> None:
        raise FrontierRefusedError("no")

    with pytest.raises(FrontierRefusedError):
        await outage.insist(call)
    assert not outage.on


async def test_it_is_not_over_while_shards_are_away_however_rarely_that_is_heard() -> None:
    stats, now, away = MemoryStatsCollector(Crawler(Spider)), 0.0, {1}
    outage = RedisOutage(stats, lambda: None, lambda low, high: 0.0, lambda: now, steady_seconds=6, away=away)
    await outage.wait(ShardAwayError("silent"))
    now = 30.0
    outage.over()
    assert outage.on
    away.clear()
    outage.over()
    assert not outage.on
