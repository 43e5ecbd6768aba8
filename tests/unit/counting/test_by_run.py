"""Stats by run: what is counted for which page."""

from __future__ import annotations

import asyncio
from typing import Any

from scrapy import Request
from scrapy.utils.test import get_crawler

from crawler.counting.by_run import of_run
from crawler.engine.stats_collector import StatsCollector


def collector() -> Any:
    return StatsCollector(get_crawler())


async def test_what_a_page_counts_is_its_runs_in_the_tasks_that_it_starts_too() -> None:
    stats = collector()
    pages = {run: Request(f"http://a.example/{run}") for run in ("1", "2")}

    async def item() -> None:
        await asyncio.sleep(0)
        stats.inc_value("items")

    async def page(run: str) -> None:
        with of_run(run, pages[run]):
            stats.inc_value("pages", 2, start=3)
            stats.max_value("depth", int(run))
            stats.set_value("name", run)
            stats.set_value("level", 7)
            await asyncio.gather(item(), asyncio.create_task(item()))
            with of_run("", Request("http://a.example/robots.txt")):  # of no run itself
                stats.inc_value("robots")

    stats.inc_value("around")
    await asyncio.gather(page("1"), page("2"))
    of_one = {("pages", "sum"): 2, ("items", "sum"): 2, ("robots", "sum"): 1, ("level", "last"): 7}
    taken = stats.by_run.take()
    assert taken == {
        "": {("around", "sum"): 1},
        "1": of_one | {("depth", "max"): 1},
        "2": of_one | {("depth", "max"): 2},
    }
    assert stats.by_run.take() == {}
    assert stats.get_stats()["pages"] == 3 + 2 + 2, "Scrapy's own counting is as it was"


async def test_what_outlives_its_page_is_of_no_run() -> None:
    stats, request, go = collector(), Request("http://a.example/"), asyncio.Event()

    async def background() -> None:
        await go.wait()
        stats.inc_value("flushes")

    with of_run("1", request):
        task = asyncio.create_task(background())
    del request
    go.set()
    await task
    assert stats.by_run.take() == {"": {("flushes", "sum"): 1}}
