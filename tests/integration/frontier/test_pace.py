"""How fast hosts are visited, and what their answers change."""

from __future__ import annotations

import struct
from itertools import pairwise
from typing import Any

import pytest

from crawler.frontier.messages import HostState
from tests.integration.frontier.making import Timed, acked, answer, asks_for, handles, message, reported, sent, timed

DAY_MS = 86_400_000
pytestmark = pytest.mark.one_server("the scripts are the same on a Cluster, where test_model.py runs them")


async def state_of(world: Timed) -> HostState:
    [state] = await world.frontier.inspection.hosts()
    return state


async def exchange(world: Timed, status: int, latency_ms: int = 0, **fields: Any) -> HostState:
    """Lease one request of the only host when it is due, answer it, and tell the host's state."""
    wait = (await state_of(world)).waits_ms
    await world.pass_ms(wait)
    [lease] = await world.lease(1)
    await sent(world.frontier, handles([lease]))
    await reported(world.frontier, [answer(handles([lease])[0], status, latency_ms=latency_ms, **fields)])
    await acked(world.frontier, handles([lease]))
    return await state_of(world)


async def fill(world: Timed, count: int = 60, **fields: Any) -> None:
    await world.frontier.push([message(number, **fields) for number in range(count)])


async def test_the_delay_counts_from_the_wire_start(redis_client: Any) -> None:
    world = await timed(redis_client)
    await fill(world, delay_ms=1_000)
    [lease] = await world.lease(1)
    await world.pass_ms(5_000)  # it waited in the worker, and was sent 300 ms ago
    await reported(world.frontier, [answer(handles([lease])[0], elapsed_ms=300)])
    assert (await state_of(world)).waits_ms == 700


async def test_a_lease_given_back_unsent_costs_the_host_no_delay(redis_client: Any) -> None:
    world = await timed(redis_client)
    await fill(world, delay_ms=1_000)
    await world.frontier.give_back(handles(await world.lease(1)))
    assert await world.bodies() == [0]


@pytest.mark.parametrize("cap", [1, 2, 8])
async def test_the_cap_bounds_what_is_in_flight(redis_client: Any, cap: int) -> None:
    world = await timed(redis_client)
    await fill(world, cap=cap)
    leases = await world.lease(20)
    assert len(leases) == cap
    await reported(world.frontier, [answer(handles(leases)[0])])
    assert len(await world.lease(20)) == 1


async def test_a_report_frees_the_slot_long_before_the_ack(redis_client: Any) -> None:
    world = await timed(redis_client)
    await fill(world)
    first = await world.lease(1)
    await reported(world.frontier, [answer(handles(first)[0])])
    second = await world.lease(1)
    assert await acked(world.frontier, handles(first)) == [True]
    assert await world.lease(1) == [], "the ack of the first does not free the slot of the second"
    await reported(world.frontier, [answer(handles(second)[0])])
    assert len(await world.lease(1)) == 1


@pytest.mark.parametrize("status", [429, 503])
async def test_429_and_503_lengthen_the_delay_by_a_sixth_and_stop_the_host_for_it(
    redis_client: Any, status: int
) -> None:
    world = await timed(redis_client)
    await fill(world, delay_ms=200, cap=8)
    await exchange(world, 200)
    state = await exchange(world, status)
    assert (state.delay_ms, state.blocked_ms) == (235, 235), "the rate falls to 0.85"
    await world.pass_ms(60_000)
    assert len(await world.lease(8)) == 1, "one at a time, at its delay"


async def test_a_proxys_fault_leaves_the_hosts_pace_and_record_alone_and_keeps_the_spacing(redis_client: Any) -> None:
    world = await timed(redis_client)
    await fill(world, delay_ms=2_000)
    before = await exchange(world, 200, latency_ms=100)
    after = await exchange(world, 0, excused=True)
    assert (after.delay_ms, after.latency_ms, after.success, after.in_flight) == (2_000, 100, before.success, 0)
    assert after.waits_ms == 2_000
    assert (await exchange(world, 0)).success == 0.5


