"""A full frontier: seeds pause first, then pushes are refused, and what is in flight always gets through."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from crawler.frontier.messages import PushOutcome
from crawler.frontier.server import server_check
from crawler.frontier.state.budgets import Terms
from tests.integration.frontier.harness import everywhere
from tests.integration.frontier.making import acked, answer, asks_for, handles, message, reported, sent, timed

ACCEPTED, FULL, MEMORY = PushOutcome.ACCEPTED, PushOutcome.REFUSED_FULL, PushOutcome.REFUSED_MEMORY


@pytest.fixture
async def small(redis_client: Any) -> AsyncIterator[Any]:
    """A server whose maxmemory a test may set with the answer."""
    nodes = everywhere(redis_client)
    yield lambda limit: redis_client.config_set("maxmemory", limit, **nodes)
    await redis_client.config_set("maxmemory", 0, **nodes)


async def used_memory(client: Any) -> list[int]:
    """Bytes, of each node."""
    return [info["used_memory"] for info in (await server_check.infos(client, "memory")).values()]


async def test_beyond_the_limit_pushes_are_refused_and_children_are_not(redis_client: Any) -> None:
    world = await timed(redis_client, queue_limit=2, queue_high_water=1)
    assert await world.frontier.push([message(number) for number in range(3)]) == [ACCEPTED, ACCEPTED, FULL]
    assert await world.frontier.push([message(9)], forced=True) == [ACCEPTED]
    assert (await world.frontier.inspection.stats()).total.refused == 1
    await world.fetch()
    await world.fetch()
    assert await world.frontier.push([message(2)]) == [ACCEPTED]


async def test_at_the_high_water_mark_seeds_pause_with_a_reason(redis_client: Any) -> None:
    world = await timed(redis_client, queue_high_water=2)
    await world.frontier.push([message(1)])
    assert await world.frontier.why_full() == ""
    await world.frontier.push([message(2)])
    assert await world.frontier.why_full() == "2 requests are queued, FRONTIER_QUEUE_HIGH_WATER is 2"
    gauge = world.frontier.gauge
    assert (await gauge.used(), await gauge.full()) == (0.0, set())


async def test_above_the_memory_mark_pushes_are_refused_and_leasing_slows(redis_client: Any, small: Any) -> None:
    world = await timed(redis_client, memory_high_water=0.1, memory_limit=0.2)
    await world.frontier.push([message(number, f"{number}.example") for number in range(16)])
    await small(4 * max(await used_memory(redis_client)))
    other = await timed(redis_client, memory_high_water=0.1, memory_limit=0.2)  # a new one asks the server again
    assert await other.frontier.push([message(99)]) == [MEMORY]
    assert await other.frontier.push([message(99)], forced=True) == [ACCEPTED]
    assert await other.frontier.gauge.full()
    assert "maxmemory, FRONTIER_MEMORY_HIGH_WATER is 10%" in await other.frontier.why_full()
    assert len(await other.lease(16)) == 1


async def test_keys_that_the_server_throws_away_are_told(
    redis_client: Any, small: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """The policy may be changed, or the limit set, long after the worker's start; nothing else would tell."""
    world, forgotten = await timed(redis_client), list[bool]()
    gauge, nodes = world.frontier.gauge, everywhere(redis_client)
    gauge.on_eviction = lambda: forgotten.append(True)
    await gauge.used()
    await redis_client.config_set("maxmemory-policy", "volatile-random", **nodes)
    for tag in "abcdef" if nodes else "a":  # on each node of a Cluster
        for number in range(300):
            await redis_client.set(f"{{{tag}}}{number}", b"x" * 10_000, ex=900)
    try:
        await small(min(await used_memory(redis_client)) - 500_000)
        await redis_client.set("{a}1", b"")  # makes room
        advice = await server_check.prepare(redis_client, world.frontier.shards)
        gauge._read_at = float("-inf")
        await gauge.used()
    finally:
        await redis_client.config_set("maxmemory", 0, "maxmemory-policy", "noeviction", **nodes)
    assert "keys to make room (maxmemory-policy volatile-random): queued requests may be among them" in caplog.text
    assert forgotten == [True]
    assert [line.endswith(" keys have been") for line in advice if "noeviction" in line] == [True]


