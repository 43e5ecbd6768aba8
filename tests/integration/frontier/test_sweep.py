"""Idle hosts are forgotten as fast as new ones arrive, and no step of that delays other work."""

from __future__ import annotations

import statistics
from typing import Any

import pytest

from benchmarks.frontier_meter import Metered
from crawler.frontier.config import FrontierConfig
from crawler.frontier.frontier import Frontier
from tests.integration.frontier.making import handles, message

HOSTS = 150_000
AT_ONCE = 10_000
BAR_MS = 5.0  # of the server; measured: 1.4 in the median, 2.9 at the most, on a busy machine of two cores


async def plant(frontier: Frontier, count: int) -> None:
    """So many hosts that were visited once, and whose pace no longer matters."""
    await frontier.push([message(1, "first.example")])
    leases = (await frontier.lease(["s"], 1, worker="w")).leases
    await frontier.ack(handles(leases))
    client: Any = frontier.client
    hosts, idle = frontier.shards.key(0, "hosts"), frontier.shards.key(0, "idle")
    record = await client.hget(hosts, "first.example")
    for at in range(0, count, AT_ONCE):
        names = [f"shop-{number:06d}.example" for number in range(at, at + AT_ONCE)]
        await client.hset(hosts, mapping=dict.fromkeys(names, record))
        await client.zadd(idle, dict.fromkeys(names, at + 1))


@pytest.mark.timeout(120)
async def test_no_step_of_forgetting_idle_hosts_takes_longer_than_an_operation_may(redis_url: str) -> None:
    client: Any = Metered.from_url(redis_url)
    frontier = Frontier(client, FrontierConfig(key="sweeping"))
    try:
        await frontier.open()
        await plant(frontier, HOSTS)
        digest = frontier.shards.digest("sweep")
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