async def test_a_request_late_by_its_rest_counts_as_in_time(redis_client: Any) -> None:
    """The third refusal in a row, a few ms after its rest, was taken for one at half the pace: then the delay was 562.

    It is doubled as it is, because refusals are frequent.
    """
    world = await timed(redis_client)
    await fill(world, delay_ms=100)
    for _ in range(8):
        await exchange(world, 200)
    delays = []
    for _ in range(3):
        await world.pass_ms((await state_of(world)).waits_ms + 5)
        delays.append((await exchange(world, 429)).delay_ms)
    assert delays == [118, 138, 277]


async def test_what_was_in_the_air_counts_as_one_complaint(redis_client: Any) -> None:
    world = await timed(redis_client)
    await fill(world, cap=8)
    leases = handles(await world.lease(8))
    await world.pass_ms(500)
    await reported(world.frontier, [answer(handle, 429, elapsed_ms=400) for handle in leases])
    assert (await state_of(world)).delay_ms == 40, "twice what is taken for the pace of those that waited for nothing"
    await world.pass_ms(1_000)
    assert len(await world.lease(8)) == 1, "one at a time, at the new delay"


async def test_retry_after_is_obeyed_up_to_a_day(redis_client: Any) -> None:
    world = await timed(redis_client)
    await fill(world)
    assert (await exchange(world, 429, retry_after_ms=90_000)).blocked_ms == 90_000
    assert (await exchange(world, 503, retry_after_ms=10 * DAY_MS)).blocked_ms == DAY_MS


async def test_the_delay_has_a_limit(redis_client: Any) -> None:
    world = await timed(redis_client, throttle_max_ms=4_500)
    await fill(world, delay_ms=4_000)
    await exchange(world, 200)
    for _ in range(4):
        state = await exchange(world, 429)
        await world.pass_ms(state.blocked_ms)
    assert (await state_of(world)).delay_ms == 4_500


@pytest.mark.parametrize(("good", "refused", "retry_after_ms", "guess"), [(2, 4, 1_000, 1_160), (0, 6, 0, 2_000)])
async def test_a_guessed_delay_is_not_held_before_a_refusal_confirms_it(
    redis_client: Any, good: int, refused: int, retry_after_ms: int, guess: int
) -> None:
    """Where another fleet left nothing of five requests a second, it was kept for a minute or two."""
    world = await timed(redis_client)
    await fill(world, delay_ms=80)
    for _ in range(good):
        await exchange(world, 200)
    for _ in range(refused):
        await exchange(world, 429, retry_after_ms=retry_after_ms)
    assert 0.98 * guess <= (await exchange(world, 200)).delay_ms <= guess
    delays = [(await exchange(world, 200)).delay_ms for _ in range(30)]
    assert delays[-1] < 900
    assert (await exchange(world, 429)).delay_ms > delays[-1]


async def test_learned_delays_are_not_all_alike(redis_client: Any) -> None:
    """At exact distances one of two fleets comes right behind the other each time, and is refused each time."""
    world = await timed(redis_client)
    await fill(world, delay_ms=100)
    states = [await exchange(world, 200, latency_ms=n) for n in range(5)]
    assert {state.waits_ms for state in states} == {100}, "a configured delay is kept as it is"
    await exchange(world, 429)
    await exchange(world, 429)
    states = [await exchange(world, 200) for _ in range(12)]
    longer = [state.waits_ms / state.delay_ms for state in states if state.delay_ms > 110]
    assert len(longer) > 5
    assert min(longer) >= 0.98, "never below it"
    assert max(longer) <= 1.32
    assert max(longer) - min(longer) > 0.1


async def memory(world: Timed) -> tuple[float, ...]:
    """What is remembered of the only host's pace: lib/pace/pace.lua names the fields."""
    [raw] = await world.client.hvals(world.frontier.shards.key(0, "pace"))
    return struct.unpack("<9d", raw)