async def test_a_policy_that_throws_keys_away_is_told_before_it_does(
    redis_client: Any, small: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """Once, however often it is looked at; the check at a start tells of the one that was there before."""
    gauge, nodes = (await timed(redis_client)).frontier.gauge, everywhere(redis_client)
    told = []
    try:
        await small(100 * max(await used_memory(redis_client)))
        for policy in ("allkeys-lru", "noeviction", "allkeys-lru", "volatile-lru"):
            await redis_client.config_set("maxmemory-policy", policy, **nodes)
            gauge._read_at = float("-inf")
            await gauge.used()
            told.append(caplog.text.count(server_check.EVICTS))
    finally:
        await redis_client.config_set("maxmemory-policy", "noeviction", **nodes)
    assert told == [0, 0, 1, 1]


async def test_at_maxmemory_everything_but_push_still_works(redis_client: Any, small: Any) -> None:
    world = await timed(redis_client)
    await world.frontier.push([message(number, f"{number}.example") for number in range(8)])
    leases = await world.lease(4)
    assert not await world.frontier.gauge.full()
    world.frontier.gauge._read_at = float("inf")  # on a slow machine it would be read again, and slow leasing
    await small(1)
    assert await world.frontier.push([message(99)], forced=True) == [MEMORY]
    frontier = world.frontier
    done, given_back, retried, dead = handles(leases)
    assert await frontier.start([done]) == [True]
    assert await reported(frontier, [answer(done)]) == [True]
    assert await acked(frontier, [done]) == [True]
    assert await frontier.renew([given_back]) == [True]
    assert await frontier.give_back([given_back]) == [True]
    assert await frontier.nack(*retried, delay_ms=10)
    assert await frontier.bury(*dead, reason="test")
    assert await frontier.recall() == 0
    assert len(await world.lease(8)) == 5
    assert (await frontier.reserve_slot("new.example", worker="w")).token is not None
    assert await frontier.dead.drop([dead[0]]) == [True]
    assert await frontier.workers.heartbeat("w", {})
    assert await asks_for(frontier, "new.example", "http://new.example", 5)
    assert await frontier.generations.sweep() == 0
    total = (await frontier.inspection.stats()).total
    assert (total.accepted, total.leased, total.done, total.delayed, total.dropped) == (8, 5, 1, 1, 1)


async def test_at_maxmemory_shares_of_several_shards_stay_as_they_are(redis_client: Any, small: Any) -> None:
    world = await timed(redis_client, shards=3)
    await small(1)
    await world.frontier.shares.turn()
    assert await redis_client.exists(world.frontier.shards.key(0, "shares:turn")) == 0
    await small(0)
    await world.frontier.shares.turn()
    assert await redis_client.exists(world.frontier.shards.key(0, "shares:turn")) == 1


async def test_at_maxmemory_what_is_left_of_a_run_without_budget_makes_room(redis_client: Any, small: Any) -> None:
    world = await timed(redis_client)
    run = await world.frontier.runs.open("s", fresh=True)
    await world.frontier.budgets.state([Terms(f"r:s:{run.generation}", requests=1, lasting=True)])
    await world.frontier.push([message(number, generation=run.generation) for number in range(9)])
    await world.fetch()
    await small(1)
    assert [one.requests async for one in world.frontier.spent.drop()] == [8]


async def test_children_that_fit_are_stored_although_their_batch_does_not(redis_client: Any, small: Any) -> None:
    """The call itself takes memory: of many large requests at once none would ever be stored."""
    world = await timed(redis_client)
    large = [message(number, body=b"x" * 200_000) for number in range(16)]
    await world.frontier.push(large[:1], forced=True)  # the server knows the script now
    await small(max(await used_memory(redis_client)) + 1_500_000)
    outcomes = await world.frontier.push(large[1:], forced=True)
    assert outcomes[0] is ACCEPTED
    assert outcomes[-1] is MEMORY
    assert outcomes == sorted(outcomes)


async def test_a_page_that_waits_for_room_counts_neither_as_started_nor_as_delivered(redis_client: Any) -> None:
    world = await timed(redis_client, lease_ms=10_000, hard_cap_ms=20_000, max_deliveries=1)
    await world.frontier.push([message(1)])
    (page,) = handles(await world.lease())
    await world.frontier.settle([page], [answer(page)])
    for _ in range(5):
        await world.pass_ms(9_000)
        assert await world.frontier.renew([page], for_room=True) == [True]
    await world.pass_ms(20_000)  # its worker is killed
    (again,) = await world.lease()
    assert again.deliveries == 0
    assert await world.frontier.renew([page], for_room=True) == [False]


async def test_a_page_that_was_not_answered_yet_still_counts_as_delivered(redis_client: Any) -> None:
    world = await timed(redis_client)
    await world.frontier.push([message(1)])
    (page,) = handles(await world.lease())
    await sent(world.frontier, [page])
    assert await world.frontier.renew([page], for_room=True) == [True]
    await world.pass_ms(150_000)
    assert [lease.deliveries for lease in await world.lease()] == [1]


async def test_a_page_that_is_put_off_again_waits_twice_as_long_whoever_has_it(redis_client: Any) -> None:
    """Until it is tried again for another reason, or at once because there is room."""
    world = await timed(redis_client, lease_ms=60_000)
    await world.frontier.push([message(1)])
    waits = []
    for reason in ("", "", "", "retry", ""):
        [lease] = await world.lease()
        if reason:
            await world.frontier.nack(lease.id, lease.token, delay_ms=1, reason=reason)
            await world.pass_ms(1)
            [lease] = await world.lease()
        await world.frontier.put_off(handles([lease]), delay_ms=60_000)
        batch = await world.frontier.lease(["s"], 1, worker="another")
        waits.append(batch.next_due_ms)
        await world.pass_ms(batch.next_due_ms or 0)
    assert waits == [60_000, 120_000, 240_000, 60_000, 120_000]
    for _ in range(9):
        await world.frontier.put_off(handles(await world.lease()), delay_ms=60_000)
        await world.frontier.recall()
    await world.frontier.put_off(handles(await world.lease()), delay_ms=60_000)
    assert (await world.frontier.lease(["s"], 1, worker="another")).next_due_ms == 900_000


async def test_what_is_put_off_comes_at_its_time_or_as_soon_as_there_is_room(redis_client: Any) -> None:
    world = await timed(redis_client)
    await world.frontier.push([message(number, f"{number}.example") for number in range(40)])
    pages = handles(await world.lease(40)) + handles(await world.lease(40))
    await world.frontier.start(pages)
    assert set(await world.frontier.put_off(pages, delay_ms=60_000)) == {True}
    assert set(await world.frontier.put_off(pages, delay_ms=60_000)) == {False}
    assert await world.frontier.inspection.put_off() == len(pages) == 40
    total = (await world.frontier.inspection.stats()).total
    assert (total.delayed, total.leased, total.queued, total.nacked) == (40, 0, 0, 0)
    assert await world.bodies() == []
    assert await world.frontier.recall() == 40
    assert await world.frontier.recall() == 0
    again = await world.lease(1)
    assert [lease.deliveries for lease in again] == [0]
    await world.frontier.put_off(handles(again), delay_ms=60_000)
    await world.pass_ms(119_000)
    assert await world.frontier.inspection.put_off() == 1
    await world.pass_ms(2_000)
    await world.lease(1)
    assert await world.frontier.inspection.put_off() == 0
    assert (await world.frontier.inspection.stats()).total.delayed == 0
