"""Who goes first: within a host, between hosts, between spiders."""

from __future__ import annotations

from typing import Any

import pytest

from tests.integration.frontier.making import Timed, acked, answer, handles, message, reported, timed

STEP_MS = 60_000


async def test_a_host_serves_in_order_of_arrival(redis_client: Any) -> None:
    world = await timed(redis_client)
    await world.frontier.push([message(number, cap=8) for number in (3, 1, 2)])
    assert await world.bodies() == [3, 1, 2]


async def test_priority_goes_first_within_a_host(redis_client: Any) -> None:
    world = await timed(redis_client)
    await world.frontier.push([message(1, cap=8), message(2, cap=8, priority=5), message(3, cap=8, priority=-1)])
    assert await world.bodies() == [2, 1, 3]


async def test_age_outweighs_priority_in_time(redis_client: Any) -> None:
    world = await timed(redis_client, priority_step_ms=STEP_MS)
    await world.frontier.push([message(1)])
    await world.pass_ms(2 * STEP_MS + 1)
    await world.frontier.push([message(2, priority=2), message(3, priority=3)])
    assert [await world.fetch(1) for _ in range(3)] == [[3], [1], [2]]


async def test_priority_beyond_the_limit_counts_as_the_limit(redis_client: Any) -> None:
    world = await timed(redis_client)
    await world.frontier.push([message(1, priority=1_000), message(2, priority=10**9)])
    assert [await world.fetch(1), await world.fetch(1)] == [[1], [2]]


async def test_an_urgent_request_brings_its_host_forward(redis_client: Any) -> None:
    world = await timed(redis_client)
    await world.frontier.push([message(1, "a.example"), message(2, "b.example")])
    await world.frontier.push([message(3, "b.example", priority=1)])
    assert await world.fetch(1) == [3]


async def test_an_urgent_request_at_a_waiting_host_counts_once_that_is_due(redis_client: Any) -> None:
    world = await timed(redis_client)
    await world.frontier.push([message(1, "b.example", delay_ms=1_000), message(2, "b.example", delay_ms=1_000)])
    assert await world.fetch(1) == [1]
    await world.frontier.push([message(3, "b.example", delay_ms=1_000, priority=9), message(4, "a.example")])
    await world.pass_ms(1_000)
    assert await world.fetch(1) == [3]


async def test_hosts_take_turns_however_long_their_queues(redis_client: Any) -> None:
    world = await timed(redis_client)
    await world.frontier.push([message(number, "long.example") for number in range(100)])
    await world.frontier.push([message(200 + number, "short.example") for number in range(3)])
    order = []
    for _ in range(6):
        await world.pass_ms(1)
        order += await world.fetch(1)
    assert order == [0, 200, 1, 201, 2, 202]


async def test_a_slow_host_holds_up_nobody(redis_client: Any) -> None:
    """One host with 1,000 URLs and a delay, beside ten hosts with ten each: these are crawled as if alone."""
    world = await timed(redis_client)
    await world.frontier.push([message(number, "slow.example", delay_ms=60_000) for number in range(1_000)])
    await world.frontier.push([message(2_000 + number, f"{number % 10}.example") for number in range(100)])
    fetched: list[int] = []
    for _ in range(10):
        fetched += await world.fetch(11)
    assert sorted(fetched) == [0, *range(2_000, 2_100)]


async def test_a_batch_spreads_over_hosts_before_it_deepens(redis_client: Any) -> None:
    world = await timed(redis_client)
    await world.frontier.push([message(number, f"{number % 4}.example", cap=8) for number in range(40)])
    leases = await world.lease(8)
    assert {host: sum(lease.host == host for lease in leases) for host in ("0.example", "3.example")} == {
        "0.example": 2,
        "3.example": 2,
    }


async def test_excluded_hosts_keep_their_turn(redis_client: Any) -> None:
    world = await timed(redis_client)
    await world.frontier.push([message(1, "a.example"), message(2, "b.example")])
    assert await world.bodies(exclude_hosts=["a.example"]) == [2]
    assert await world.bodies() == [1]


async def test_a_worker_leases_only_its_streams_but_shares_their_hosts(redis_client: Any) -> None:
    world = await timed(redis_client)
    await world.frontier.push([message(1, stream="s"), message(2, stream="t"), message(3, stream="t:browser")])
    assert await world.bodies(streams=["t", "t:browser"]) == [2]
    assert await world.bodies(streams=["s"]) == []  # t holds the one slot of the host


