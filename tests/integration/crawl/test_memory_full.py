"""Redis at maxmemory: a page never ends before the pages it leads to are stored, and what needs no room goes on."""

from __future__ import annotations

import asyncio
import json
import signal
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import redis.asyncio

from crawler.embedded.service import VALKEY
from tests.crawling import Fleet, count, ended, open_frontier, options, said
from tests.effort import PATIENCE
from tests.servers import ScrapyRunner, Server
from tests.sites import Page, Site
from tests.zygote import Forked

SETTINGS: dict[str, Any] = {"ITEM_PIPELINES": {}, "FRONTIER_LEASE_SECONDS": 2, "FRONTIER_START_WITHIN_SECONDS": 1}
PARENTS, CHILDREN = 4, 5


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    """A Valkey of this test's own, to be filled."""
    made = Server(VALKEY, tmp_path)
    yield made
    made.kill()


@pytest.fixture
async def client(server: Server) -> AsyncIterator[Any]:
    async with redis.asyncio.from_url(server.url) as made:
        yield made


@pytest.fixture
def fleet(scrapy_run: ScrapyRunner, server: Server) -> Fleet:
    scrapy_run.env.update(REDIS_URL=server.url)
    return Fleet(scrapy_run, server.url, "full", SETTINGS)


async def fill(client: Any) -> None:
    """From now on Redis refuses everything that may be refused."""
    used = (await client.info("memory"))["used_memory"]
    await client.config_set("maxmemory", used - 50_000)


def parents() -> dict[str, Page]:
    pages: dict[str, Page] = {}
    for number in range(PARENTS):
        links = [f"/{number}/{child}" for child in range(CHILDREN)]
        pages[f"/{number}"] = Page("".join(f"<a href={link}>.</a>" for link in links))
        pages |= {link: Page() for link in links}
    return pages


def tops(site: Site) -> list[str]:
    return [site.url(path) for path in site.pages if path.count("/") == 1]


async def waiting(fleet: Fleet, number: int) -> None:
    """Return when workers have reported this many pages waiting for room."""
    await reported(fleet, lambda told: sum(info.get("waiting", 0) for info in told) >= number)


async def reported(fleet: Fleet, condition: Callable[[list[Mapping[str, Any]]], bool]) -> None:
    """Return when what workers have reported fulfils *condition*."""
    async with open_frontier(fleet.redis_url, fleet.key) as frontier, asyncio.timeout(PATIENCE):
        while not condition([worker.info for worker in await frontier.workers.alive(60_000)]):  # noqa: ASYNC110
            await asyncio.sleep(0.1)


async def test_pages_without_new_links_drain_by_themselves(fleet: Fleet, client: Any) -> None:
    """Some have new links: these wait without delaying the others."""
    leaves = {f"/leaf/{number}": Page() for number in range(60)}
    with Site(parents() | leaves) as site:
        await fleet.push(*tops(site), *(site.url(path) for path in leaves))
        await fill(client)
        worker = fleet.start()
        await fleet.until(lambda now: now.counters.done == len(leaves))
        await waiting(fleet, 1)
        worker.send_signal(signal.SIGTERM)
        status, log = await ended(worker)
        left = await fleet.left()
    assert status == 0, log
    assert log.count("Leasing is slowed to one request at a time: Redis") == 1
    put_off = left.states.get("delayed", 0) + left.states.get("queued", 0)  # until their delay is over
    assert (left.counters.done, put_off, left.counters.accepted) == (len(leaves), PARENTS, PARENTS + len(leaves))
    assert (left.in_flight, left.leases) == (0, 0)


async def test_pages_wait_for_room_and_go_on_as_soon_as_there_is_some(fleet: Fleet, client: Any) -> None:
    """How soon is for the chaos run to say, on a machine of its own."""
    with Site(parents()) as site:
        await fleet.push(*tops(site))
        await fill(client)
        worker = fleet.start(FRONTIER_LEASE_SECONDS=60)
        await waiting(fleet, PARENTS)
        shown = await asyncio.to_thread(fleet.runner.run, "status", *options({"FRONTIER_KEY": fleet.key}))
        told = await asyncio.to_thread(fleet.runner.run, "status", "--json", *options({"FRONTIER_KEY": fleet.key}))
        full = await fleet.left()
        await client.config_set("maxmemory", 0)
        last = await fleet.until(lambda now: now.counters.done == PARENTS * (CHILDREN + 1))
        status, log = await ended(worker)
    assert status == 0, log
    assert (full.counters.done, full.counters.dead, full.counters.accepted) == (0, 0, PARENTS)
    assert "of its maxmemory" in " ".join(shown.stdout.split())
    assert f"{PARENTS} pages wait for room" in " ".join(shown.stdout.split())
    assert json.loads(told.stdout)["memory"] > 1
    assert last.counters.dead == 0
    assert log.count("Leasing is slowed to one request at a time: Redis") == 1


