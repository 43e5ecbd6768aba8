"""Limits of hosts on several shards: never overrun, and all of them is found, wherever the hosts are."""

from __future__ import annotations

import asyncio
import random
from dataclasses import replace
from typing import Any
from unittest.mock import AsyncMock

import pytest

from crawler.frontier.state.budgets import Terms
from crawler.frontier.state.shares import Shares
from tests.integration.frontier.harness import all_keys
from tests.integration.frontier.making import START_MS, Timed, acked, handles, message, timed

DAY = 86_400_000
TODAY = (START_MS - START_MS % DAY, START_MS - START_MS % DAY + DAY)
SHARDS = 4
HOSTS = ("h0.a.example", "h1.a.example", "h2.a.example", "h3.a.example", "h4.a.example", "h5.a.example")
RUN = "20231114000001"
LIMITS: dict[str, tuple[Terms | None, dict[str, Any]]] = {
    "spider": (Terms("s:s", TODAY, requests=10), {}),
    "run": (Terms(f"r:s:{RUN}", requests=10, lasting=True), {}),
    "domain": (Terms("d:a.example", TODAY, requests=10), {}),
    "pages": (None, {"pages": 10}),
}


async def drained(world: Timed, rng: random.Random, rounds: int = 14) -> int:
    """How many pages are fetched while workers balance; some leases are given back on the way."""
    done = 0
    for _ in range(rounds):
        leases = await world.lease(rng.randint(1, 20))
        back = [lease for lease in leases if rng.random() < 0.3]
        await world.frontier.give_back(handles(back))
        kept = [lease for lease in leases if lease not in back]
        await acked(world.frontier, handles(kept))
        done += len(kept)
        await world.frontier.shares.balance()
        await world.pass_ms(1_100)
        await world.frontier.shards.run_all("reap")
    return done


@pytest.mark.one_server("shards are the same on each node")
@pytest.mark.parametrize("hosts", [1, len(HOSTS)])
@pytest.mark.parametrize("limit", LIMITS)
async def test_a_limit_is_exact_wherever_its_hosts_are(redis_client: Any, limit: str, hosts: int) -> None:
    world, rng = await timed(redis_client, shards=SHARDS), random.Random(hosts)
    assert len({world.frontier.shards.of_host(host) for host in HOSTS}) > 2
    terms, fields = LIMITS[limit]
    await world.frontier.budgets.state([terms] if terms else [])
    await world.frontier.push(
        [message(n, HOSTS[n % hosts], generation=RUN, cap=100, **fields) for n in range(40)], forced=True
    )
    assert await drained(world, rng) == 10


@pytest.mark.one_server("shards are the same on each node")
@pytest.mark.parametrize("hosts", [1, len(HOSTS)])
@pytest.mark.parametrize("limit", ["domain", "run", "spider"])
async def test_who_states_a_limit_deals_first_shares_of_it(redis_client: Any, limit: str, hosts: int) -> None:
    world, terms = await timed(redis_client, shards=SHARDS), LIMITS[limit][0]
    assert terms is not None
    await world.frontier.budgets.state([terms])
    await asyncio.gather(*(Shares(world.frontier.shards).begin([terms]) for _ in range(2)))
    await world.frontier.shares.begin([terms])
    await world.frontier.push([message(n, HOSTS[n % hosts], generation=RUN, cap=100) for n in range(40)], forced=True)
    first = await world.lease(40)
    assert 2 <= len(first) <= 10, "nobody waits for a round"
    await acked(world.frontier, handles(first))
    assert len(first) + await drained(world, random.Random(hosts), 3 if hosts == 1 else 14) == 10


@pytest.mark.one_server("shards are the same on each node")
async def test_the_last_request_goes_to_who_can_send_it(redis_client: Any) -> None:
    world, terms = await timed(redis_client, shards=2), [Terms("s:s", TODAY, requests=2)]
    busy, held = (next(host for host in HOSTS if world.frontier.shards.of_host(host) == shard) for shard in (0, 1))
    await world.frontier.budgets.state(terms)
    await world.frontier.shares.begin(terms)
    await world.frontier.push([message(n, busy, cap=100) for n in range(3)] + [message(9, held)])
    assert len(await world.lease(exclude_hosts=[held])) == 1
    for _ in range(2):  # it asks, and is dealt
        await world.frontier.shares.balance()
        await world.pass_ms(1_100)
        await world.lease(exclude_hosts=[held])
    assert (await world.frontier.inspection.stats()).total.leased == 2


@pytest.mark.one_server("shards are the same on each node")
@pytest.mark.parametrize("limit", LIMITS)
async def test_what_one_shard_has_left_goes_to_those_that_come_later(redis_client: Any, limit: str) -> None:
    world, rng = await timed(redis_client, shards=SHARDS), random.Random(3)
    terms, fields = LIMITS[limit]
    await world.frontier.budgets.state([terms] if terms else [])
    given: dict[str, Any] = {"generation": RUN, "cap": 100} | fields
    await world.frontier.push([message(n, HOSTS[0], **given) for n in range(3)])
    first = await drained(world, rng, 5)
    assert first == 3, "alone it gets all ten"
    elsewhere = [
        host for host in HOSTS if world.frontier.shards.of_host(host) != world.frontier.shards.of_host(HOSTS[0])
    ]
    await world.frontier.push([message(10 + n, elsewhere[n % len(elsewhere)], **given) for n in range(30)], forced=True)
    assert first + await drained(world, rng) == 10


