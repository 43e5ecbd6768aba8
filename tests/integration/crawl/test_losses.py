"""Redis loses what it held, and the same URLs are pushed again: nothing is dropped for having been known before."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import threading
from asyncio.subprocess import PIPE
from pathlib import Path
from typing import Any

import redis.asyncio

from crawler.embedded.service import VALKEY
from tests.crawling import Fleet, count, ended
from tests.servers import Server
from tests.sites import Page, Site
from tests.zygote import PROJECT_DIR

LINKS = [f"/{number}" for number in range(10)]
PATIENT: dict[str, Any] = {"MAX_IDLE_TIME_BEFORE_CLOSE": 60, "ITEM_PIPELINES": {}}


def pages() -> dict[str, Page]:
    home = Page("".join(f"<a href={path}>.</a>" for path in LINKS))
    robots = Page("User-agent: *\nDisallow: /private\n", headers={"Content-Type": "text/plain"})
    return {"/": home, "/robots.txt": robots} | {path: Page() for path in LINKS}


async def test_what_is_pushed_again_after_a_loss_is_crawled_again(fleet: Fleet) -> None:
    """First only known fingerprints are lost, as after a restart with older data, and connections drop; then
    everything."""
    with Site(pages()) as site:
        worker = fleet.start(ROBOTSTXT_OBEY=True, **PATIENT)
        await fleet.workers(1)
        await fleet.push(site.url("/"))
        await fleet.until(lambda now: now.counters.done == 11)
        await lose(fleet, ":seen:*", drop=True)
        await fleet.push(site.url("/"))
        await fleet.until(lambda now: now.counters.done == 22)
        await lose(fleet, "*", drop=False)
        await fleet.push(site.url("/"))
        await fleet.until(lambda now: now.counters.done == 11)
        worker.kill()
    assert sorted(site.requested) == sorted(["/", *LINKS] * 3 + ["/robots.txt"] * 2)
    assert worker.log.count("Redis has lost its data") == 1


async def test_a_crawl_that_lost_its_queue_does_not_end_as_if_all_were_done(fleet: Fleet) -> None:
    held = threading.Event()
    with Site(pages() | {"/held": Page(hold=held)}) as site:
        worker = fleet.start(MAX_IDLE_TIME_BEFORE_CLOSE=0.1, ITEM_PIPELINES={})
        await fleet.workers(1)
        await fleet.push(site.url("/held"))
        await site.asked(1)
        await lose(fleet, "*", drop=False)
        held.set()
        status, log = await ended(worker)
    assert status == 1
    assert count(log, "frontier/data_lost") == 1
    assert "Redis has lost its data" in log


async def test_a_crawl_that_lost_some_of_its_queue_tells_how_much(fleet: Fleet) -> None:
    held = threading.Event()
    with Site(pages() | {"/held": Page(hold=held)}) as site:
        await fleet.push(*map(site.url, ("/held", *LINKS)), cap=1)
        worker = fleet.start(CONCURRENT_REQUESTS_PER_DOMAIN=1, ITEM_PIPELINES={})
        await site.asked(1)
        async with redis.asyncio.from_url(fleet.redis_url) as client:
            [queue] = await client.keys(f"{{{fleet.key}:0}}:q:*")
            for place in range(await client.llen(queue)):
                await client.lset(queue, place, "garbage")
        held.set()
        status, log = await ended(worker)
        again = await ended(fleet.start(ITEM_PIPELINES={}))
    assert (status, count(log, "frontier/requests_damaged")) == (1, len(LINKS))
    assert f"{len(LINKS)} requests were lost, as what Redis held of them was damaged" in log
    assert (again[0], count(again[1], "frontier/requests_damaged")) == (0, 0), "a later crawl has lost nothing"


async def test_a_run_that_is_given_a_lost_ones_number_has_a_scope_of_its_own(fleet: Fleet) -> None:
    with Site(pages()) as site:
        worker = fleet.start(**PATIENT)
        await fleet.workers(1)
        for scope, found in (('{"pages": 1}', 1), ("{}", 11)):
            before = len(site.requested)
            pushed = await asyncio.to_thread(
                fleet.runner.run, "push", "walk", site.url("/"), "--scope", scope, *fleet.options()
            )
            assert pushed.returncode == 0, pushed.stderr
            await site.asked(before + found)
            await fleet.until(lambda now: now.counters.done == len(site.requested) - before)  # noqa: B023
            await lose(fleet, "*", drop=False)
        worker.kill()
    assert sorted(site.requested) == sorted(["/", "/", *LINKS])


async def test_what_a_page_of_a_lost_run_leads_to_counts_in_no_other_run(fleet: Fleet) -> None:
    held = threading.Event()
    links = "".join(f"<a href={path}>.</a>" for path in LINKS)
    with Site(pages() | {"/held": Page(links, hold=held), "/new": Page()}) as site:
        worker = fleet.start(**PATIENT)
        await fleet.workers(1)
        told = []
        for path in ("/held", "/new"):
            push = ("push", "walk", site.url(path), *fleet.options())
            told.append((await asyncio.to_thread(fleet.runner.run, *push)).stdout)
            if path == "/held":
                await site.asked(1)
                await lose(fleet, "*", drop=False)
                await fleet.workers(1)
        held.set()
        await site.asked(2 + len(LINKS))
        shown = await asyncio.to_thread(fleet.runner.run, "runs", "list", "--json", *fleet.options())
        worker.kill()
    assert [one.rpartition("-")[2].strip() for one in told] == ["1)", "2)"]
    assert [json.loads(line)["counts"]["accepted"] for line in shown.stdout.splitlines()] == [1]


async def test_links_that_a_restart_took_back_are_found_again_before_their_page_is_done(
    fleet: Fleet, tmp_path: Path
) -> None:
    """Redis confirms what it writes to its disk up to two seconds later."""
    server = Server(VALKEY, tmp_path)
    front, end = threading.Event(), threading.Event()
    tree = {"/": Page(hold=front), "/found": Page(), "/end": Page(hold=end)}
    with Site(tree) as site:
        try:
            fleet.runner.env["REDIS_URL"] = fleet.redis_url = server.url
            worker = fleet.start("lingering", **PATIENT)
            await fleet.push(site.url("/"), spider="lingering")
            await fleet.until(lambda left: left.in_flight == 1, "lingering")
            await site.asked(1)
            await asyncio.sleep(0.2)  # what is said of a page that was sent
            (written,) = (tmp_path / "appendonlydir").glob("*.incr.aof")
            size = written.stat().st_size
            front.set()
            await fleet.until(lambda left: left.counters.done == 1, "lingering")
            server.kill()
            os.truncate(written, size)
            await server.start_again()
            end.set()
            left = await fleet.until(lambda left: left.counters.done == 2, "lingering")
            worker.send_signal(signal.SIGTERM)
            _, log = await ended(worker)
        finally:
            end.set()
            server.kill()
    assert left.states == {"done": 2}
    assert count(log, "frontier/nacked_for/links_lost") >= 1, log
    assert site.requested.count("/found") == 2


async def test_a_push_says_that_redis_may_have_lost_what_it_had_taken(fleet: Fleet, tmp_path: Path) -> None:
    server = Server(VALKEY, tmp_path)
    command = [sys.executable, "-m", "scrapy", "push", "walk", "-", *fleet.options()]
    environment = fleet.runner.env | {"REDIS_URL": server.url}
    fleet.redis_url = server.url
    pushing = await asyncio.create_subprocess_exec(
        *command, cwd=PROJECT_DIR, env=environment, stdin=PIPE, stdout=PIPE, stderr=PIPE
    )
    try:
        assert pushing.stdin is not None
        pushing.stdin.write(b"http://a.example/1\n")
        await fleet.until(lambda left: left.counters.queued == 1)
        server.kill()
        await server.start_again()
        out, told = await asyncio.wait_for(pushing.communicate(b"http://a.example/2\n"), 60)
    finally:
        if pushing.returncode is None:
            pushing.kill()
        server.kill()
    assert pushing.returncode == 2
    words = "has restarted or failed over, and may have lost what it confirmed last: do the same again"
    assert f"Redis at 127.0.0.1:{server.port} {words}" in told.decode()
    assert out.startswith(b"1 pushed to walk, what follows")


async def lose(fleet: Fleet, lost: str, *, drop: bool) -> None:
    async with redis.asyncio.from_url(fleet.redis_url) as client:
        names: list[Any] = [name async for name in client.scan_iter(f"{{{fleet.key}:0}}{lost}", count=1000)]
        await client.delete(*names)
        if drop:
            await client.client_kill_filter(_type="normal", skipme=True)
