"""What is leased is neither lost nor taken for finished where what says so was damaged in Redis."""

from __future__ import annotations

from typing import Any

import pytest

from crawler.extensions.idle import leased_elsewhere
from crawler.frontier.frontier import Frontier
from crawler.frontier.state.statement import Statement
from crawler.policy.pace import Pace
from tests.integration.frontier.making import Timed, acked, handles, message, timed

pytestmark = pytest.mark.one_server("the first shard has it all")
LEASE_MS = 60_000


async def held(client: Any) -> Timed:
    """Two requests of a run are leased, two are queued."""
    world = await timed(client, lease_ms=LEASE_MS)
    await world.frontier.push([message(number, f"{number}.example") for number in range(4)])
    await world.lease(2)
    return world


async def fetched_later(world: Timed, rounds: int = 6) -> list[int]:
    """What a worker gets that looks after the frontier as all do, when the others have died."""
    done: list[int] = []
    for _ in range(rounds):
        done += await world.fetch()
        await world.pass_ms(LEASE_MS // 2)
        await world.frontier.generations.tidy()
    return done


async def is_over(frontier: Frontier) -> bool:
    """As workers ask."""
    return await frontier.inspection.empty("s")


async def test_leases_whose_expiry_was_lost_expire(redis_client: Any) -> None:
    world = await held(redis_client)
    await redis_client.delete(world.frontier.shards.key(0, "lease"))
    assert sorted(await fetched_later(world)) == [0, 1, 2, 3]
    assert await is_over(world.frontier)


@pytest.mark.parametrize("value", [None, b"text", b"0", b"-7"])
async def test_leased_requests_that_counters_miss_are_not_finished(redis_client: Any, value: bytes | None) -> None:
    world = await timed(redis_client, lease_ms=LEASE_MS)
    frontier = world.frontier
    await frontier.push([message(number, f"{number}.example") for number in range(4)])
    leases = await world.lease()
    key = frontier.shards.key(0, "gen:s:0")
    await (redis_client.hset(key, "leased", value) if value else redis_client.hdel(key, "leased"))
    assert not await is_over(frontier)
    assert ["damaged" in told for told in await leased_elsewhere(frontier, "s")] == [True], "an idle worker says why"
    await acked(frontier, handles(leases))
    await frontier.generations.tidy()
    assert (await frontier.inspection.stats("s")).total.leased == 0
    assert await is_over(frontier)


async def test_a_count_of_leases_that_is_too_high_delays_no_end(redis_client: Any) -> None:
    world = await held(redis_client)
    await redis_client.hset(world.frontier.shards.key(0, "gen:s:0"), "leased", 99_999)
    await fetched_later(world)
    assert await is_over(world.frontier)


async def test_what_no_lease_knows_delays_no_end(redis_client: Any) -> None:
    world = await held(redis_client)
    shards = world.frontier.shards
    await redis_client.hset(shards.key(0, "infl"), mapping={"x": "noise", "777": "", "-5": "y", "nan": "z"})
    await redis_client.hset(shards.key(0, "body"), mapping={"x": "noise", "777": ""})
    assert sorted(await fetched_later(world)) == [0, 1, 2, 3]
    assert await is_over(world.frontier)


async def test_counters_that_are_lost_before_the_state_are_not_believed(redis_client: Any) -> None:
    world = await held(redis_client)
    shards = world.frontier.shards
    await redis_client.delete(shards.key(0, "gen:s:0"))
    await redis_client.delete(shards.key(0, "state"))
    await world.frontier.push([message(1, stream="other")])
    assert not await is_over(world.frontier)
    assert sorted(await fetched_later(world)) == [0, 1, 2, 3]
    assert await is_over(world.frontier)


async def test_a_frontier_without_state_and_names_goes_on_with_what_it_has(redis_client: Any) -> None:
    world = await held(redis_client)
    frontier = world.frontier
    for place in ("gens", "state"):
        await redis_client.delete(frontier.shards.key(0, place))
    assert not await is_over(frontier)
    await frontier.push([message(9, "9.example")])
    assert sorted(await fetched_later(world)) == [0, 1, 2, 3, 9]
    assert await is_over(frontier)


async def test_a_state_that_is_lost_alone_is_not_told_as_the_loss_of_all(
    redis_client: Any, caplog: pytest.LogCaptureFixture
) -> None:
    world = await held(redis_client)
    key = world.frontier.shards.key(0, "state")
    await world.pass_ms(10)
    await redis_client.delete(key)
    batch = await world.frontier.lease(["s"], 1, worker="w")
    assert (len(batch.leases), batch.lost_data) == (1, False)
    [told] = [record.getMessage() for record in caplog.records if "lost" in record.getMessage()]
    assert key in told
    assert "still there" in told


async def test_a_name_that_is_no_text_holds_up_no_other_request(redis_client: Any) -> None:
    world = await held(redis_client)
    key = world.frontier.shards.key(0, "infl")
    for number, record in (await redis_client.hgetall(key)).items():
        await redis_client.hset(key, number, record.replace(b".example", b".examp\xece"))
    assert sorted(await fetched_later(world)) == [0, 1, 2, 3]
    assert await is_over(world.frontier)


async def test_a_generation_that_is_no_number_holds_up_no_other_request(redis_client: Any) -> None:
    world = await timed(redis_client, lease_ms=LEASE_MS)
    frontier = world.frontier
    run = await frontier.runs.open("s")
    await frontier.push([message(number, f"{number}.example", generation=run.generation) for number in range(4)])
    key = frontier.shards.key(0, "q:s:1.example")
    entry = await redis_client.lindex(key, 0)
    await redis_client.lset(key, 0, entry.replace(run.generation.encode(), b"\xff" + run.generation[1:].encode()))
    assert {0, 2, 3} <= set(await fetched_later(world))
    await world.pass_ms(LEASE_MS)
    await frontier.generations.tidy()
    assert await is_over(frontier)


async def test_a_host_whose_only_lease_was_lost_is_visited_again(redis_client: Any) -> None:
    """It kept the slot for good: what was pushed later waited at its cap for a report that never came."""
    world = await timed(redis_client, lease_ms=LEASE_MS)
    frontier = world.frontier
    await frontier.push([message(1)])
    await world.lease()
    await redis_client.hset(frontier.shards.key(0, "infl"), "1", b"noise")
    await world.pass_ms(LEASE_MS)
    await world.lease()
    await frontier.push([message(2)])
    assert await fetched_later(world) == [2]
    assert await is_over(frontier)


async def test_a_lost_lease_costs_the_same_however_many_hosts_are_at_their_cap(redis_client: Any) -> None:
    """With 8,500 of them it held the server up for more than half a minute."""
    world = await timed(redis_client, lease_ms=LEASE_MS)
    frontier = world.frontier
    await frontier.push([message(number, f"{number % 300}.example") for number in range(600)])
    await world.lease(300)
    await redis_client.hset(frontier.shards.key(0, "infl"), "1", b"noise")
    await redis_client.config_resetstat()
    await world.pass_ms(LEASE_MS)
    await frontier.shards.run("reap", 0)
    await frontier.generations.sweep()
    calls = await redis_client.info("commandstats")
    assert calls["cmdstat_hvals"]["calls"] == 1, "all leases are read"


async def test_an_address_keeps_the_slots_of_leases_that_are_there(redis_client: Any) -> None:
    """They were counted by the names of hosts alone: two requests went to one machine at once."""
    world = await timed(redis_client, lease_ms=LEASE_MS)
    frontier = world.frontier
    frontier.rules.statement = Statement("s", Pace(0, 2, 1), {}, by_address=True)
    await frontier.rules.state()
    hosts = [f"{number}.example" for number in range(3)]
    await frontier.addresses.tell({host: ["192.0.2.1"] for host in hosts}, 3_600_000)
    await frontier.push([message(number, host, cap=2) for number, host in enumerate(hosts)])
    [lost, held] = await world.lease()
    await redis_client.hset(frontier.shards.key(0, "infl"), lost.id.partition(":")[2], b"noise")
    for _ in range(4):
        await world.pass_ms(LEASE_MS // 3)
        await frontier.renew(handles([held]))
        await frontier.rules.state()
        await frontier.shards.run("reap", 0)
    await frontier.generations.tidy()
    assert (await frontier.inspection.host("ip:192.0.2.1")).in_flight == 1


async def test_a_slot_that_no_lease_holds_is_freed_in_the_end(redis_client: Any) -> None:
    """The record of the lease named another host; one at work keeps its slot however long that takes."""
    world = await timed(redis_client, lease_ms=LEASE_MS, hard_cap_ms=10 * LEASE_MS)
    frontier = world.frontier
    await frontier.push([message(number, f"{number % 2}.example") for number in range(4)])
    [first, second] = await world.lease()
    await frontier.give_back(handles([first]))
    key = frontier.shards.key(0, "infl")
    [(number, record)] = (await redis_client.hgetall(key)).items()
    [other] = await world.lease(1)
    await redis_client.hset(key, number, record.replace(second.host.encode(), b"9.example"))
    for _ in range(26):
        await world.pass_ms(LEASE_MS // 2)
        await frontier.renew(handles([other]))
        await frontier.shards.run("reap", 0)
        await frontier.generations.tidy()
    assert (await frontier.inspection.host(other.host)).in_flight == 1
    assert [lease.host for lease in await world.lease(1, exclude_hosts=["9.example"])] == [second.host]