async def test_a_slower_fleet_grows_faster(redis_client: Any) -> None:
    """In responses it does anyway; at four times the delay, in time as well. Otherwise two fleets stay as unequal."""
    speeds = []
    for delay in (40, 160):
        await redis_client.flushdb()
        world = await timed(redis_client)
        await fill(world, delay_ms=delay)
        await exchange(world, 200)
        state, before = await exchange(world, 429), (await memory(world))[1]
        await exchange(world, 200)
        speeds.append(((await memory(world))[1] - before) / state.delay_ms)
    assert 1.8 * speeds[0] < speeds[1] < 2.2 * speeds[0]


async def take_a_turn(world: Timed) -> HostState:
    """Refused from the first request on, then served: 2 s are a guess, and the first refusal confirms them."""
    await fill(world, delay_ms=80)
    for _ in range(6):
        await exchange(world, 429)
    return await exchange(world, 200)


async def test_a_long_delay_is_tried_by_a_pair(redis_client: Any) -> None:
    """Another fleet had used up what the site allows, and has left some since."""
    world = await timed(redis_client)
    turn = await take_a_turn(world)
    assert turn.delay_ms > 1_900
    first = await exchange(world, 200)
    assert 0.35 * first.delay_ms < first.waits_ms < 0.45 * first.delay_ms, "before half of it, another fleet's turn"
    second = await exchange(world, 200)
    assert second.delay_ms < 0.75 * first.delay_ms


@pytest.mark.parametrize("retry_after_ms", [0, 5_000])
async def test_a_pair_in_vain_changes_nothing_and_the_next_one_is_less_likely(
    redis_client: Any, retry_after_ms: int
) -> None:
    world = await timed(redis_client)
    await take_a_turn(world)
    first = await exchange(world, 200)
    second = await exchange(world, 429, retry_after_ms=retry_after_ms)
    assert second.delay_ms == first.delay_ms
    asked = retry_after_ms or first.delay_ms - first.waits_ms
    assert abs(second.waits_ms - asked) <= 2, "the next one comes in its turn, or as the site asks"
    assert (await memory(world))[5] == -1, "one was in vain"


async def test_no_pair_is_sent_within_a_crawl_delay(redis_client: Any) -> None:
    world = await timed(redis_client)
    await take_a_turn(world)
    await asks_for(world.frontier, "a.example", "http://a.example", 900)
    states = [await exchange(world, 200) for _ in range(3)]
    assert all(state.delay_ms > 1_250 for state in states), "otherwise no pair is due anyway"
    assert all(state.waits_ms >= 0.98 * state.delay_ms for state in states)


async def test_the_pace_comes_back_fast_then_slowly_and_then_goes_beyond(redis_client: Any) -> None:
    world = await timed(redis_client)
    await fill(world, delay_ms=1_000)
    await exchange(world, 200)
    await exchange(world, 429)
    await world.pass_ms(5_000)
    await world.frontier.push([message(number, delay_ms=100) for number in range(60, 200)])
    delays = [(await exchange(world, 200)).delay_ms for _ in range(100)]
    assert delays == sorted(delays, reverse=True), "without a complaint it only grows"
    gains = [before - after for before, after in pairwise(delays)]
    assert max(gains[:5]) > max(gains[25:40]), "around the pace that was complained of it goes slowly"
    assert delays[-1] < 900, "a limit that was lifted is found"


async def test_slow_answers_do_not_end_what_is_known_of_the_pace(redis_client: Any) -> None:
    world = await timed(redis_client, throttle=True, throttle_start_ms=100)
    await fill(world, delay_ms=100)
    await exchange(world, 200)
    limited = (await exchange(world, 429)).delay_ms
    await world.pass_ms(61_000)
    assert (await exchange(world, 200, latency_ms=9_000)).delay_ms > 1_000, "AutoThrottle"
    delays = [(await exchange(world, 200)).delay_ms for _ in range(40)]
    assert 100 < delays[-1] <= limited


