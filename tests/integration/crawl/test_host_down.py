"""A host that is dead: its pages are given up after a term, as dead letters that name them, and can be brought back."""

from __future__ import annotations

import asyncio
import json
import signal
import time
from typing import Any
from urllib.parse import urlsplit

from tests.crawling import Fleet, ended, options
from tests.sites import Page, Site

PAGES = 8
SETTINGS: dict[str, Any] = {
    "FRONTIER_BREAKER_FAULTS": 2,
    "FRONTIER_BREAKER_SECONDS": 0.5,
    "FRONTIER_BREAKER_MAX_SECONDS": 1,
    "ROBOTSTXT_UNREACHABLE_SECONDS": 4,
    "RETRY_CLASSES": {"host_fault": {"times": 99, "base_seconds": 0.1, "cap_seconds": 0.2}},
    "MAX_IDLE_TIME_BEFORE_CLOSE": 0,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 2,
    "DOWNLOAD_TIMEOUT": 5,
}


async def scrapy(fleet: Fleet, *args: str) -> str:
    told = options({"FRONTIER_KEY": fleet.key, "ROBOTSTXT_UNREACHABLE_SECONDS": 4})
    done = await asyncio.to_thread(fleet.runner.run, *args, *told)
    assert done.returncode == 0, done.stderr
    return done.stdout


async def test_pages_of_a_dead_host_are_given_up_after_a_term_and_come_back_when_retried(fleet: Fleet) -> None:
    """One worker sees all of it."""
    pages = {f"/{number}": Page(headers={"Connection": "close"}) for number in range(PAGES + 1)}
    with Site(pages) as site:
        first, *others = (site.url(path) for path in pages)
        await fleet.push(first, cap=2)
        worker = fleet.start(**SETTINGS)
        await fleet.until(lambda now: now.counters.done == 1)
    await fleet.push(*others, cap=2)
    told: list[dict[str, Any]] = []
    deadline = time.monotonic() + 20
    while not (told and told[0]["given_up_ms"] is not None):
        assert time.monotonic() < deadline, told
        told = json.loads(await scrapy(fleet, "status", "--json"))["waiting"]
    assert 0 <= told[0]["given_up_ms"] <= 4_000
    left = await fleet.until(lambda now: now.counters.dead == PAGES)
    listed = [json.loads(line) for line in (await scrapy(fleet, "dead", "list", "--json")).splitlines()]
    assert left.states == {"done": 1, "dead": PAGES}
    assert {letter["reason"] for letter in listed} == {"host_down"}
    assert {letter["detail"]["url"] for letter in listed} == set(others)
    assert all(letter["detail"]["error"] == "127.0.0.1 has not worked for 4 s" for letter in listed)
    assert "host_down" in await scrapy(fleet, "dead", "list", "--reason", "host_down")
    with Site(pages, port=urlsplit(first).port or 0):
        assert f"{PAGES} queued again" in await scrapy(fleet, "dead", "retry", "--reason", "host_down")
        left = await fleet.until(lambda now: now.counters.done == PAGES + 1)
        worker.send_signal(signal.SIGTERM)
        status, log = await ended(worker)
    assert status == 0, log
    assert (left.states, left.in_flight) == ({"done": PAGES + 1}, 0)
    assert "127.0.0.1 has been down for" in log
