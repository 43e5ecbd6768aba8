"""One replica of a service leads; what one writes that was replaced meanwhile is refused."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from crawler.frontier.state.leader import Leader
from tests.integration.frontier.harness import everywhere
from tests.integration.frontier.making import Timed, message, timed

LEASE_MS = 15_000
HOUR_MS = 3_600_000


@pytest.fixture
async def world(redis_client: Any) -> Timed:
    return await timed(redis_client)


def replica(world: Timed, name: str) -> Leader:
    return Leader(world.frontier.shards, name, LEASE_MS)


async def test_of_many_that_ask_at_once_one_leads_until_its_lease_is_over(world: Timed) -> None:
    replicas = [replica(world, f"r{number}") for number in range(5)]
    standings = await asyncio.gather(*(each.ask() for each in replicas))
    assert sum(each.is_ours for each in standings) == 1
    assert {each.token for each in standings} == {1}
    first = replicas[[each.is_ours for each in standings].index(True)]
    others = [each for each in replicas if each is not first]
    await world.pass_ms(LEASE_MS - 1)
    assert not (await others[0].ask()).is_ours
    await first.ask()  # prolonged
    await world.pass_ms(LEASE_MS - 1)
    assert (await others[0].ask()).left_ms == 1
    await world.pass_ms(1)
    second = await others[0].ask()
    assert (second.is_ours, second.token) == (True, 2)
    assert (await first.ask()).holder == second.holder


async def test_a_leader_that_resigns_is_followed_at_once(world: Timed) -> None:
    first, second = replica(world, "first"), replica(world, "second")
    await first.ask()
    assert not await second.resign()
    assert await first.resign()
    standing = await second.ask()
    assert (standing.is_ours, standing.token) == (True, 2)
    assert not await first.resign()


async def test_each_replica_is_told_once_that_redis_was_emptied(world: Timed) -> None:
    replicas = [replica(world, name) for name in ("first", "second")]
    assert not any([(await each.ask()).lost_data for each in replicas])
    await world.client.flushall(**everywhere(world.client))
    await world.be_silent(5)
    assert [(await each.ask()).lost_data for each in replicas * 2] == [True, True, False, False]


async def test_each_replica_says_that_redis_was_set_back(world: Timed, caplog: pytest.LogCaptureFixture) -> None:
    replicas = [replica(world, name) for name in ("first", "second")]
    key = world.frontier.shards.key(0, "state")
    await replicas[0].ask()
    before = await world.client.get(key)
    await world.frontier.push([message(1)])
    for each in replicas:
        await each.ask()
    await world.client.set(key, before)
    assert not any([(await each.ask()).lost_data for each in replicas])
    assert caplog.text.count("ticks since then are due again") == 2


@pytest.mark.parametrize("jump", [-HOUR_MS, HOUR_MS])
async def test_a_jump_of_the_clock_leaves_one_leader(world: Timed, jump: int) -> None:
    first, second = replica(world, "first"), replica(world, "second")
    await first.ask()
    await world.be_silent(jump)
    standings = [await second.ask(), await first.ask(), await second.ask()]
    assert [each.is_ours for each in standings].count(True) in {1, 2}
    assert len({each.holder for each in standings}) == 1


@pytest.mark.one_server(reason="the same on each node")
@pytest.mark.parametrize(
    "damage", [{"token": "x"}, {"until": "x"}, {"until": str(10**18)}, {"holder": "\xff", "until": "-1"}, "a string"]
)
async def test_what_stands_in_redis_and_is_not_ours_costs_one_change_of_leader(
    world: Timed, damage: dict[str, str] | str
) -> None:
    first = replica(world, "first")
    await first.ask()
    key = world.frontier.shards.key(0, "leader")
    if isinstance(damage, str):
        await world.client.delete(key)
        await world.client.set(key, damage)
    else:
        await world.client.hset(key, mapping=damage)
    standings = [await replica(world, name).ask() for name in ("second", "first", "second")]
    assert [each.is_ours for each in standings] == [True, False, True]
    assert {each.holder for each in standings} == {"second"}
    assert all(each.token >= 1 for each in standings)
