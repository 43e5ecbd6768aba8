"""Retries and breakers of whole workers: who waits, where, and for how long."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable
from itertools import pairwise
from typing import Any

from redis.asyncio import Redis

from tests.crawling import Fleet, count, ended
from tests.sites import TICK, Page, Site

REFUSED = "http://127.0.0.3:1"


def failing(status: int, times: int = 1, **headers: str) -> Any:
    """Answers *times* times with *status*, then with a page."""
    pages = iter([Page("not now", status, {name.replace("_", "-"): value for name, value in headers.items()})] * times)
    return lambda: next(pages, Page())


async def contents(redis_client: Redis, key: bytes) -> str:
    """What *key* holds, in some text."""
    match await redis_client.type(key):
        case b"hash":
            return str(await redis_client.hgetall(key))
        case b"zset":
            return str(await redis_client.zrange(key, 0, -1))
        case b"stream":
            return str(await redis_client.xrange(key))
        case b"set":
            return str(await redis_client.smembers(key))
        case _:
            return str(await redis_client.get(key))


async def test_a_retry_waits_in_the_frontier_for_any_worker(fleet: Fleet) -> None:
    with Site({"/": failing(500, Retry_After="10")}) as site:
        await fleet.push(site.url("/"))
        first = fleet.start()
        await fleet.until(lambda now: now.counters.delayed == 1)
        first.send_signal(signal.SIGTERM)
        status, log = await ended(first)
        assert (status, count(log, "retry/count"), count(log, "frontier/nacked")) == (0, 1, 1)
        assert (await fleet.left()).states == {"delayed": 1}
        second = fleet.start()
        assert (await ended(second))[0] == 0
        assert (await fleet.left()).states == {"done": 1}
        assert len(site.received) == 2


async def test_credentials_go_with_each_try_and_never_to_redis(fleet: Fleet, redis_client: Redis) -> None:
    login = {"HTTPAUTH_USER": "me", "HTTPAUTH_PASS": "secret"}
    with Site({"/": failing(500, Retry_After="3")}) as site:
        await fleet.push(site.url("/"))
        worker = fleet.start(HTTPAUTH_DOMAIN=site.url("").removeprefix("http://"), **login)
        await fleet.until(lambda now: now.counters.delayed == 1)
        stored = [await contents(redis_client, key) async for key in redis_client.scan_iter(f"*{fleet.key}*")]
        assert (await ended(worker))[0] == 0
    assert any(site.url("/") in text for text in stored)
    assert not any("Authorization" in text for text in stored)
    assert [request.headers["Authorization"] for request in site.received] == ["Basic bWU6c2VjcmV0"] * 2


async def test_retry_after_counts_for_every_answer_that_is_tried_again(fleet: Fleet) -> None:
    with Site({"/": failing(500, Retry_After="2")}) as site:
        await fleet.push(site.url("/"))
        assert (await ended(fleet.start()))[0] == 0
        first, second = (request.at for request in site.received)
    assert second - first >= 2 - TICK


async def test_the_sick_are_left_alone_and_the_healthy_do_not_wait_for_them(fleet: Fleet) -> None:
    def refusing() -> Callable[[], Page]:
        """Long at first: the healthy have that time to be done, however busy the machine."""
        waits = iter(["4", "4"])
        return lambda: Page("too many", 429, {"Retry-After": next(waits, "1")})

    pages = {f"/{number}": Page() for number in range(12)}
    with (
        Site(dict.fromkeys(("/a", "/b"), refusing()), "127.0.0.2") as sick,
        Site(dict.fromkeys(("/a", "/b"), refusing()), "127.0.0.3") as ill,
        Site(pages, "127.0.0.4") as well,
    ):
        await fleet.push(*(site.url(path) for site in (sick, ill) for path in site.pages), *map(well.url, pages))
        status, log = await ended(fleet.start(RETRY_TIMES=2, FRONTIER_BREAKER_SECONDS=1))
        left = await fleet.left()
    assert status == 0
    assert left.states == {"done": 12, "dead": 4}
    assert {(letter.reason, letter.detail["class"], letter.detail["attempts"]) for letter in left.letters} == {
        ("http_429", "rate_limited", 3)
    }
    for site in (sick, ill):
        times = [request.at for request in site.received]
        # two may have been on their way when the first was refused
        assert all(later - sooner >= 1 - TICK for sooner, later in pairwise(times[1:]))
        assert times[2] > well.received[-1].at
    assert count(log, "retry/classes/rate_limited") == count(log, "retry/count") == 8


async def test_what_is_behind_an_open_breaker_waits_and_keeps_its_retries(fleet: Fleet) -> None:
    dead = [f"{REFUSED}/{number}" for number in range(30)]
    with Site({f"/{number}": Page() for number in range(30)}) as site:
        await fleet.push(*dead, *map(site.url, site.pages), cap=1)
        worker = fleet.start(FRONTIER_BREAKER_FAULTS=3, RETRY_TIMES=5, CONCURRENT_REQUESTS_PER_DOMAIN=1)
        await fleet.until(lambda now: now.counters.done == 30)
        await fleet.until(lambda now: now.counters.queued + now.counters.delayed == 30)
        shown = fleet.runner.run("status", "walk", "--json", "-s", f"FRONTIER_KEY={fleet.key}").stdout
        [host] = [host for host in json.loads(shown)["hosts"] if host["host"] == "127.0.0.3"]
        worker.send_signal(signal.SIGTERM)
        status, log = await ended(worker)
    assert status == 0
    assert (host["openings"], host["in_flight"]) == (1, 0)
    assert 0 < host["blocked_ms"] <= 33_000
    assert count(log, "downloader/exception_count") == count(log, "retry/classes/host_fault") == 3
    assert count(log, "frontier/breaker_opened") == log.count("ircuit breaker opened for 127.0.0.3") == 1
    assert (await fleet.left()).letters == []


async def test_a_host_that_works_again_is_found_out_by_one_probe(fleet: Fleet) -> None:
    answers = iter([Page("bad", 502)] * 3)
    with Site({f"/{number}": lambda: next(answers, Page()) for number in range(8)}) as site:
        await fleet.push(*map(site.url, site.pages), cap=1)
        quick: dict[str, Any] = {"FRONTIER_BREAKER_FAULTS": 2, "FRONTIER_BREAKER_SECONDS": 1, "RETRY_TIMES": 3}
        quick |= {"CONCURRENT_REQUESTS_PER_DOMAIN": 1}
        status, log = await ended(fleet.start(**quick))
        times = [request.at for request in site.received]
    assert status == 0
    assert (await fleet.left()).states == {"done": 8}
    assert (count(log, "frontier/breaker_opened"), count(log, "frontier/breaker_closed")) == (2, 1)
    assert times[2] - times[1] >= 1 - TICK
    assert times[3] - times[2] >= 2 - TICK
