"""Idle hosts are forgotten as fast as new ones arrive, and no step of that delays other work."""

from __future__ import annotations

import statistics
from typing import Any

import pytest

from benchmarks.frontier_meter import Metered
from crawler.frontier.config import FrontierConfig
from crawler.frontier.frontier import Frontier
from tests.integration.frontier.making import Timed, acked, handles, message, timed

HOSTS = 150_000
PLANTED = 10_000  # hosts a call
RUNS, AT_ONCE = 600, 250  # the second: as in lua/lib/upkeep/sweep_slice.lua
WHOLE_MS = 600_000  # the same
BAR_MS = 5.0  # of the server; measured: 1.4 in the median, 2.9 at the most, on a busy machine of two cores


async def plant(frontier: Frontier, count: int) -> None:
    """So many hosts that were visited once, and whose pace no longer matters."""
    await frontier.push([message(1, "first.example")])
    leases = (await frontier.lease(["s"], 1, worker="w")).leases
    await acked(frontier, handles(leases))
    client: Any = frontier.client
    hosts, idle = frontier.shards.key(0, "hosts"), frontier.shards.key(0, "idle")
    record = await client.hget(hosts, "first.example")
    for at in range(0, count, PLANTED):
        names = [f"shop-{number:06d}.example" for number in range(at, at + PLANTED)]
        await client.hset(hosts, mapping=dict.fromkeys(names, record))
        await client.zadd(idle, dict.fromkeys(names, at + 1))


@pytest.mark.timeout(120)
async def test_no_step_of_forgetting_idle_hosts_takes_longer_than_an_operation_may(redis_url: str) -> None:
    client: Any = Metered.from_url(redis_url)
    frontier = Frontier(client, FrontierConfig(key="sweeping"))
    try:
        await frontier.open()
        await plant(frontier, HOSTS)
        digest = frontier.shards.scripts.digest("sweep")
        client.spent.clear()
        while await frontier.generations.sweep():
            pass
        spent = [one.own for one in client.spent[digest]]
        left = await client.hlen(frontier.shards.key(0, "hosts"))
    finally:
        await client.flushdb()
        await client.aclose()
    assert left == 1, "the one that was visited a moment ago"
    assert HOSTS / 512 <= len(spent) < HOSTS / 512 + 10
    # How much a step does is counted above; on a slower or busier machine it takes a multiple of what it took here.
    assert statistics.median(spent) < 2 * BAR_MS, f"the longest took {sorted(spent)[-3:]} ms"


async def reads(client: Any) -> int:
    return int((await client.info("commandstats"))["cmdstat_hmget"]["calls"])


async def looked_at(world: Timed) -> int:
    """How many generations one call of sweep reads."""
    before = await reads(world.client)
    await world.frontier.generations.sweep()
    return await reads(world.client) - before


@pytest.mark.one_server("each shard looks at its own")
async def test_of_very_many_runs_a_call_looks_at_some_and_forgets_all_in_the_end(redis_client: Any) -> None:
    world = await timed(redis_client)
    frontier = world.frontier
    opened = [await frontier.runs.open("s") for _ in range(RUNS)]
    pages = [message(n, f"{n % 50}.example", generation=run.generation) for n, run in enumerate(opened)]
    await frontier.push(pages)
    await frontier.push([message(RUNS, stream="s:browser", generation=opened[0].generation)])
    await looked_at(world)  # at all
    assert max([await looked_at(world) for _ in range(4)]) <= AT_ONCE + 10
    for _ in range(RUNS // 50):
        await world.fetch()
    for run in opened:
        await frontier.runs.seal(run.id)
    assert len(await frontier.runs.settle()) == RUNS - 1
    for _ in range(3):
        await frontier.generations.sweep()
    left = await redis_client.smembers(frontier.shards.key(0, "gens"))
    assert left - {b"s:", b"s:0"} == {f"{stream}:{opened[0].generation}".encode() for stream in ("s", "s:browser")}


@pytest.mark.one_server("each shard looks at its own")
async def test_counters_of_very_many_runs_are_compared_with_what_is_queued_now_and_then(redis_client: Any) -> None:
    world = await timed(redis_client)
    frontier = world.frontier
    opened = [await frontier.runs.open("s") for _ in range(AT_ONCE + 50)]
    await frontier.push([message(n, f"{n % 50}.example", generation=run.generation) for n, run in enumerate(opened)])
    await frontier.generations.sweep()
    await redis_client.delete(frontier.shards.key(0, f"gen:s:{opened[7].generation}"))
    await frontier.generations.sweep()
    assert (await frontier.inspection.stats()).total.queued == len(opened) - 1
    await world.pass_ms(WHOLE_MS)
    await frontier.generations.sweep()
    assert (await frontier.inspection.stats()).total.queued == len(opened)
    await redis_client.set(frontier.shards.key(0, "sweep"), b"9" * 40 + b":x")
    await frontier.generations.sweep()
    assert not (await frontier.inspection.stats()).uncounted
