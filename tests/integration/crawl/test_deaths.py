"""Whole workers as processes: killed, frozen, or without Redis; and nothing is lost, nothing twice."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pymongo.asynchronous.database import AsyncDatabase

from crawler.embedded.service import VALKEY
from tests.crawling import SHORT_LEASE, Fleet, count, ended, said
from tests.servers import Server
from tests.sites import Page, Site

Database = AsyncDatabase[dict[str, Any]]


def linked_pages(number: int, hold: threading.Event, held: int) -> Mapping[str, Page]:
    """A tree in which each page links to two more; those from *held* on wait for *hold*."""
    links = "<title>{0}</title><a href=/{1}>.</a><a href=/{2}>.</a>"
    return {
        f"/{each}": Page(links.format(each, 2 * each + 1, 2 * each + 2), hold=hold if each >= held else None)
        for each in range(number)
    }


async def stored(database: Database) -> list[str]:
    return sorted([page["url"] async for page in database["pages"].find()])


async def test_killed_worker_loses_nothing_and_two_others_finish(fleet: Fleet, mongo_database: Database) -> None:
    hold = threading.Event()
    with Site(linked_pages(63, hold, held=7)) as site:
        await fleet.push(site.url("/0"))
        slow = SHORT_LEASE | {"DOWNLOAD_DELAY": 0.03}
        killed = fleet.start(**slow)
        await site.asked(8)
        others = [fleet.start(**slow), fleet.start(**slow)]
        await fleet.workers(3)
        killed.kill()
        hold.set()
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
    with Site({"/0": Page(hold=hold)}) as site:
        await fleet.push(site.url("/0"))
        frozen = fleet.start(**SHORT_LEASE)
        await site.asked(1)
        frozen.send_signal(signal.SIGSTOP)
        other = fleet.start(**SHORT_LEASE)
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


async def test_page_that_kills_its_worker_ends_as_dead_letter_and_no_other_is_lost(
    fleet: Fleet, mongo_database: Database
) -> None:
    with Site({"/kill": Page()} | {f"/{number}": Page() for number in range(8)}) as site:
        await fleet.push(*map(site.url, site.pages))
        statuses: list[int] = []
        while not statuses or (statuses[-1] and len(statuses) < 9):
            statuses.append((await ended(fleet.start(**SHORT_LEASE, CONCURRENT_REQUESTS=16)))[0])
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
    server, hold = Server(VALKEY, tmp_path), threading.Event()
    fleet.redis_url = fleet.runner.env["REDIS_URL"] = server.url
    try:
        with Site(linked_pages(31, hold, held=7)) as site:
            await fleet.push(site.url("/0"))
            worker = fleet.start(DOWNLOAD_DELAY=0.02)
            await site.asked(8)  # one of those that are held at least
            await asyncio.sleep(1.1)  # appendfsync everysec: what Redis confirmed is on disk by then
            server.kill()
            hold.set()
            await said(worker, "Redis does not answer")
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
