"""Schedules in Redis: each epoch is claimed once, by whoever leads."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from crawler.frontier.state.leader import DeposedError, Leader
from crawler.frontier.state.schedules import Schedules, Tick, TooManyError
from tests.integration.frontier.making import START_MS, Timed, timed


@pytest.fixture
async def world(redis_client: Any) -> Timed:
    return await timed(redis_client)


@pytest.fixture
def schedules(world: Timed) -> Schedules:
    return world.frontier.schedules


async def lead(world: Timed, name: str = "leader") -> int:
    standing = await Leader(world.frontier.shards, name, 1_000).ask()
    assert standing.is_ours
    return standing.token


async def test_a_schedule_is_changed_only_as_it_was_read(world: Timed, schedules: Schedules) -> None:
    assert await schedules.put("s", "", "one", cursor=5)
    assert not await schedules.put("s", "", "two")
    assert not await schedules.put("s", "other", "two")
    assert await schedules.put("s", "one", "two")
    seen = await schedules.look()
    assert (seen.definitions, seen.cursors, seen.clock_ms) == ({"s": "two"}, {"s": "5"}, world.now)
    assert await schedules.put("s", "two", "")
    assert await schedules.look() == type(seen)(world.now, "", {}, {}, {}, {}, [])


async def test_a_removed_schedule_leaves_its_ticks_to_be_ended_and_not_to_the_next_of_its_name(
    world: Timed, schedules: Schedules
) -> None:
    token = await lead(world)
    for name in ("s", "s2"):
        await schedules.put(name, "", "d", cursor=5)
        await schedules.claim(token, name, "d", "5", 6, 0, [6])
    await schedules.save(token, Tick("s", "6"), "half")
    assert await schedules.put("s", "d", "")
    assert await schedules.put("s", "", "other", cursor=6)
    assert not await schedules.save(token, Tick("s", "6"), "more"), "whoever still runs it is told"
    left, other = sorted((await schedules.look()).ticks, key=lambda tick: tick.order)
    assert (left.name, left.state, other.id) == ("s/removed", "half", "s2:6")
    assert await schedules.end(token, left, "removed")
    seen = await schedules.look()
    assert ([tick.id for tick in seen.ticks], seen.last) == (["s2:6"], {})


async def test_an_epoch_is_claimed_once(world: Timed, schedules: Schedules) -> None:
    await schedules.put("s", "", "d", cursor=5)
    token = await lead(world)
    claims = await asyncio.gather(*(schedules.claim(token, "s", "d", "5", 9, 2, [8, 9]) for _ in range(5)))
    assert sorted(claims) == [False] * 4 + [True]
    seen = await schedules.look()
    assert (seen.cursors["s"], seen.missed["s"]) == ("9", "2")
    assert sorted(tick.id for tick in seen.ticks) == ["s:8", "s:9"]
    assert not await schedules.claim(token, "s", "changed", "9", 10, 0, [10])


async def test_who_leads_no_more_changes_nothing(world: Timed, schedules: Schedules) -> None:
    await schedules.put("s", "", "d", cursor=5)
    old = await lead(world, "old")
    await schedules.claim(old, "s", "d", "5", 6, 0, [6])
    await world.pass_ms(1_000)
    new = await lead(world, "new")
    for refused in (
        schedules.claim(old, "s", "d", "6", 7, 0, [7]),
        schedules.save(old, Tick("s", "6"), "half"),
        schedules.end(old, Tick("s", "6"), "done"),
    ):
        with pytest.raises(DeposedError):
            await refused
    assert [(tick.id, tick.state) for tick in (await schedules.look()).ticks] == [("s:6", "{}")]
    half = await schedules.save(new, Tick("s", "6"), "half")
    assert half is not None
    assert [tick.state for tick in (await schedules.look()).ticks] == ["half"]
    assert await schedules.end(new, half, "done")
    assert not await schedules.save(new, half, "half"), "a tick that is over does not come back"


@pytest.mark.parametrize("damaged", [b'{"pushed": 7}', b"\xff"])
async def test_a_tick_goes_on_from_what_redis_has_of_it(world: Timed, schedules: Schedules, damaged: bytes) -> None:
    """It was set back: what was pushed since is lost."""
    token = await lead(world)
    await schedules.put("s", "", "d", cursor=5)
    await schedules.claim(token, "s", "d", "5", 6, 0, [6])
    half = await schedules.save(token, Tick("s", "6"), "half")
    assert half is not None
    await world.client.hset(world.frontier.shards.key(0, "ticks"), "s:6", damaged)
    for change in (schedules.save(token, half, "more"), schedules.end(token, half, "done")):
        with pytest.raises(DeposedError):
            await change
    [found] = (await schedules.look()).ticks
    assert await schedules.end(token, found, "done")
    assert (await schedules.look()).last == {"s": "done"}


async def test_a_tick_out_of_turn_needs_a_schedule(world: Timed, schedules: Schedules) -> None:
    assert await schedules.run("s") is None
    await schedules.put("s", "", "d", cursor=5)
    assert await schedules.run("s") == f"now-{START_MS}"
    assert [tick.id for tick in (await schedules.look()).ticks] == [f"s:now-{START_MS}"]


async def test_there_are_never_more_than_so_many(schedules: Schedules, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crawler.frontier.state.schedules.MOST", 2)
    for name in "ab":
        assert await schedules.put(name, "", "d")
    with pytest.raises(TooManyError):
        await schedules.put("c", "", "d")
    assert await schedules.put("a", "d", "e"), "one that is there may change"


@pytest.mark.one_server(reason="the same on each node")
@pytest.mark.parametrize("name", ["schedules", "schedules:cursor", "schedules:missed", "schedules:last", "ticks"])
async def test_a_key_of_another_type_is_set_aside(world: Timed, schedules: Schedules, name: str) -> None:
    await schedules.put("s", "", "d", cursor=5)
    key = world.frontier.shards.key(0, name)
    await world.client.delete(key)
    await world.client.set(key, "foreign")
    await schedules.look()
    await schedules.put("t", "", "d", cursor=5)
    assert await schedules.claim(await lead(world), "t", "d", "5", 6, 1, [6])
    assert "s:6" not in [tick.id for tick in (await schedules.look()).ticks]
    assert [tick.id for tick in (await schedules.look()).ticks] == ["t:6"]
