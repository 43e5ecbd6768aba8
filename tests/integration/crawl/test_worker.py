"""Whole workers as processes: how they take their leave, and when."""

from __future__ import annotations

import asyncio
import signal
import threading
from typing import Any

from pymongo.asynchronous.database import AsyncDatabase

from tests.crawling import Fleet, count, ended, open_frontier, said
from tests.sites import Page, Site


def held_pages(number: int, hold: threading.Event) -> dict[str, Page]:
    return {f"/{each}": Page(hold=hold) for each in range(number)}


async def test_sigterm_gives_back_what_was_not_started_and_finishes_the_rest(
    fleet: Fleet, mongo_database: AsyncDatabase[dict[str, Any]]
) -> None:
    hold = threading.Event()
    with Site(held_pages(12, hold)) as site:
        await fleet.push(*map(site.url, site.pages), hosts=4)
        worker = fleet.start()
        await site.asked(4)
        await fleet.until(lambda now: now.counters.leased > 4)
        worker.send_signal(signal.SIGTERM)
        await fleet.until(lambda now: now.states == {"queued": 8, "leased": 4}, seconds=60)  # a lease is longer
        hold.set()
        status, log = await ended(worker)
        left = await fleet.left()
    assert status == 0
    assert left.states == {"queued": 8, "done": 4}
    assert (left.in_flight, left.leases, left.counters.reaped) == (0, 0, 0)
    assert await mongo_database["pages"].count_documents({}) == len(site.received) == 4
    assert count(log, "frontier/acked") == 4
    assert "'finish_reason': 'shutdown'" in log


async def test_a_second_signal_quits_at_once(fleet: Fleet) -> None:
    hold = threading.Event()
    with Site(held_pages(4, hold)) as site:
        await fleet.push(*map(site.url, site.pages))
        worker = fleet.start()
        await site.asked(4)
        worker.send_signal(signal.SIGINT)
        await said(worker, "Received SIGINT, shutting down gracefully")  # two at once would be one
        await asyncio.sleep(0.5)
        assert worker.poll() is None
        worker.send_signal(signal.SIGINT)
        await ended(worker, seconds=50)  # the pages are held for longer
        left = await fleet.left()
        hold.set()
    assert left.states == {"leased": 4}  # they come back when their leases expire


async def test_a_signal_while_it_closes_cuts_nothing_off(fleet: Fleet) -> None:
    """It would be taken for silent, and what ends with the spider, such as a feed, would be lost."""
    worker = fleet.start("slowly_closed", MAX_IDLE_TIME_BEFORE_CLOSE=0.1)
    await said(worker, "Closing spider (finished)")
    worker.send_signal(signal.SIGTERM)
    status, log = await ended(worker)
    assert (status, log.count("Spider closed (finished)")) == (0, 1)
    async with open_frontier(fleet.redis_url, fleet.key) as frontier:
        assert await frontier.workers.alive() == []


async def test_paused_engine_gives_its_buffer_back(fleet: Fleet) -> None:
    hold = threading.Event()
    with Site(held_pages(20, hold) | {"/0": Page()}) as site:
        await fleet.push(*map(site.url, site.pages), hosts=4, spider="pausing")
        worker = fleet.start("pausing", SHOAL_STORE=False)
        await fleet.until(lambda now: now.counters.done == 1, "pausing")
        hold.set()
        status, log = await ended(worker)
        left = await fleet.left("pausing")
    assert status == 0
    assert "'test/buffered_in_the_pause': 0" in log
    assert count(log, "frontier/given_back") > 0
    assert left.states == {"done": 20}


async def test_idle_worker_waits_while_others_hold_work_and_says_so_once(fleet: Fleet) -> None:
    hold = threading.Event()
    with Site(held_pages(1, hold)) as site:
        await fleet.push(site.url("/0"))
        patient: dict[str, Any] = {
            "MAX_IDLE_TIME_BEFORE_CLOSE": 2
        }  # time to report, even for one that had no turn for a second
        busy = fleet.start(**patient)
        await site.asked(1)
        idle = fleet.start(**patient)
        await fleet.workers(2)
        await asyncio.sleep(2.5)
        assert (busy.poll(), idle.poll()) == (None, None)
        hold.set()
        results = [await ended(worker) for worker in (busy, idle)]
    assert [status for status, _ in results] == [0, 0]
    for _, log in results:
        assert log.count("Waiting for work: nothing is queued for walk. Push URLs with `scrapy push walk URL") == 1
    assert count(results[1][1], "frontier/leased") == 0


async def test_a_start_again_whose_start_requests_are_known_says_how_they_are_crawled_anew(fleet: Fleet) -> None:
    with Site({"/0": Page()}) as site:
        arguments = ["-a", f"urls={site.url('/0')}", *fleet.options(MAX_IDLE_TIME_BEFORE_CLOSE=0.1)]
        first, again = [await ended(fleet.runner.fork("crawl", "starting", *arguments)) for _ in range(2)]
    assert len(site.requested) == 1
    assert "--recrawl" not in first[1]
    assert again[1].count("are known to its crawl: `scrapy push starting URL --recrawl` crawls them") == 1


async def test_what_pages_lead_to_while_a_worker_drains_is_kept(fleet: Fleet) -> None:
    """A redirect that comes in then goes on in another worker from where it stands."""
    hold = threading.Event()
    links = Page("<a href=/child>.</a>", hold=hold)
    moved = Page(status=302, headers={"Location": "/new"}, hold=hold)
    with Site({"/links": links, "/moved": moved, "/new": Page(), "/child": Page()}) as site:
        await fleet.push(site.url("/links"), site.url("/moved"))
        worker = fleet.start()
        await site.asked(2)
        worker.send_signal(signal.SIGTERM)
        await said(worker, "Received SIGTERM, shutting down gracefully")
        await asyncio.sleep(0.3)
        hold.set()
        status, log = await ended(worker)
        assert status == 0
        assert (await fleet.left()).states == {"queued": 2, "done": 1}
        assert (count(log, "frontier/pushed"), count(log, "frontier/nacked")) == (1, 1)
        assert (await ended(fleet.start()))[0] == 0
        left = await fleet.left()
    assert left.states == {"done": 3}
    assert sorted(site.requested) == ["/child", "/links", "/moved", "/new"]


async def test_a_worker_that_stores_elsewhere_than_others_of_its_spider_says_so(fleet: Fleet) -> None:
    first = fleet.start(MAX_IDLE_TIME_BEFORE_CLOSE=60)
    await fleet.workers(1)
    await said(fleet.start(MONGODB_DATABASE="elsewhere"), "in the database elsewhere by this worker")
    assert "stored in the database" not in first.log
