"""A host that is dead: its pages are given up after a term, as dead letters that name them, and can be brought back."""

from __future__ import annotations

import asyncio
import json
import signal
from typing import Any

import redis.asyncio

from crawler.frontier.config import FrontierConfig
from crawler.frontier.frontier import Frontier
from demo.state import any_port
from tests.crawling import Fleet, ended, options
from tests.sites import Page, Site

PAGES = 8
TERM_SECONDS = 4
SETTINGS: dict[str, Any] = {
    "FRONTIER_BREAKER_FAULTS": 2,
    "FRONTIER_BREAKER_SECONDS": 0.5,
    "FRONTIER_BREAKER_MAX_SECONDS": 1,
    "ROBOTSTXT_UNREACHABLE_SECONDS": TERM_SECONDS,
    "RETRY_CLASSES": {"host_fault": {"times": 99, "base_seconds": 0.1, "cap_seconds": 0.2}},
    "MAX_IDLE_TIME_BEFORE_CLOSE": 0,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 2,
    "DOWNLOAD_TIMEOUT": 5,
}


async def scrapy(fleet: Fleet, *args: str) -> str:
    told = options({"FRONTIER_KEY": fleet.key, "ROBOTSTXT_UNREACHABLE_SECONDS": TERM_SECONDS})
    done = await asyncio.to_thread(fleet.runner.run, *args, *told)
    assert done.returncode == 0, done.stderr
    return done.stdout


async def given_up_ms(fleet: Fleet) -> int:
    """As soon as the frontier knows it; a command would take a good part of the term to start."""
    async with redis.asyncio.from_url(fleet.redis_url) as client:
        frontier = Frontier(client, FrontierConfig(key=fleet.key, give_up_ms=TERM_SECONDS * 1000))
        async with asyncio.timeout(60):
            while True:
                for host in await frontier.inspection.waiting():
                    if host.given_up_ms is not None:
                        return host.given_up_ms
                await asyncio.sleep(0.02)


async def test_pages_of_a_dead_host_are_given_up_after_a_term_and_come_back_when_retried(fleet: Fleet) -> None:
    """One worker sees all of it."""
    pages = {f"/{number}": Page(headers={"Connection": "close"}) for number in range(PAGES + 1)}
    port = any_port()  # which no connection is given while nobody listens there
    with Site(pages, port=port) as site:
        first, *others = (site.url(path) for path in pages)
        await fleet.push(first, cap=2)
        worker = fleet.start(**SETTINGS)
        await fleet.until(lambda now: now.counters.done == 1)
    await fleet.push(*others, cap=2)
    assert 0 <= await given_up_ms(fleet) <= TERM_SECONDS * 1000
    left = await fleet.until(lambda now: now.counters.dead == PAGES)
    listed = [json.loads(line) for line in (await scrapy(fleet, "dead", "list", "--json")).splitlines()]
    assert left.states == {"done": 1, "dead": PAGES}
    assert {letter["reason"] for letter in listed} == {"host_down"}
    assert {letter["detail"]["url"] for letter in listed} == set(others)
    assert all(letter["detail"]["error"] == "127.0.0.1 has not worked for 4 s" for letter in listed)
    assert "host_down" in await scrapy(fleet, "dead", "list", "--reason", "host_down")
    with Site(pages, port=port):
        assert f"{PAGES} queued again" in await scrapy(fleet, "dead", "retry", "--reason", "host_down")
        left = await fleet.until(lambda now: now.counters.done == PAGES + 1)
        worker.send_signal(signal.SIGTERM)
        status, log = await ended(worker)
    assert status == 0, log
    assert (left.states, left.in_flight) == ({"done": PAGES + 1}, 0)
    assert "127.0.0.1 has been down for" in log
