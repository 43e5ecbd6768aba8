"""An outage is said once, and what was believed of the server is forgotten at both its ends."""

from __future__ import annotations

import logging

import pytest
from redis.exceptions import MasterDownError, NoPermissionError, OutOfMemoryError, ReadOnlyError, ResponseError
from scrapy.crawler import Crawler
from scrapy.spiders import Spider
from scrapy.statscollectors import MemoryStatsCollector

from crawler import stats as names
from crawler.errors import ServiceError
from crawler.frontier.server.outage import Outage


@pytest.mark.parametrize("failures", [1, 3])
async def test_however_many_calls_fail_it_is_one_outage(failures: int, caplog: pytest.LogCaptureFixture) -> None:
    stats, forgotten = MemoryStatsCollector(Crawler(Spider)), 0

    def forget() -> None:
        nonlocal forgotten
        forgotten += 1

    outage = Outage(stats, lambda low, high: 0.0, forget)
    outage.over()
    assert forgotten == 0

    with caplog.at_level(logging.WARNING):
        for _ in range(failures):
            await outage.wait(ConnectionError("gone"))
        assert bool(outage.on)
        assert forgotten == 1
        outage.over()
        outage.over()

    assert not bool(outage.on)
    assert forgotten == 2
    assert [record.msg.split(" (")[0] for record in caplog.records] == [
        "Redis does not answer",
        "Redis answers again after %.1f s",
    ]
    assert stats.get_value(names.REDIS_ERRORS) == failures


async def test_it_is_over_once_no_call_has_failed_for_long_enough() -> None:
    """Of a Cluster some nodes answer while another is away."""
    stats, now = MemoryStatsCollector(Crawler(Spider)), 0.0
    outage = Outage(stats, lambda low, high: 0.0, lambda: None, lambda: now, steady_seconds=6)
    await outage.wait(ConnectionError("gone"))
    now = 4.0
    outage.over()
    await outage.wait(ConnectionError("gone"))
    now = 9.9
    outage.over()
    assert bool(outage.on)
    now = 10.0
    outage.over()
    assert not bool(outage.on)


@pytest.mark.parametrize(
    "error",
    [ReadOnlyError("READONLY"), OutOfMemoryError("OOM"), MasterDownError("x"), ResponseError("MISCONF disk is full")],
)
async def test_refusals_that_pass_are_waited_for(error: Exception) -> None:
    outage = Outage(MemoryStatsCollector(Crawler(Spider)), lambda low, high: 0.0, lambda: None)
    await outage.wait(error)
    assert outage.on


@pytest.mark.parametrize(
    "error", [ResponseError("WRONGTYPE Operation against a key"), NoPermissionError("NOPERM"), ResponseError("ERR no")]
)
async def test_refusals_that_stay_end_the_worker(error: Exception) -> None:
    outage = Outage(MemoryStatsCollector(Crawler(Spider)), lambda low, high: 0.0, lambda: None)
    with pytest.raises(ServiceError) as ended:
        await outage.wait(error)
    assert str(error) in str(ended.value)
