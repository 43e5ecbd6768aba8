"""Whole workers as processes: how they leave, how they die, and what is left of it."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pymongo.asynchronous.database import AsyncDatabase

from crawler.embedded.service import VALKEY
from tests.crawling import Fleet, count, ended
from tests.servers import Server
from tests.sites import Page, Site

Database = AsyncDatabase[dict[str, Any]]


def held_pages(number: int, hold: threading.Event) -> dict[str, Page]:
    return {f"/{each}": Page(hold=hold) for each in range(number)}


def linked_pages(number: int) -> Mapping[str, Page]:
    """A tree in which each page links to two more."""
    links = "<title>{0}</title><a href=/{1}>.</a><a href=/{2}>.</a>"
    return {f"/{each}": Page(links.format(each, 2 * each + 1, 2 * each + 2)) for each in range(number)}


async def stored(database: Database) -> list[str]:
    return sorted([page["url"] async for page in database["pages"].find()])


async def test_sigterm_gives_back_what_was_not_started_and_finishes_the_rest(
    fleet: Fleet, mongo_database: Database
) -> None:
    hold = threading.Event()
    with Site(held_pages(12, hold)) as site:
        await fleet.push(*map(site.url, site.pages), hosts=4)
        worker = fleet.start()
        await site.asked(4)
        await fleet.until(lambda now: now.counters.leased > 4)
        worker.send_signal(signal.SIGTERM)
        await fleet.until(lambda now: now.states == {"queued": 8, "leased": 4}, seconds=5)
        hold.set()
        status, log = await ended(worker)
        left = await fleet.left()
    assert status == 0
    assert left.states == {"queued": 8, "done": 4}
    assert (left.in_flight, left.leases, left.counters.reaped) == (0, 0, 0)
    assert len(await stored(mongo_database)) == len(site.received) == 4
    assert count(log, "frontier/acked") == 4
    assert "'finish_reason': 'shutdown'" in log


async def test_a_second_signal_quits_at_once(fleet: Fleet) -> None:
    hold = threading.Event()
    with Site(held_pages(4, hold)) as site:
        await fleet.push(*map(site.url, site.pages))
        worker = fleet.start()
        await site.asked(4)
        worker.send_signal(signal.SIGINT)
        await asyncio.sleep(0.5)
        assert worker.poll() is None
        worker.send_signal(signal.SIGINT)
        await ended(worker, seconds=5)
        left = await fleet.left()
        hold.set()
    assert left.states == {"leased": 4}  # they come back when their leases expire


async def test_killed_worker_loses_nothing_and_two_others_finish(fleet: Fleet, mongo_database: Database) -> None:
    with Site(linked_pages(63)) as site:
        await fleet.push(site.url("/0"))
        slow: dict[str, Any] = {"FRONTIER_LEASE_SECONDS": 2, "DOWNLOAD_DELAY": 0.03}
        killed = fleet.start(**slow)
        await site.asked(10)
        others = [fleet.start(**slow), fleet.start(**slow)]
        await site.asked(15)
        killed.kill()
        results = [await ended(other) for other in others]
        left = await fleet.left()
    assert [status for status, _ in results] == [0, 0]
    assert all(count(log, "frontier/acked") > 0 for _, log in results)
    pages = [url for url in await stored(mongo_database) if int(url.rpartition("/")[2]) < 63]
    assert pages == sorted(map(site.url, site.pages))
    assert left.states == {"done": left.counters.accepted}
    assert left.counters.accepted == 127  # the pages, and 64 links to pages that are not there
    assert (left.in_flight, left.leases) == (0, 0)


async def test_frozen_worker_changes_nothing_when_it_wakes(fleet: Fleet, mongo_database: Database) -> None:
    hold = threading.Event()
    with Site(held_pages(1, hold)) as site:
        await fleet.push(site.url("/0"))
        frozen = fleet.start(FRONTIER_LEASE_SECONDS=1.5)
        await site.asked(1)
        frozen.send_signal(signal.SIGSTOP)
        other = fleet.start(FRONTIER_LEASE_SECONDS=1.5)
        await site.asked(2)
        hold.set()
        assert (await ended(other))[0] == 0
        first = await mongo_database["pages"].find_one()
        frozen.send_signal(signal.SIGCONT)
        status, log = await ended(frozen)
        left = await fleet.left()
        assert await mongo_database["pages"].count_documents({}) == 1
        second = await mongo_database["pages"].find_one()
    assert status == 0
    assert first is not None
    assert second is not None
    assert first["version"] == second["version"] == 1
    assert first["fetched_at"] == second["fetched_at"]  # the older fetch does not put the page back
    assert count(log, "frontier/acked") == 0
    assert left.states == {"done": 1}
    assert (left.counters.reaped, left.in_flight, left.leases) == (1, 0, 0)


async def test_idle_worker_waits_while_others_hold_work_and_says_so_once(fleet: Fleet) -> None:
    hold = threading.Event()
    with Site(held_pages(1, hold)) as site:
        await fleet.push(site.url("/0"))
        busy = fleet.start()
        await site.asked(1)
        idle = fleet.start()
        await fleet.workers(2)
        await asyncio.sleep(2.5)
        assert (busy.poll(), idle.poll()) == (None, None)
        hold.set()
        results = [await ended(worker) for worker in (busy, idle)]
    assert [status for status, _ in results] == [0, 0]
    for _, log in results:
        assert log.count("Waiting for work: nothing is queued for walk. Push URLs with `scrapy push walk URL") == 1
    assert count(results[1][1], "frontier/leased") == 0


async def test_page_that_kills_its_worker_ends_as_dead_letter_and_no_other_is_lost(
    fleet: Fleet, mongo_database: Database
) -> None:
    with Site({"/kill": Page()} | {f"/{number}": Page() for number in range(8)}) as site:
        await fleet.push(*map(site.url, site.pages))
        statuses: list[int] = []
        while not statuses or (statuses[-1] and len(statuses) < 9):
            statuses.append((await ended(fleet.start(FRONTIER_LEASE_SECONDS=1, CONCURRENT_REQUESTS=16)))[0])
        left = await fleet.left()
    assert statuses == [1] * 5 + [0]
    assert left.states == {"done": 8, "dead": 1}
    assert (left.letters[0].reason, left.letters[0].deliveries) == ("deliveries", 5)
    assert (left.in_flight, left.leases) == (0, 0)
    assert await stored(mongo_database) == sorted(site.url(f"/{number}") for number in range(8))
    assert site.requested.count("/kill") == 5


async def test_worker_waits_for_a_redis_that_is_away_and_loses_nothing(
    fleet: Fleet, mongo_database: Database, tmp_path: Path
) -> None:
    server = Server(VALKEY, tmp_path)
    fleet.redis_url = fleet.runner.env["REDIS_URL"] = server.url
    try:
        with Site(linked_pages(31)) as site:
            await fleet.push(site.url("/0"))
            worker = fleet.start(DOWNLOAD_DELAY=0.02)
            await site.asked(8)
            await asyncio.sleep(1.1)  # appendfsync everysec: what Redis confirmed is on disk by then
            server.kill()
            await asyncio.sleep(5)
            server.start()
            status, log = await ended(worker)
            left = await fleet.left()
    finally:
        server.kill()
    assert status == 0
    assert log.count("Redis does not answer") == 1
    assert log.count("Redis answers again after") == 1
    assert left.states == {"done": left.counters.accepted} == {"done": 63}
    assert (left.in_flight, left.leases, left.reasons) == (0, 0, [])
    pages = [url for url in await stored(mongo_database) if int(url.rpartition("/")[2]) < 31]
    assert pages == sorted(map(site.url, site.pages))


async def test_paused_engine_gives_its_buffer_back(fleet: Fleet) -> None:
    hold = threading.Event()
    with Site(held_pages(20, hold) | {"/0": Page()}) as site:
        await fleet.push(*map(site.url, site.pages), hosts=4, spider="pausing")
        worker = fleet.start("pausing", ITEM_PIPELINES={})
        await fleet.until(lambda now: now.counters.done == 1, "pausing")
        hold.set()
        status, log = await ended(worker)
        left = await fleet.left("pausing")
    assert status == 0
    assert "'test/buffered_in_the_pause': 0" in log
    assert count(log, "frontier/given_back") > 0
    assert left.states == {"done": 20}