async def test_what_is_known_of_a_limit_ages(redis_client: Any) -> None:
    world = await timed(redis_client)
    await fill(world, 150, delay_ms=1_000)
    await exchange(world, 200)
    await exchange(world, 429)
    while (await exchange(world, 200)).delay_ms > 1_000:
        assert (await memory(world))[0] == 1_000
    await world.pass_ms(60_000)
    await exchange(world, 200)
    assert await world.client.hvals(world.frontier.shards.key(0, "pace")) == []


@pytest.mark.parametrize(
    ("refused", "asked", "retry_after_ms"),
    [(100, 400, 0), (800, 4_000, 1)],
    ids=["any", "known to be about the pace, where refusals are few"],
)
async def test_a_crawl_delay_bounds_the_pace_at_once_and_what_is_learned_under_it(
    redis_client: Any, refused: int, asked: int, retry_after_ms: int
) -> None:
    world = await timed(redis_client)
    await fill(world, delay_ms=refused)
    await exchange(world, 200)
    await exchange(world, 429, retry_after_ms=retry_after_ms)
    await asks_for(world.frontier, "a.example", "http://a.example", asked)
    assert (await exchange(world, 200)).delay_ms == asked
    assert (await memory(world))[0] == refused, "what the host refused is still known when the Crawl-delay is gone"
    await exchange(world, 429, retry_after_ms=retry_after_ms)
    assert (await memory(world))[0] >= asked


async def test_good_answers_count_only_where_the_pace_held_them_up(redis_client: Any) -> None:
    world = await timed(redis_client)
    await fill(world, delay_ms=1_000)
    await exchange(world, 200)
    before = (await exchange(world, 429)).delay_ms
    for _ in range(20):
        await world.pass_ms(30_000)
        await exchange(world, 200)
    assert (await state_of(world)).delay_ms == before


async def refused(world: Timed) -> HostState:
    """Send the only request that is left when it is due; it is refused, and goes back to its queue."""
    await world.pass_ms((await state_of(world)).waits_ms)
    [handle] = handles(await world.lease(1))
    await sent(world.frontier, [handle])
    await reported(world.frontier, [answer(handle, 429)])
    await world.frontier.nack(*handle, delay_ms=0)
    return await state_of(world)


async def test_a_complaint_counts_once_per_request_however_often_that_is_tried(redis_client: Any) -> None:
    world = await timed(redis_client)
    await world.frontier.push([message(number, delay_ms=100) for number in range(6)])
    for _ in range(5):
        await exchange(world, 200)
    states = [await refused(world) for _ in range(4)]
    assert [state.delay_ms for state in states] == [118] * 4
    assert states[-1].blocked_ms > 4 * 118, "yet it is left alone for longer each time"


async def test_a_host_that_refuses_more_than_it_served_is_tried_soon_and_then_ever_later(redis_client: Any) -> None:
    """What is remembered of it is far too fast, and rests of that delay doubled never met the other fleet's gaps."""
    world = await timed(redis_client)
    await world.frontier.push([message(number, delay_ms=100) for number in range(2)])
    await exchange(world, 200)
    rests = [(await refused(world)).blocked_ms for _ in range(74)]
    assert max(rests[2:13]) <= 125
    assert 500 < rests[18] < 750, "a few dozen tries at random moments: another fleet leaves a tenth of the time"
    assert rests[60] < 6_000
    assert rests[68] > 60_000, "and not for ever"


async def test_retry_after_moves_the_next_turn_and_not_the_pace(redis_client: Any) -> None:
    world = await timed(redis_client)
    await fill(world, delay_ms=1_000)
    await exchange(world, 200)
    state = await exchange(world, 429, retry_after_ms=3_600_000)
    assert (state.blocked_ms, state.delay_ms) == (3_600_000, 1_176)


