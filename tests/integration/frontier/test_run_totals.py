"""Stats of runs in Redis: each call counts once, and no more is kept than is useful."""

from __future__ import annotations

from typing import Any

import pytest

from crawler.policy.run_stats import Row
from tests.integration.frontier.making import timed


async def test_workers_add_up_and_a_repeated_call_adds_nothing(redis_client: Any) -> None:
    world = await timed(redis_client)
    run, totals = await world.frontier.runs.open("s"), world.frontier.totals
    rows = [Row(run.id, "pages", "sum", 2), Row(run.id, "cost", "sum", 0.1), Row(run.id, "depth", "max", 3)]
    for worker, number in (("v", 1), ("w", 1), ("v", 1), ("v", 2), ("v", 1)):
        await totals.add(
            worker, number, [*rows, Row(run.id, "level", "last", 3 - number), Row("20231114-77", "x", "sum", 1)]
        )
    assert await totals.of(run.id) == {"cost": pytest.approx(0.3), "depth": 3, "level": 1, "pages": 6}
    assert await totals.of("20231114-77") == {}, "no such run"
    assert not await redis_client.exists(world.frontier.shards.key(0, "stats:20231114-77"))


@pytest.mark.one_server("what is stored is the same on each node")
async def test_they_are_bounded_and_go_with_their_run(redis_client: Any) -> None:
    world = await timed(redis_client, runs_kept=10)
    run, totals = await world.frontier.runs.open("s"), world.frontier.totals
    await totals.add("w", 1, [Row(run.id, f"n{number}", "sum", 1) for number in range(310)])
    found = await totals.of(run.id)
    assert (len(found), found["run_stats/cut"]) == (301, 10)
    await world.frontier.runs.seal(run.id)
    await world.frontier.runs.settle()
    for _ in range(12):
        await world.frontier.runs.open("s")
    assert await world.frontier.runs.get(run.id) is None
    assert not await redis_client.exists(world.frontier.shards.key(0, f"stats:{run.id}"))


@pytest.mark.one_server("what is stored is the same on each node")
async def test_damage_costs_only_itself(redis_client: Any) -> None:
    world = await timed(redis_client)
    run, totals = await world.frontier.runs.open("s"), world.frontier.totals
    key, told = (world.frontier.shards.key(0, name) for name in (f"stats:{run.id}", "told:w"))
    await redis_client.set(key, "?")
    await redis_client.lpush(told, "?")
    assert await totals.of(run.id) == {}
    await totals.add("w", 1, [Row(run.id, "pages", "sum", 2)])
    await redis_client.hset(key, "pages", "many")
    await redis_client.set(told, "?")
    assert await totals.of(run.id) == {}
    await totals.add("w", 1, [Row(run.id, "pages", "sum", 5)])
    assert await totals.of(run.id) == {"pages": 5}


async def test_they_are_complete_when_all_who_live_have_told_since_the_end(redis_client: Any) -> None:
    world = await timed(redis_client)
    run, totals = await world.frontier.runs.open("s"), world.frontier.totals
    for worker, spider in (("v", "s"), ("w", "s"), ("other", "t")):
        await world.frontier.workers.heartbeat(worker, {"spider": spider})
        await totals.add(worker, 1, [])
    await world.pass_ms(10)
    await world.frontier.runs.seal(run.id)
    [ended] = await world.frontier.runs.settle()
    assert not await totals.complete(ended)
    await totals.add("v", 2, [])
    assert not await totals.complete(ended)
    await world.frontier.workers.leave("w")
    assert await totals.complete(ended)
