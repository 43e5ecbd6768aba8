"""The life of a request, operation by operation."""

from __future__ import annotations

import struct
from typing import Any

import pytest

from crawler.errors import ServiceError
from crawler.frontier.frontier import Frontier
from crawler.frontier.messages import PushOutcome, SpiderStats
from crawler.frontier.script_constants import SCHEMA
from tests.integration.frontier.harness import all_keys
from tests.integration.frontier.making import (
    START_MS,
    Timed,
    acked,
    answer,
    handles,
    message,
    open_generation,
    reported,
    sent,
    timed,
)

ACCEPTED, DUPLICATE, DUPLICATE_DEAD = PushOutcome.ACCEPTED, PushOutcome.DUPLICATE, PushOutcome.DUPLICATE_DEAD
HOUR_MS = 3_600_000


async def total(frontier: Frontier) -> SpiderStats:
    return (await frontier.inspection.stats()).total


async def test_a_request_goes_from_push_to_ack(redis_client: Any) -> None:
    world = await timed(redis_client)
    frontier = world.frontier
    assert await frontier.push([message(1), message(1)]) == [ACCEPTED, DUPLICATE]
    [lease] = await world.lease()
    assert (lease.body, lease.host, lease.stream, lease.leased_at_ms) == (b"1", "a.example", "s", START_MS)
    assert await frontier.start(handles([lease])) == [True]
    report = answer(handles([lease])[0])
    assert await reported(frontier, [report, report]) == [True, False], "a slot is freed once"
    assert await acked(frontier, handles([lease]) * 2) == [True, False], "a lease ends once"
    assert await total(frontier) == SpiderStats(accepted=1, done=1, duplicates=1, seen=1)
    assert await frontier.inspection.empty()


async def test_a_stale_token_changes_nothing(redis_client: Any) -> None:
    world = await timed(redis_client)
    await world.frontier.push([message(1)])
    [(lease_id, token)] = handles(await world.lease())
    stale = (lease_id, token - 1)
    before = {key: await redis_client.dump(key) for key in await all_keys(redis_client)}
    frontier = world.frontier
    assert (
        await frontier.start([stale]) == await acked(frontier, [stale]) == await frontier.give_back([stale]) == [False]
    )
    assert await reported(frontier, [answer(stale)]) == await frontier.renew([stale]) == [False]
    assert not await frontier.nack(*stale, delay_ms=0)
    assert not await frontier.bury(*stale, reason="stale")
    assert (await frontier.reserve_slot("a.example", lease=stale)).lost
    assert before == {key: await redis_client.dump(key) for key in await all_keys(redis_client)}


async def test_live_copies_of_a_url_do_not_disturb_each_other(redis_client: Any) -> None:
    world = await timed(redis_client)
    assert await world.frontier.push([message(7, dedupe=False) for _ in range(3)]) == [ACCEPTED] * 3
    for _ in range(3):
        assert await world.fetch() == [7]
    assert (await total(world.frontier)).done == 3


async def test_what_is_given_back_keeps_its_place_and_is_not_charged(redis_client: Any) -> None:
    world = await timed(redis_client)
    await world.frontier.push([message(number) for number in range(3)])
    for _ in range(4):
        [lease] = await world.lease(1)
        assert (lease.body, lease.deliveries) == (b"0", 0)
        await world.frontier.start(handles([lease]))
        assert await world.frontier.give_back(handles([lease])) == [True]


async def test_a_retry_waits_keeps_its_id_and_is_not_charged(redis_client: Any) -> None:
    world = await timed(redis_client)
    await world.frontier.push([message(1)])
    [first] = await world.lease()
    await world.frontier.start(handles([first]))
    assert await world.frontier.nack(first.id, first.token, delay_ms=5_000, body=b"2", reason="503")
    assert (await total(world.frontier)).delayed == 1
    batch = await world.frontier.lease(["s"], 10, worker="w")
    assert (batch.leases, batch.next_due_ms) == ([], 5_000)
    await world.pass_ms(5_000)
    [again] = await world.lease()
    assert (again.id, again.body, again.deliveries, again.fingerprint) == (first.id, b"2", 0, 1)
    assert again.token != first.token


async def test_a_request_for_later_waits_for_its_time(redis_client: Any) -> None:
    world = await timed(redis_client)
    await world.frontier.push([message(1, not_before_ms=START_MS + 9_000), message(2, not_before_ms=START_MS - 1)])
    assert await world.fetch() == [2]
    await world.pass_ms(8_999)
    assert await world.fetch() == []
    await world.pass_ms(1)
    assert await world.fetch() == [1]


