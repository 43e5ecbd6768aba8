"""How many requests a host has at once, counted by the host itself."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest

from crawler.frontier.frontier import Frontier
from tests.crawling import Fleet, ended, open_frontier
from tests.sites import LATE, Page, Site

ANSWER_SECONDS = 0.06
FILL_SECONDS = 10  # for a worker to have as many at once as it may


class Counting:
    """Pages that take a while, and how many of them were asked for at once; the first ones wait for *cap* of them."""

    def __init__(self, cap: int) -> None:
        self.most = 0
        self._cap = cap
        self._now = 0
        self._lock = threading.Lock()
        self._full = threading.Event()

    def __call__(self) -> Page:
        with self._lock:
            self._now += 1
            self.most = max(self.most, self._now)
            if self._now >= self._cap:
                self._full.set()
        self._full.wait(FILL_SECONDS)
        time.sleep(ANSWER_SECONDS)
        with self._lock:
            self._now -= 1
        return Page()


@pytest.mark.parametrize(("cap", "number"), [(1, 24), (2, 32), (8, 48)])
async def test_a_host_never_has_more_than_its_cap_and_gets_that_many(fleet: Fleet, cap: int, number: int) -> None:
    counting = Counting(cap)
    with Site({f"/{page}": counting for page in range(number)}) as site:
        await fleet.push(*map(site.url, site.pages), cap=cap)
        workers = [fleet.start(CONCURRENT_REQUESTS=16, CONCURRENT_REQUESTS_PER_DOMAIN=cap) for _ in range(2)]
        assert [(await ended(worker))[0] for worker in workers] == [0, 0]
        left = await fleet.left()

    assert left.states == {"done": number}
    assert len(site.received) == number
    assert counting.most == cap


async def test_rules_changed_in_mid_crawl_hold_for_what_is_queued_and_end_with_their_worker(fleet: Fleet) -> None:
    """Short form of a rollout: a worker with a longer delay joins, and is killed."""
    with Site({f"/{number}": Page() for number in range(600)}) as site:
        await fleet.push(*map(site.url, site.pages), cap=1)
        short: dict[str, Any] = {"CONCURRENT_REQUESTS_PER_DOMAIN": 1}
        # What the killed worker held keeps the host for as long.
        short |= {"FRONTIER_LEASE_SECONDS": 6, "FRONTIER_START_WITHIN_SECONDS": 2}
        lax = fleet.start(DOWNLOAD_DELAY=0.1, **short)
        await site.asked(10)
        strict = fleet.start(DOWNLOAD_DELAY=1, **short)
        await fleet.workers(2)
        began = len(site.received) + 2  # one may have been on its way to the wire
        await site.asked(began + 4)
        strict.kill()
        strict.wait()
        async with open_frontier(fleet.redis_url, fleet.key) as frontier:
            silent = await stated_ago(frontier, delay_ms=1_000)
        under_both = site.gaps[began : len(site.received) - 1]
        await site.asked(len(site.received) + 30)
        lax.kill()
        lax.wait()
    assert min(under_both) > 1 - LATE
    killed_at = site.received[began + len(under_both)].at
    gaps = site.gaps[began:]
    # Three short gaps in a row: behind a request that is late on a busy machine there is one.
    runs = zip(site.received[began + 1 :], gaps, gaps[1:], gaps[2:], strict=False)
    fast = [one.at for one, *three in runs if max(three) < 0.6]
    assert fast, "the delay of a worker that is gone is no longer in force"
    assert fast[0] - killed_at > 12 - silent, "its word holds for 12 s"


async def stated_ago(frontier: Frontier, *, delay_ms: int) -> float:
    """Seconds since a worker last stated this delay."""
    key = frontier.shards.key(0, "rules")
    client: Any = frontier.client
    stated = await client.zrange(key, 0, -1, withscores=True)
    seconds, microseconds = await client.time()
    latest: float = max(at for one, at in stated if f":{delay_ms}:".encode() in one)
    return float(seconds + microseconds / 1e6 - latest / 1e3)