async def test_a_lease_in_hand_is_not_sent_when_its_host_has_pushed_back_since(redis_client: Any) -> None:
    world = await timed(redis_client)
    await fill(world, cap=8)
    first, *others = handles(await world.lease(8))
    await reported(world.frontier, [answer(first, 429, retry_after_ms=1_000)])
    assert await world.frontier.start(others) == [False] * 7, "asked before the wire, by whichever worker"
    assert await world.frontier.give_back(others) == [True] * 7
    await world.pass_ms(1_000)
    [again] = await world.lease(8)
    assert again.deliveries == 0
    assert await world.frontier.start(handles([again])) == [True]


async def test_a_host_that_only_complains_is_left_alone_for_longer_each_time(redis_client: Any) -> None:
    world = await timed(redis_client)
    await fill(world, 90, delay_ms=100, cap=8)
    rests = []
    for _ in range(74):
        state = await exchange(world, 429)
        rests.append(state.blocked_ms)
        if state.openings:
            await world.pass_ms(state.waits_ms)
            leases = await world.lease(8)
            assert len(leases) == 1, "one probe"
            await world.frontier.give_back(handles(leases))
    assert rests == sorted(rests)
    assert rests[-1] == 1_800_000
    assert state.openings > 1


@pytest.mark.parametrize("status", [200, 403])
async def test_a_host_that_shows_only_block_pages_is_left_alone_too(redis_client: Any, status: int) -> None:
    world = await timed(redis_client)
    await fill(world, delay_ms=100)
    for _ in range(16):
        await exchange(world, status)
        await world.frontier.back_off("a.example", 0, status=status)
    state = await state_of(world)
    assert (state.success, state.blocked_ms) == (0.0, 1_800_000)


async def test_a_retry_does_not_wait_for_all_first_visits(redis_client: Any) -> None:
    world = await timed(redis_client)
    await world.frontier.push([message(number) for number in range(40)])
    await world.pass_ms(1_000)
    [lease] = await world.lease(1)
    await reported(world.frontier, [answer(handles([lease])[0], 500)])
    await world.frontier.nack(lease.id, lease.token, delay_ms=500)
    await world.pass_ms(500)
    order = [number for _ in range(6) for number in await world.fetch(1)]
    assert 0 in order


async def test_a_crawl_delay_raises_the_delay_and_never_lowers_the_configured_one(redis_client: Any) -> None:
    world = await timed(redis_client)
    await fill(world, delay_ms=2_000)
    assert await asks_for(world.frontier, "a.example", "http://a.example", 5_000) == 5_000
    assert (await exchange(world, 200)).waits_ms == 5_000
    assert await asks_for(world.frontier, "a.example", "http://a.example", 500) == 2_000


async def burst_of(world: Any) -> int:
    """How many requests can be leased and sent now, one after the other, without any time passing."""
    count = 0
    while handle := handles(await world.lease(8)):
        assert len(handle) == 1, "the next one goes out when this one has"
        await sent(world.frontier, handle)
        await reported(world.frontier, [answer(handle[0])])
        await acked(world.frontier, handle)
        count += 1
    return count


async def test_a_host_that_was_left_alone_gets_a_burst_and_then_its_delay(redis_client: Any) -> None:
    world = await timed(redis_client)
    await world.frontier.push([message(number, delay_ms=1_000, burst=3, cap=8) for number in range(30)])
    assert await burst_of(world) == 3
    for passed, expected in ((999, 0), (1, 1), (999, 0), (2_001, 3), (60_000, 3)):
        await world.pass_ms(passed)
        assert await burst_of(world) == expected, passed


async def test_what_is_given_back_costs_nothing_of_the_burst(redis_client: Any) -> None:
    world = await timed(redis_client)
    await world.frontier.push([message(number, delay_ms=1_000, burst=3, cap=8) for number in range(30)])
    for _ in range(5):
        await world.frontier.give_back(handles(await world.lease(8)))
    assert await burst_of(world) == 3