async def test_status_names_the_page_whose_requests_can_never_fit(fleet: Fleet, client: Any) -> None:
    """Also while the page is put off, and until there is room."""
    huge = "/huge/" + "x" * 1_900
    pages = parents() | {"/album": Page("".join(f"<a href={huge}{number}>.</a>" for number in range(60)))}
    told = options({"FRONTIER_KEY": fleet.key})
    with Site(pages) as site:
        await fleet.push(*tops(site))
        await fill(client)
        worker = fleet.start()
        await reported(fleet, lambda told: site.url("/album") in [info.get("largest_waiting") for info in told])
        await fleet.until(lambda now: now.counters.delayed > 0)
        shown = await asyncio.to_thread(fleet.runner.run, "status", *told)
        seen = json.loads((await asyncio.to_thread(fleet.runner.run, "status", "--json", *told)).stdout)
        worker.send_signal(signal.SIGTERM)
        status, log = await ended(worker)
    assert status == 0, log
    assert seen["largest_waiting"][0] == site.url("/album")
    assert 60 * 2_900 < seen["largest_waiting"][1] < 60 * 4_000
    assert f"bytes of requests found on {site.url('/album')}" in " ".join(shown.stdout.split())


async def test_workers_that_are_killed_while_pages_wait_lose_none_and_charge_none(fleet: Fleet, client: Any) -> None:
    with Site(parents()) as site:
        await fleet.push(*tops(site))
        await fill(client)
        for number in range(6):  # FRONTIER_MAX_DELIVERIES is 5
            worker = fleet.start(FRONTIER_LEASE_SECONDS=1)
            await said(worker, "Leasing is slowed to one request at a time: Redis")
            await waited(fleet)
            if number % 2:
                worker.kill()
            else:
                worker.send_signal(signal.SIGTERM)
            status, _ = await ended(worker)
            assert status == (-signal.SIGKILL if number % 2 else 0)
        full = await fleet.left()
        await client.config_set("maxmemory", 0)
        await ended(fleet.start(FRONTIER_LEASE_SECONDS=1))
        left = await fleet.left()
    assert (full.counters.done, full.counters.dead) == (0, 0)
    assert left.states == {"done": PARENTS * (CHILDREN + 1)}


async def waited(fleet: Fleet) -> None:
    """Return when a page waits and is not charged."""
    async with open_frontier(fleet.redis_url, fleet.key) as frontier:
        async with asyncio.timeout(PATIENCE):
            while not any(record[32:40] == bytes(8) and record[41] for record in await records(frontier)):  # noqa: ASYNC110
                await asyncio.sleep(0.02)


async def records(frontier: Any) -> list[bytes]:
    """Those of leases: started (8 bytes) at 32, released at 41; see lua/lib/requests/records.lua."""
    found: list[bytes] = await frontier.shards.client.hvals(frontier.shards.key(0, "infl"))
    return found


async def test_start_urls_that_find_no_room_are_named_and_the_exit_status_tells(fleet: Fleet, client: Any) -> None:
    with Site(parents()) as site:
        await fill(client)
        urls = tops(site)
        given = ["-a", f"urls={' '.join(urls)}"]
        worker: Forked = fleet.runner.fork("crawl", "starting", *fleet.options(), *given)
        await said(worker, "The frontier refuses new start requests (refused/memory)")
        worker.send_signal(signal.SIGTERM)
        status, log = await ended(worker)
    assert status == 1
    assert f"{PARENTS} start URLs were not stored. Push them again: " in log
    assert all(url in log for url in urls)
    assert count(log, "frontier/start_requests_lost") == PARENTS


@pytest.mark.parametrize("charged", [False, True])
async def test_a_worker_that_closes_waits_for_redis_no_longer_than_it_may(
    fleet: Fleet, server: Server, charged: bool
) -> None:
    """Its leases expire by themselves. What Redis does not take is the delivery of a page, or its ending."""
    hold = threading.Event()
    with Site({"/0": Page(hold=hold)}) as site:
        await fleet.push(site.url("/0"))
        worker = fleet.start(FRONTIER_CLOSE_SECONDS=1)
        await site.asked(1)
        if charged:
            await started(fleet)
        server.freeze()
        try:
            worker.send_signal(signal.SIGTERM)
            await said(worker, "Received SIGTERM, shutting down gracefully")
            hold.set()
            _, log = await ended(worker)  # without a bound: for as long as Redis is away
        finally:
            server.thaw()
    assert log.count("Redis did not accept all of this worker's last reports within 1 s: its leases will expire") == 1


async def started(fleet: Fleet) -> None:
    """Return when a delivery is charged."""
    async with open_frontier(fleet.redis_url, fleet.key) as frontier:
        async with asyncio.timeout(PATIENCE):
            while not any(record[32:40] != bytes(8) for record in await records(frontier)):  # noqa: ASYNC110
                await asyncio.sleep(0.02)