async def with_two_waiting_hosts(redis_client: Any) -> Timed:
    """Requests 2 and 3 of two hosts that have just been visited."""
    world = await timed(redis_client)
    many = [message(number, host, delay_ms=1_000) for number, host in enumerate(("a.example", "b.example") * 2)]
    await world.frontier.push(many)
    await world.fetch(2)
    return world


async def test_a_host_that_another_stream_keeps_busy_holds_up_nobody_in_a_batch_of_one(redis_client: Any) -> None:
    world = await with_two_waiting_hosts(redis_client)
    await world.frontier.push([message(9, "a.example", "t", delay_ms=1_000)])
    await world.pass_ms(2_000)
    assert await world.bodies(1, streams=["t"]) == [9], "a.example is at its cap"
    assert await world.bodies(1) == [3]


async def test_an_excluded_host_that_waits_holds_up_nobody_in_a_batch_of_one(redis_client: Any) -> None:
    world = await with_two_waiting_hosts(redis_client)
    await world.pass_ms(2_000)
    assert await world.bodies(1, exclude_hosts=["a.example"]) == [3]


async def test_the_strictest_spider_sets_the_pace_while_it_has_work(redis_client: Any) -> None:
    world = await timed(redis_client)
    await world.frontier.push(
        [message(1, stream="s", delay_ms=5_000, cap=1), message(2, stream="t", delay_ms=100, cap=4)]
    )
    [state] = await world.frontier.inspection.hosts()
    assert (state.delay_ms, state.cap) == (5_000, 1)
    await world.fetch(1, streams=["s"])
    await world.frontier.push([message(3, stream="t", delay_ms=100, cap=4)])
    [state] = await world.frontier.inspection.hosts()
    assert (state.delay_ms, state.cap) == (100, 4)


async def test_next_due_tells_when_to_ask_again(redis_client: Any) -> None:
    world = await timed(redis_client)
    await world.frontier.push([message(number, delay_ms=1_000) for number in range(2)])
    await world.fetch(1)
    batch = await world.frontier.lease(["s"], 5, worker="w")
    assert (batch.leases, batch.next_due_ms) == ([], 1_000)
    await world.pass_ms(1_000)
    assert await world.fetch() == [1]
    assert (await world.frontier.lease(["s"], 5, worker="w")).next_due_ms is None


async def test_a_suspect_is_leased_alone_and_only_to_an_idle_worker(redis_client: Any) -> None:
    world = await timed(redis_client, lease_ms=40_000)
    await world.frontier.push([message(1, "bad.example")])
    for _ in range(2):
        [lease] = await world.lease()
        await world.frontier.start(handles([lease]))
        await world.pass_ms(40_000)
    await world.frontier.push([message(2, "good.example")])
    batch = await world.frontier.lease(["s"], 10, worker="w")
    assert ([int(lease.body) for lease in batch.leases], batch.suspects) == ([2], 1)
    await world.frontier.push([message(3, "other.example")])
    alone = await world.lease(suspects_ok=True)
    assert [(int(lease.body), lease.deliveries) for lease in alone] == [(1, 2)]
    await reported(world.frontier, [answer(handles(alone)[0])])
    assert await acked(world.frontier, handles(alone)) == [True]


@pytest.mark.one_server("a matter of size")
async def test_thousands_may_be_asked_for_and_thousands_of_hosts_be_passed_over(redis_client: Any) -> None:
    world = await timed(redis_client)
    names = [f"{number}.example" for number in range(9_000)]
    await world.frontier.push([message(number, name, delay_ms=10) for number, name in enumerate(names)])
    assert len(await world.lease(9_000)) == 500
    await world.lease(10, exclude_hosts=names[:8_500])


async def test_a_retry_belongs_beside_what_comes_back_with_it(redis_client: Any) -> None:
    """Its host's first is one that a dead worker had, and that is queued again in the same call."""
    world = await timed(redis_client, lease_ms=60_000)
    await world.frontier.push([message(1, cap=4, not_before_ms=world.now + 1_000), message(2, cap=4)])
    await world.frontier.push([message(3, cap=4)])
    dead, retried = handles(await world.lease())
    await reported(world.frontier, [answer(retried, 500)])
    await world.frontier.nack(*retried, delay_ms=50_000)
    await world.pass_ms(1_000)
    assert await world.bodies(exclude_hosts=["a.example"]) == []
    await world.pass_ms(60_000)
    assert await world.bodies() == [2, 3, 1], dead