async def test_no_bursts_where_the_site_asked_for_a_delay_or_pushed_back(redis_client: Any) -> None:
    world = await timed(redis_client)
    await world.frontier.push([message(number, delay_ms=1_000, burst=3, cap=8) for number in range(30)])
    await asks_for(world.frontier, "a.example", "http://a.example", 2_000)
    assert await burst_of(world) == 1
    await asks_for(world.frontier, "a.example", "http://a.example", 0)
    await world.pass_ms(60_000)
    assert await burst_of(world) == 3
    await world.pass_ms(60_000)
    await exchange(world, 429)
    await world.pass_ms(4_000)
    assert await burst_of(world) == 1


async def test_the_smallest_burst_that_a_spider_wants_counts(redis_client: Any) -> None:
    world = await timed(redis_client)
    await world.frontier.push([message(number, stream="s", delay_ms=1_000, burst=5, cap=8) for number in range(9)])
    await world.frontier.push([message(99, stream="t", delay_ms=1_000, burst=2, cap=8)])
    assert await burst_of(world) == 2


async def test_what_bypasses_the_queue_takes_from_the_same_bucket(redis_client: Any) -> None:
    world = await timed(redis_client)
    wishes: dict[str, Any] = {"delay_ms": 1_000, "burst": 3, "cap": 8}
    for _ in range(3):
        slot = await world.frontier.reserve_slot("a.example", worker="w", **wishes)
        assert slot.token is not None
        await reported(world.frontier, [answer(slot.token)])
    assert (await world.frontier.reserve_slot("a.example", worker="w", **wishes)).wait_ms == 1_000
    await world.frontier.push([message(1, **wishes)])
    assert await world.lease() == []


async def test_robots_txt_and_the_page_that_waits_for_it_are_two_of_a_burst(redis_client: Any) -> None:
    world = await timed(redis_client)
    await world.frontier.push([message(number, delay_ms=1_000, burst=3, cap=1) for number in range(9)])
    [handle] = handles(await world.lease(8))
    assert (await world.frontier.reserve_slot("a.example", lease=handle)).token == handle
    await reported(world.frontier, [answer(handle, keep=True)])
    assert (await world.frontier.reserve_slot("a.example", lease=handle)).token == handle
    await sent(world.frontier, [handle])
    await reported(world.frontier, [answer(handle)])
    await acked(world.frontier, [handle])
    assert await burst_of(world) == 1


async def test_autothrottle_begins_with_its_start_delay_and_halves_it_down_to_the_latency(redis_client: Any) -> None:
    world = await timed(
        redis_client, throttle=True, throttle_start_ms=3_000, throttle_max_ms=10_000, throttle_target=2.0
    )
    await fill(world, delay_ms=500)
    assert (await state_of(world)).delay_ms == 3_000
    delays = [(await exchange(world, 200, 2_400)).delay_ms for _ in range(9)]
    assert delays[:3] == [2_100, 1_650, 1_425], "as Scrapy's: half the way to latency / target"
    assert delays[-1] == pytest.approx(1_200, abs=10)
    assert (await exchange(world, 200, 90_000)).delay_ms > 9_000, "never under what the latency asks for"
    assert (await exchange(world, 404, 90_000)).delay_ms == 10_000, "and never over the largest"


async def test_a_host_that_refuses_its_first_requests_is_still_started_up(
    redis_client: Any,
) -> None:
    """Another fleet may have emptied its bucket: a refusal before any good answer is no limit to remember."""
    world = await timed(redis_client, throttle=True, throttle_start_ms=1_000)
    await fill(world, delay_ms=100)
    assert [(await exchange(world, 429)).delay_ms for _ in range(2)] == [1_000, 1_000]
    assert [(await exchange(world, 200)).delay_ms for _ in range(2)] == [550, 325]
    assert (await exchange(world, 429)).delay_ms == 650, "from here on it is one"


