"""Whole workers of the browser tier: rendered pages end in the store, also when the browser is killed meanwhile."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from pymongo.asynchronous.database import AsyncDatabase

from tests.crawling import Fleet, count, ended, said
from tests.integration.handlers.browsing import executable
from tests.sites import LATE, Page, Site

BROWSER: dict[str, Any] = {
    "TIER": "browser",
    "BROWSER_SETTLE_SECONDS": 0.2,
    "CONCURRENT_REQUESTS": 2,
    "RETRY_TIMES": 5,
}
PAGE = "<title>plain</title><script>document.title = 'rendered'</script>"


@pytest.fixture(autouse=True)
def chromium() -> str:
    return executable()


def descendants(pid: int) -> Iterator[int]:
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(stat.read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
        if parent == pid:
            yield int(stat.parent.name)
            yield from descendants(int(stat.parent.name))


def browsers(pid: int) -> list[int]:
    """The main processes of Chromium below *pid*."""
    return [one for one in descendants(pid) if b"--headless" in (command := words(one)) and b"--type=" not in command]


def words(pid: int) -> bytes:
    """The command line of *pid*, nothing when it has just ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


async def test_a_killed_browser_loses_no_page(fleet: Fleet, mongo_database: AsyncDatabase[dict[str, Any]]) -> None:
    hold = threading.Event()  # or everything would be over before the kill
    with Site({f"/{number}": Page(PAGE, hold=hold if number > 1 else None) for number in range(6)}) as site:
        await fleet.push(*map(site.url, site.pages), stream="walk:browser", cap=2)
        worker = fleet.start(**BROWSER | {"DOWNLOAD_TIMEOUT": 15})  # what a page costs at most that dies unnoticed
        await site.asked(3)
        (chromium,) = browsers(worker.pid)
        os.kill(chromium, signal.SIGKILL)
        hold.set()
        status, log = await ended(worker)

    assert status == 0, log
    assert count(log, "browser/restarts/died") == 1
    assert (await fleet.left()).states == {"done": 6}
    stored = [page async for page in mongo_database["pages"].find()]
    assert sorted(page["url"] for page in stored) == sorted(map(site.url, site.pages))
    assert {page["title"] for page in stored} == {"rendered"}
    assert not browsers(worker.pid)


async def test_one_worker_serves_both_tiers(fleet: Fleet, mongo_database: AsyncDatabase[dict[str, Any]]) -> None:
    with Site({"/robots.txt": Page("", 404), "/plain": Page(PAGE), "/rendered": Page(PAGE)}) as site:
        await fleet.push(site.url("/plain"))
        await fleet.push(site.url("/rendered"), stream="walk:browser")
        status, log = await ended(fleet.start(**BROWSER | {"TIER": "http,browser", "ROBOTSTXT_OBEY": True}))

    assert status == 0, log
    titles = {page["url"]: page["title"] async for page in mongo_database["pages"].find()}
    assert titles == {site.url("/plain"): "plain", site.url("/rendered"): "rendered"}
    agents = {request.path: dict(request.headers) for request in site.received}
    assert {name for name, headers in agents.items() if "Sec-Fetch-Dest" in headers} == {"/rendered"}
    assert len({headers.get("User-Agent") or headers["user-agent"] for headers in agents.values()}) == 1


async def test_redirects_of_a_rendered_page_are_paced_by_the_frontier(fleet: Fleet) -> None:
    pages = {"/": Page("", 302, {"Location": "/script"}), "/script": Page("<script>location = '/end'</script>")}
    with Site(pages | {"/end": Page(PAGE)}) as site:
        await fleet.push(site.url("/"), stream="walk:browser", cap=1, delay_ms=1000)
        status, log = await ended(fleet.start(**BROWSER, DOWNLOAD_DELAY=1, CONCURRENT_REQUESTS_PER_DOMAIN=1))

    assert status == 0, log
    assert site.requested == ["/", "/script", "/end"]
    moments = [request.at for request in site.received]
    assert min(after - before for before, after in pairwise(moments)) > 1 - LATE


async def test_a_worker_without_a_chromium_says_so(fleet: Fleet) -> None:
    status, log = await ended(fleet.start(**BROWSER, BROWSER_EXECUTABLE="/nowhere/chromium"))

    assert status == 2
    assert "BROWSER_EXECUTABLE = '/nowhere/chromium' is invalid" in log


async def test_a_worker_told_to_end_finishes_the_pages_that_are_open(fleet: Fleet) -> None:
    hold = threading.Event()
    with Site({"/": Page(PAGE, hold=hold)}) as site:
        await fleet.push(site.url("/"), stream="walk:browser")
        worker = fleet.start(**BROWSER)
        await site.asked(1)
        worker.send_signal(signal.SIGTERM)
        await said(worker, "Received SIGTERM, shutting down gracefully")
        await asyncio.sleep(0.5)
        hold.set()
        status, log = await ended(worker)

    assert status == 0, log
    assert (await fleet.left()).states == {"done": 1}
    assert len(site.received) == 1