@pytest.mark.one_server("shards are the same on each node")
async def test_shards_that_lack_one_of_two_limits_each_do_not_swap_them_for_ever(redis_client: Any) -> None:
    world = await timed(redis_client, shards=3)
    terms = [terms for terms, _ in LIMITS.values() if terms is not None and terms.name[0] in "sr"]
    terms = [replace(one, requests=2) for one in terms]
    shares = Shares(world.frontier.shards, random.Random(1).random)
    await world.frontier.budgets.state(terms)
    await shares.begin(terms)
    of_shard = {world.frontier.shards.of_host(host): host for host in HOSTS}
    for shard in (0, 2):  # each is dealt one of its run, or of its spider
        await world.frontier.push([message(10 * shard + n, of_shard[shard], generation=RUN, cap=9) for n in range(3)])
    leased = []
    for _ in range(20):
        leased += await world.lease()
        await shares.balance()
        await world.pass_ms(1_100)
        await world.frontier.shards.run_all("reap")
    assert len(leased) == 2


@pytest.mark.one_server("shards are the same on each node")
async def test_nothing_of_it_outlives_its_run(redis_client: Any) -> None:
    world, rng = await timed(redis_client, shards=SHARDS), random.Random(5)
    run = await world.frontier.runs.open("s", fresh=True)
    terms = Terms(f"r:s:{run.generation}", requests=30, lasting=True)
    await world.frontier.budgets.state([terms])
    given: dict[str, Any] = {"generation": run.generation, "cap": 100, "pages": 20}
    await world.frontier.push([message(n, HOSTS[n % 2], **given) for n in range(40)], forced=True)
    assert await drained(world, rng) == 20
    await world.frontier.runs.seal(run.id)
    for _ in range(3):
        await world.frontier.runs.settle()
        await world.pass_ms(2_000)
        await world.frontier.generations.tidy()
    names = set(await all_keys(redis_client, "*:shares:0"))
    assert names | set(await all_keys(redis_client, "*:dealt:0")) == set()


@pytest.mark.one_server("shards are the same on each node")
async def test_rounds_that_are_cut_short_or_made_twice_at_once_overrun_nothing(redis_client: Any) -> None:
    world, rng = await timed(redis_client, shards=SHARDS), random.Random(7)
    await world.frontier.budgets.state([Terms("s:s", TODAY, requests=25)])
    await world.frontier.push([message(n, rng.choice(HOSTS), cap=100) for n in range(100)])
    shares, run = world.frontier.shares, world.frontier.shards.run
    done = 0
    for _ in range(40):
        left = rng.randint(1, 25)

        async def sometimes(name: str, shard: int, *arguments: Any) -> Any:
            nonlocal left
            left -= name.startswith("share_")
            if left < 0 and name.startswith("share_"):
                raise ConnectionError
            return await run(name, shard, *arguments)

        world.frontier.shards.run = sometimes  # type: ignore[method-assign]
        rounds = (shares.balance(), Shares(world.frontier.shards).balance())
        ended = await asyncio.gather(*rounds, return_exceptions=True)
        assert all(isinstance(one, int | ConnectionError) for one in ended)
        world.frontier.shards.run = run  # type: ignore[method-assign]
        leases = await world.lease(rng.randint(1, 4))
        await acked(world.frontier, handles(leases))
        done += len(leases)
        assert done <= 25
        await world.pass_ms(1_100)
    assert await drained(world, rng) + done == 25


@pytest.mark.one_server("shards are the same on each node")
async def test_bytes_are_overrun_by_what_is_under_way_on_each_shard_and_shown_as_of_one(redis_client: Any) -> None:
    world = await timed(redis_client, shards=SHARDS)
    await world.frontier.budgets.state([Terms("s:s", TODAY, size=1_000)])
    await world.frontier.push([message(n, HOSTS[n % len(HOSTS)], cap=100) for n in range(60)])
    spent = 0
    for _ in range(25):
        await world.frontier.shares.balance()
        await world.pass_ms(1_100)
        leases = await world.lease(1)
        await world.frontier.budgets.charge({(lease.host, "s", "0"): (100, 0, 0) for lease in leases})
        await acked(world.frontier, handles(leases))
        spent += 100 * len(leases)
    assert 1_000 <= spent < 1_000 + SHARDS * 100
    [share] = await world.frontier.budgets.shares(world.now)
    assert share.spent == pytest.approx(spent / 1_000)


async def test_one_worker_of_the_fleet_deals_at_a_time(redis_client: Any) -> None:
    world = await timed(redis_client, shards=SHARDS)
    await world.frontier.budgets.state([Terms("s:s", TODAY, requests=1)])
    await world.frontier.push([message(1, HOSTS[0])])
    assert await world.lease() == [], "no share yet"
    await world.frontier.shares.turn()
    balanced = world.frontier.shares.balance
    world.frontier.shares.balance = None  # type: ignore[assignment,method-assign]
    await world.frontier.shares.turn()
    world.frontier.shares.balance = balanced  # type: ignore[method-assign]
    await world.pass_ms(1_100)
    assert len(await world.lease()) == 1


@pytest.mark.one_server("shards are the same on each node")
async def test_one_shard_costs_no_call(redis_client: Any) -> None:
    world = await timed(redis_client)
    run_all = AsyncMock()
    world.frontier.shards.run_all = run_all  # type: ignore[method-assign]
    await world.frontier.shares.turn()
    assert run_all.await_count == 0