async def test_without_autothrottle_latency_changes_nothing(redis_client: Any) -> None:
    world = await timed(redis_client)
    await fill(world, delay_ms=500)
    assert (await exchange(world, 200, latency_ms=9_000)).delay_ms == 500


async def test_a_redirect_hop_is_paced_and_gets_a_slot_of_its_own(redis_client: Any) -> None:
    world = await timed(redis_client)
    await fill(world, delay_ms=1_000)
    [lease] = await world.lease(1)
    [handle] = handles([lease])
    await reported(world.frontier, [answer(handle, 302)])
    slot = await world.frontier.reserve_slot("a.example", lease=handle)
    assert (slot.wait_ms, slot.token) == (1_000, None)
    await world.pass_ms(1_000)
    assert await world.lease(1) == [], "the host is held for the hop"
    slot = await world.frontier.reserve_slot("a.example", lease=handle)
    assert slot.token == handle
    assert await reported(world.frontier, [answer(handle)]) == [True]
    assert await acked(world.frontier, [handle]) == [True]


async def test_robots_txt_goes_in_the_slot_of_the_page_that_waits_for_it(redis_client: Any) -> None:
    world = await timed(redis_client)
    await fill(world, delay_ms=1_000)
    [handle] = handles(await world.lease(1))
    assert (await world.frontier.reserve_slot("a.example", lease=handle)).token == handle
    await world.pass_ms(200)
    await reported(world.frontier, [answer(handle, elapsed_ms=200, keep=True)])
    assert (await world.frontier.reserve_slot("a.example", lease=handle)).wait_ms == 800
    await world.pass_ms(800)
    assert (await world.frontier.reserve_slot("a.example", lease=handle)).token == handle


async def test_a_slot_whose_worker_died_comes_back(redis_client: Any) -> None:
    world = await timed(redis_client, lease_ms=40_000)
    slot = await world.frontier.reserve_slot("a.example", cap=1, worker="w")
    assert slot.token is not None
    await world.frontier.push([message(1)])
    assert await world.lease() == []
    await world.pass_ms(40_000)
    assert await world.bodies() == [1]


async def test_an_idle_host_is_forgotten_after_a_while_but_not_before_it_may_be_visited(redis_client: Any) -> None:
    world = await timed(redis_client, quiet_ms=50_000)
    hosts = world.frontier.shards.key(0, "hosts")
    await world.frontier.push([message(1, "idle.example", delay_ms=7_000), message(2, "busy.example")])
    await world.fetch(exclude_hosts=["busy.example"])
    await world.pass_ms(56_999)
    await world.frontier.generations.sweep()
    assert await redis_client.hexists(hosts, "idle.example")
    await world.fetch()
    await world.frontier.push([message(3, "busy.example")])
    await world.pass_ms(60_000)
    assert await world.frontier.generations.sweep() == 0
    assert await redis_client.hkeys(hosts) == [b"busy.example"]
    assert await world.fetch() == [3]


async def test_a_slot_that_is_kept_does_not_hold_back_the_others(redis_client: Any) -> None:
    """The report of robots.txt keeps the page's slot; with a second slot the next request may follow by the delay."""
    world = await timed(redis_client)
    await world.frontier.push([message(number, delay_ms=1_000, cap=2) for number in (1, 2)])
    [lease] = await world.lease()
    await reported(world.frontier, [answer(handles([lease])[0], keep=True)])
    await world.pass_ms(1_000)
    assert await world.bodies() == [2]


@pytest.mark.parametrize(
    "value", [b"\xff" * 72, b"x" * 20, struct.pack("<9d", -5, *[0] * 8)], ids=["no numbers", "cut off", "below 0"]
)
async def test_a_damaged_memory_of_a_pace_is_set_aside(redis_client: Any, value: bytes) -> None:
    world = await timed(redis_client)
    await fill(world, delay_ms=1_000)
    await exchange(world, 429)
    await redis_client.hset(world.frontier.shards.key(0, "pace"), "a.example", value)
    for status in (200, 429, 200, 200):
        assert 1_000 <= (await exchange(world, status)).delay_ms < 10_000
    key = world.frontier.shards.key
    assert await redis_client.hgetall(key(0, "damaged")) == {f"{key(0, 'pace')} a.example".encode(): value}


