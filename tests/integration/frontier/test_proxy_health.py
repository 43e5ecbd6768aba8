"""Health of proxies shared through Redis: two workers see the same, and one trial is one."""

from __future__ import annotations

import asyncio
from typing import Any
from unittest.mock import MagicMock

import pytest

from crawler import stats as names
from crawler.frontier.errors import FrontierUnavailableError
from crawler.frontier.state.proxy_health import VIEW_SECONDS, ProxyHealth
from crawler.policy.proxies.health import HealthPolicy, State
from tests.clock import Clock
from tests.integration.frontier.making import Timed, timed
from tests.unit.frontier.fakes import Stats

POLICY = HealthPolicy(failures=2, quarantine_ms=200, quarantine_max_ms=1_000, trial_ms=300)


class Fleet:
    """Two workers' views of one pool; time stands still until `later`."""

    def __init__(self, world: Timed) -> None:
        self.world = world
        self.client, self.frontier = world.client, world.frontier
        self.clock = Clock()
        self.stats = Stats()
        made: Any = ProxyHealth
        self.one, self.two = (made(self.frontier.shards, POLICY, self.stats, self.clock) for _ in range(2))

    async def later(self, seconds: float) -> None:
        self.clock.now += seconds
        await self.world.pass_ms(round(seconds * 1000))


@pytest.fixture
async def fleet(redis_client: Any) -> Fleet:
    return Fleet(await timed(redis_client))


async def test_what_one_worker_sees_fail_all_leave_alone(fleet: Fleet) -> None:
    assert await fleet.one.sick("homes") == await fleet.two.sick("homes") == {}
    assert await fleet.one.failed("homes", "p:1") == 0
    assert await fleet.two.failed("homes", "p:1") == 200, "failures add up over workers"
    fleet.clock.now += VIEW_SECONDS + 0.01
    assert await fleet.one.sick("homes") == {"p:1": State.QUARANTINED}
    assert await fleet.one.sick("other") == {}
    assert 0 < fleet.one.wait_ms("homes", ["p:1"]) <= 200
    assert fleet.one.wait_ms("homes", ["q:1"]) == 0


async def test_one_request_of_the_fleet_is_the_trial(fleet: Fleet) -> None:
    for _ in range(2):
        await fleet.one.failed("homes", "p:1")
    assert not await fleet.one.claim("homes", "p:1")
    await fleet.later(0.25)
    assert await fleet.two.sick("homes") == {"p:1": State.DUE}
    claims = await asyncio.gather(
        *(worker.claim("homes", "p:1") for worker in (fleet.one, fleet.two) for _ in range(5))
    )
    assert sum(claims) == 1
    assert 0 < fleet.two.wait_ms("homes", ["p:1"]) <= 50, "not for as long as the trial may take at most"
    assert await fleet.one.failed("homes", "p:1") is None, "another request's failure is no outcome of the trial"
    assert await fleet.one.failed("homes", "p:1", trial=True) == 400
    await fleet.later(0.45)
    assert await fleet.two.claim("homes", "p:1")
    assert await fleet.two.succeeded("homes", "p:1")
    assert not await fleet.two.succeeded("homes", "p:1")
    fleet.clock.now += VIEW_SECONDS + 0.01
    assert await fleet.one.sick("homes") == {}


async def test_a_good_proxy_leaves_nothing_behind_and_the_rest_is_forgotten_in_time(fleet: Fleet) -> None:
    await fleet.one.failed("homes", "p:1", "a.example")
    key = fleet.frontier.shards.key(0, "proxies:homes")
    assert await fleet.client.hgetall(key) == {b"p:1": b"1 0 0 0 a.example"}
    assert 86_000_000 < await fleet.client.pttl(key) <= 86_400_000
    await fleet.two.sick("homes")
    assert not await fleet.two.succeeded("homes", "p:1"), "it was suspect only"
    assert await fleet.client.exists(key) == 0


async def test_while_redis_is_away_a_worker_goes_by_what_it_saw(fleet: Fleet, monkeypatch: pytest.MonkeyPatch) -> None:
    await fleet.one.sick("homes")

    monkeypatch.setattr(fleet.frontier.shards, "run", _away)
    assert [await fleet.one.failed("homes", "p:1") for _ in range(2)] == [0, 200]
    assert await fleet.one.sick("homes") == {"p:1": State.QUARANTINED}
    assert fleet.stats.counts[names.REDIS_ERRORS] == 2


async def test_a_pool_of_thousands_of_quarantined_proxies_can_be_read(fleet: Fleet) -> None:
    record = (await _record_of_one(fleet)).decode()
    key = fleet.frontier.shards.key(0, "proxies:homes")
    await fleet.client.hset(key, mapping={f"p:{number}": record for number in range(10_000)})
    fleet.clock.now += VIEW_SECONDS + 0.01
    assert len(await fleet.one.sick("homes")) == 10_000


async def test_of_thousands_a_change_reads_and_looks_at_one(fleet: Fleet, monkeypatch: pytest.MonkeyPatch) -> None:
    record = (await _record_of_one(fleet)).decode()
    key = fleet.frontier.shards.key(0, "proxies:homes")
    await fleet.client.hset(key, mapping={f"p:{number}": record for number in range(1, 5_000)})
    fleet.clock.now += VIEW_SECONDS + 0.01
    await fleet.one.sick("homes")
    looked_at = MagicMock(side_effect=POLICY.state)
    monkeypatch.setattr(HealthPolicy, "state", looked_at)
    assert await fleet.one.failed("homes", "q:1") == 0
    assert await fleet.one.failed("homes", "q:1") == 200
    assert (await fleet.one.sick("homes"))["q:1"] is State.QUARANTINED
    assert looked_at.call_count < 5


async def test_what_was_seen_while_redis_was_away_yields_to_what_it_has(
    fleet: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    await fleet.one.failed("homes", "p:1")
    with monkeypatch.context() as away:
        away.setattr(fleet.frontier.shards, "run", _away)
        await fleet.one.failed("homes", "p:1")
        await fleet.one.failed("homes", "q:1")
        await fleet.one.failed("homes", "q:1")
        assert await fleet.one.sick("homes") == {"p:1": State.QUARANTINED, "q:1": State.QUARANTINED}
    fleet.clock.now += VIEW_SECONDS + 0.01
    assert await fleet.one.sick("homes") == {}


async def _away(*_: Any) -> None:
    raise FrontierUnavailableError("away")


async def _record_of_one(fleet: Fleet) -> bytes:
    for _ in range(POLICY.failures):
        await fleet.one.failed("homes", "p:1")
    return bytes(await fleet.client.hget(fleet.frontier.shards.key(0, "proxies:homes"), "p:1"))