async def expire(world: Timed) -> None:
    await world.pass_ms(world.frontier.config.lease_ms)


async def test_a_silent_workers_requests_come_back(redis_client: Any) -> None:
    world = await timed(redis_client)
    await world.frontier.push([message(1)])
    [buffered] = await world.lease()
    await world.pass_ms(world.frontier.config.lease_ms - 1)
    assert await world.lease() == []
    await world.pass_ms(1)
    [again] = await world.lease()
    assert (again.body, again.deliveries) == (b"1", 0), "what was only buffered is not charged"
    assert await acked(world.frontier, handles([buffered])) == [False]


async def test_renewal_keeps_a_lease_until_the_hard_cap(redis_client: Any) -> None:
    world = await timed(redis_client, hard_cap_ms=300_000)
    await world.frontier.push([message(1)])
    leased = handles(await world.lease())
    await world.frontier.start(leased)
    for _ in range(9):
        await world.pass_ms(30_000)
        assert await world.frontier.renew(leased) == [True]
    await world.pass_ms(30_000)
    assert await world.frontier.renew(leased) == [False]


async def test_time_with_storage_down_does_not_count_towards_the_hard_cap(redis_client: Any) -> None:
    world = await timed(redis_client, hard_cap_ms=100_000)
    await world.frontier.push([message(1)])
    leased = handles(await world.lease())
    await world.frontier.start(leased)
    for suspended in (False, True, True, True, True, True, False, False):
        await world.pass_ms(30_000)
        assert await world.frontier.renew(leased, suspended=suspended) == [True]
    await world.pass_ms(30_000)
    assert await world.frontier.renew(leased) == [False]


async def test_five_deliveries_without_an_end_make_a_dead_letter(redis_client: Any) -> None:
    world = await timed(redis_client)
    await world.frontier.push([message(1)])
    for delivery in range(5):
        [lease] = await world.lease(suspects_ok=True)
        assert lease.deliveries == delivery
        await world.frontier.start(handles([lease]))
        await expire(world)
    assert await world.lease(suspects_ok=True) == []
    [letter] = await world.frontier.dead.find("s")
    assert (letter.reason, letter.deliveries, letter.body, letter.worker) == ("deliveries", 5, b"1", "w")
    assert await world.frontier.push([message(1)]) == [DUPLICATE_DEAD]


@pytest.mark.parametrize("jump_ms", [HOUR_MS, -HOUR_MS, 180_000])
async def test_neither_a_jump_of_the_clock_nor_an_outage_reaps_live_workers(redis_client: Any, jump_ms: int) -> None:
    world = await timed(redis_client)
    await world.frontier.push([message(1), message(2, "b.example")])
    leased = handles(await world.lease())
    await world.be_silent(jump_ms)
    assert await world.lease() == []
    assert await world.frontier.renew(leased) == [True, True]
    await world.pass_ms(world.frontier.config.lease_ms - 1)
    assert await world.lease() == []
    assert await acked(world.frontier, leased) == [True, True]