@pytest.mark.parametrize("throttle", [True, False])
async def test_a_first_refusal_at_the_configured_delay_is_no_limit_either(redis_client: Any, throttle: bool) -> None:
    world = await timed(redis_client, throttle=throttle, throttle_start_ms=100)
    await fill(world, delay_ms=100)
    rests = [(await exchange(world, 429)).waits_ms for _ in range(10)]
    assert max(rests) < 200, "it is tried again soon: another fleet may leave gaps"
    assert (await exchange(world, 200)).delay_ms >= 1_000, "and the first one tells its turn"


@pytest.mark.parametrize(
    ("floor", "retry_after_ms", "least"), [(10, 0, 10), (100, 0, 100), (500, 0, 500), (10, 5_000, 5_000)]
)
async def test_where_turns_are_taken_a_refused_request_is_tried_again_soon(
    redis_client: Any, floor: int, retry_after_ms: int, least: int
) -> None:
    """Within the delay that was learned, but neither within the configured one nor before Retry-After."""
    world = await timed(redis_client, throttle=True, throttle_start_ms=2_000)
    await fill(world, delay_ms=floor)
    await exchange(world, 200)
    learned = await exchange(world, 429)
    assert learned.delay_ms > 1_000
    again = await exchange(world, 429, retry_after_ms=retry_after_ms)
    assert least <= again.waits_ms < (retry_after_ms or learned.delay_ms) * 1.2
    served = await exchange(world, 200)
    assert served.waits_ms > 0.8 * served.delay_ms, "once it is served the delay counts again"


async def test_where_the_rests_are_long_two_refusals_soon_after_each_other_tell_of_another_fleet(
    redis_client: Any,
) -> None:
    world = await timed(redis_client, throttle=True, throttle_start_ms=1_000)
    await fill(world, delay_ms=500)
    await exchange(world, 200)
    await exchange(world, 429, retry_after_ms=1_000)
    alone = await exchange(world, 200)
    while alone.delay_ms > 1_600:
        alone = await exchange(world, 200)
    for _ in range(2):
        learned = await exchange(world, 429, retry_after_ms=1_000)
        assert learned.waits_ms >= 1_000
        await exchange(world, 200)
    shared = await state_of(world)
    assert shared.delay_ms > 1.6 * alone.delay_ms
    for _ in range(2):
        await exchange(world, 429, retry_after_ms=1_000)
    assert (await exchange(world, 200)).delay_ms < 0.7 * shared.delay_ms, "its turn is lost: it looks for another"


async def test_while_a_turn_is_looked_for_in_long_rests_they_grow_in_the_end(redis_client: Any) -> None:
    world = await timed(redis_client, throttle=True, throttle_start_ms=2_000)
    await fill(world, 90, delay_ms=500)
    await exchange(world, 200)
    rests = [(await exchange(world, 429, retry_after_ms=1_000)).waits_ms for _ in range(72)]
    assert rests[2] < 1_500
    assert rests[1:] == sorted(rests[1:])
    assert rests[-1] > 60_000


async def test_what_an_older_release_stored_of_a_host_is_read(redis_client: Any) -> None:
    """Its record had the same form; for a host that had pushed back it only had the delay."""
    world = await timed(redis_client)
    await fill(world, delay_ms=1_000)
    await exchange(world, 200)
    await exchange(world, 429)
    await redis_client.delete(world.frontier.shards.key(0, "pace"))
    assert (await state_of(world)).delay_ms == 1_176
    assert (await exchange(world, 429)).delay_ms == 2_353, "as at a host that nothing is known of"
    assert (await exchange(world, 200)).success is not None
