"""Cookie jars in Redis: merged cookie by cookie, bounded, forgotten in time."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from crawler.frontier.config import FrontierConfig
from crawler.frontier.errors import FrontierUnavailableError
from crawler.frontier.frontier import Frontier
from crawler.frontier.state.cookie_jars import MAX_COOKIES, CookieJars
from crawler.policy.cookies import Changes
from tests.unit.frontier.fakes import Outage

HOST, TTL_MS = "a.example", 60_000


@pytest.fixture
def frontier(redis_client: Any) -> Frontier:
    return Frontier(redis_client, FrontierConfig(key="test", shards=4))


def sessions(frontier: Frontier) -> CookieJars:
    made: Any = CookieJars
    worker: CookieJars = made(frontier.shards, Outage(), TTL_MS)
    return worker


def setting(**cookies: str) -> Changes:
    return Changes(cookies, (), 0)


async def test_what_two_workers_set_at_once_is_all_there(frontier: Frontier) -> None:
    one, two = sessions(frontier), sessions(frontier)
    assert (await one.load(HOST, "")).cookies == (await two.load(HOST, "")).cookies == {}
    changed = [
        worker.merge(HOST, "", setting(**{f"{worker is one}{n}": "v"})) for worker in (one, two) for n in range(10)
    ]
    await asyncio.gather(*changed)
    assert len((await one.load(HOST, "")).cookies) == 20


async def test_of_one_cookie_the_last_set_counts_and_a_deleted_one_is_gone_for_all(frontier: Frontier) -> None:
    one, two = sessions(frontier), sessions(frontier)
    await one.merge(HOST, "", setting(a="1", b="1"))
    assert (await two.merge(HOST, "", Changes({"a": "2"}, ("b",), 0))).cookies == {"a": "2"}
    assert (await one.load(HOST, "")).cookies == {"a": "2"}


async def test_hosts_and_sessions_have_jars_of_their_own(frontier: Frontier) -> None:
    worker = sessions(frontier)
    await worker.merge(HOST, "s", setting(a="1"))
    assert (await worker.load(HOST, "t")).cookies == (await worker.load("b.example", "s")).cookies == {}


async def test_a_site_cannot_fill_redis_with_cookies_but_may_change_those_it_has(frontier: Frontier) -> None:
    worker = sessions(frontier)
    jar = await worker.merge(HOST, "", setting(**{f"k{number}": "v" for number in range(MAX_COOKIES + 20)}))
    assert (len(jar.cookies), jar.refused) == (MAX_COOKIES, 20)
    assert (await worker.merge(HOST, "", setting(k0="w"))).refused == 0


async def test_a_jar_is_forgotten_after_its_last_use(frontier: Frontier, redis_client: Any) -> None:
    worker = sessions(frontier)
    await worker.merge(HOST, "", setting(a="1"))
    key = frontier.shards.key(frontier.shards.of_host(HOST), f"cookies:{HOST}/")
    assert 0 < await redis_client.pttl(key) <= TTL_MS
    await redis_client.pexpire(key, 20_000)
    await worker.load(HOST, "")
    assert await redis_client.pttl(key) > 50_000


async def test_it_waits_for_redis(frontier: Frontier, monkeypatch: pytest.MonkeyPatch) -> None:
    worker, run, calls = sessions(frontier), frontier.shards.run, iter((True, True, False))

    async def sometimes_away(*arguments: Any) -> Any:
        if next(calls):
            raise FrontierUnavailableError("away")
        return await run(*arguments)

    monkeypatch.setattr(frontier.shards, "run", sometimes_away)
    assert (await worker.merge(HOST, "", setting(a="1"))).cookies == {"a": "1"}