@pytest.mark.parametrize(("delay_ms", "jump_ms"), [(10_000, 5_000), (60_000, 29_000), (60_000, HOUR_MS)])
@pytest.mark.parametrize("is_sent", [True, False])
async def test_no_jump_of_the_clock_shortens_a_delay_that_goes_on(
    redis_client: Any, delay_ms: int, jump_ms: int, is_sent: bool
) -> None:
    """A jump over a part of it did. A request that is not sent yet may be sent until its lease says otherwise."""
    world = await timed(redis_client)
    await world.frontier.push([message(number, delay_ms=delay_ms, cap=2) for number in range(3)])
    leased = handles(await world.lease())
    if is_sent:
        await reported(world.frontier, [answer(handle) for handle in leased])
        await acked(world.frontier, leased)
    living = delay_ms + (0 if is_sent else world.frontier.config.start_within_ms)
    await world.be_silent(jump_ms)
    for _ in range(living // 2_000 - 1):
        await world.pass_ms(2_000)
        assert await world.lease() == []
    await world.pass_ms(3_000)
    assert len(await world.lease()) == 1


async def test_after_a_silence_requests_go_side_by_side_once_one_has_been_sent(redis_client: Any) -> None:
    """A host that answers slowly got one at a time for as long as a request may wait to be sent."""
    world = await timed(redis_client)
    await world.frontier.push([message(number, delay_ms=100, cap=8) for number in range(9)])
    await world.lease(1)  # by a worker that is gone: its request may be sent yet
    await world.be_silent(60_000)
    assert await world.lease() == []
    await world.pass_ms(world.frontier.config.start_within_ms + 100)
    for _ in range(4):
        leased = handles(await world.lease())
        assert len(leased) == 1
        await sent(world.frontier, leased)
        await world.pass_ms(100)
    await world.be_silent(60_000)
    await world.pass_ms(200)
    assert await world.lease() == [], "what was sent before it is in flight"


async def test_a_crawl_that_begins_soon_has_several_requests_in_flight(redis_client: Any) -> None:
    """Pushing ends a silence too. Only the first response is waited for."""
    world = await timed(redis_client)
    await world.frontier.push([message(number, delay_ms=100, cap=8) for number in range(9)])
    await world.be_silent(60_000)
    leased = handles(await world.lease())
    await sent(world.frontier, leased)
    await world.pass_ms(1_000)
    await reported(world.frontier, [answer(handle, elapsed_ms=1_000, latency_ms=1_000) for handle in leased])
    for _ in range(4):
        leased = handles(await world.lease())
        assert len(leased) == 1
        await sent(world.frontier, leased)
        await world.pass_ms(100)


async def test_dead_workers_are_reaped_all_the_same_after_a_jump(redis_client: Any) -> None:
    world = await timed(redis_client)
    await world.frontier.push([message(1)])
    await world.lease()
    await world.be_silent(-HOUR_MS)
    await expire(world)
    await expire(world)
    assert await world.bodies() == [1]


async def test_reaping_goes_on_while_many_expire_at_once(redis_client: Any) -> None:
    world = await timed(redis_client)
    await world.frontier.push([message(number, f"{number}.example") for number in range(30)])
    await world.lease()
    await expire(world)
    fetched: list[int] = []
    for _ in range(4):
        fetched += await world.fetch()
    assert sorted(fetched) == list(range(30))


async def test_a_server_that_was_emptied_is_noticed(redis_client: Any) -> None:
    world = await timed(redis_client)
    await world.frontier.push([message(1)])
    assert not (await world.frontier.lease(["s"], 1, worker="w")).lost_data
    await redis_client.flushall()
    await world.be_silent(1_000)
    assert (await world.frontier.lease(["s"], 1, worker="w")).lost_data
    assert not (await world.frontier.lease(["s"], 1, worker="w")).lost_data


async def test_tokens_are_not_given_out_again_by_a_server_that_lost_its_last_second(redis_client: Any) -> None:
    world = await timed(redis_client)
    await world.frontier.push([message(1)])
    saved = {key: await redis_client.dump(key) for key in await all_keys(redis_client)}
    [lost] = await world.lease()
    await redis_client.flushall()
    for key, value in saved.items():
        await redis_client.restore(key, 0, value)
    await world.be_silent(1_500)
    [again] = await world.lease()
    assert again.id == lost.id
    assert again.token != lost.token
    assert await acked(world.frontier, handles([lost])) == [False]


@pytest.mark.parametrize(
    ("schema", "words"), [(9, r"a newer release.*upgrade this worker"), (1, r"an older release.*finish its crawl")]
)
async def test_data_of_another_release_is_refused(redis_client: Any, schema: int, words: str) -> None:
    world = await timed(redis_client)
    await world.frontier.push([message(1)])
    key = world.frontier.shards.key(0, "state")
    raw = await redis_client.get(key)
    await redis_client.set(key, struct.pack("<d", schema) + raw[8:])
    await redis_client.script_flush()  # as on a server that restarted
    with pytest.raises(ServiceError, match=words):
        await world.frontier.open()
    with pytest.raises(ServiceError, match=f"schema {schema}, this one has {SCHEMA}"):
        await world.frontier.push([message(2)])


async def test_generations_know_nothing_of_each_other(redis_client: Any) -> None:
    world = await timed(redis_client)
    generations = world.frontier.generations
    assert await generations.current("s") == "0"
    await world.frontier.push([message(1)])
    assert await open_generation(world.frontier, "s") == await generations.current("s") == "1"
    assert await generations.current("t") == "0"
    assert await world.frontier.push([message(1, generation="1"), message(1, generation="0")]) == [ACCEPTED, DUPLICATE]
    [lease] = await world.lease()
    assert lease.generation == "0"


async def test_spiders_know_nothing_of_each_others_urls(redis_client: Any) -> None:
    world = await timed(redis_client)
    pushed = [message(1, stream="s"), message(1, stream="t"), message(1, stream="t:browser")]
    assert await world.frontier.push(pushed) == [ACCEPTED, ACCEPTED, DUPLICATE]
