"""The simulated fleet: its policy is that of the shipped scripts, and what it says of a crawl adds up."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from benchmarks.fleet_policy import Kind, Shard
from tests.integration.frontier.making import START_MS, answer, handles, message, timed

KINDS = (Kind(1_000, 500), Kind(500, 1_000), Kind(20_000, 1_000), Kind(40_000, 3_000))
STEP_MS = 500
STEPS = 130


@pytest.mark.parametrize("limit", [3, 60])
async def test_the_shipped_scripts_lease_the_same_hosts_in_the_same_order(redis_client: Any, limit: int) -> None:
    """With too few slots for all that are due, and with more than enough."""
    random, names = Random(limit), [f"host-{number:02d}" for number in range(40)]
    pages, of = [random.randrange(1, 9) for _ in names], [random.randrange(len(KINDS)) for _ in names]
    world = await timed(redis_client, throttle=False)
    urls = [(host, page) for host in range(len(names)) for page in range(pages[host])]
    for number, (host, _) in enumerate(urls):
        urls[number] = (host, KINDS[of[host]].delay_ms)
    await world.frontier.push(
        [message(number, names[host], delay_ms=delay) for number, (host, delay) in enumerate(urls)]
    )
    model, on_the_wire = Shard(list(pages), of, KINDS, range(len(names))), list[tuple[int, Any]]()
    for step in range(STEPS):
        over = [lease for at, lease in on_the_wire if at <= world.now]
        on_the_wire = [one for one in on_the_wire if one[0] > world.now]
        kind_of = {lease.id: KINDS[of[names.index(lease.host)]] for lease in over}
        reports = [answer((one.id, one.token), elapsed_ms=kind_of[one.id].latency_ms) for one in over]
        await world.frontier.settle((), reports, handles(over))
        leased = await world.lease(limit)
        await world.frontier.start(handles(leased), on_wire=True)
        on_the_wire += [(world.now + KINDS[of[names.index(one.host)]].latency_ms, one) for one in leased]
        expected = [[names[host] for host in hosts] for hosts in model.lease(world.now - START_MS, limit)]
        found = [[one.host for one in leased if of[names.index(one.host)] == kind] for kind in range(len(KINDS))]
        assert found == expected, f"after {step * STEP_MS} ms"
        await world.pass_ms(STEP_MS)
    assert sum(model.pages) < sum(pages) / 2
