"""The dead-letter queue: kept with its reason, listed, retried, dropped, bounded."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from crawler.frontier.messages import DeadLetter, PushOutcome
from crawler.frontier.server.shards import pack
from tests.integration.frontier.making import START_MS, Timed, acked, answer, handles, message, reported, sent, timed


async def bury(
    world: Timed,
    number: int,
    host: str = "a.example",
    stream: str = "s",
    reason: str = "error",
    generation: str = "3",
) -> str:
    """Push, lease, answer with a 500 and bury request *number*; returns its id."""
    await world.frontier.push([message(number, host, stream, generation=generation)])
    [lease] = await world.lease(streams=[stream])
    await world.frontier.start(handles([lease]))
    await reported(world.frontier, [answer(handles([lease])[0], 500)])
    assert await world.frontier.bury(
        lease.id, lease.token, reason=reason, detail={"url": f"http://{host}/", "tries": 2}
    )
    return lease.id


async def test_a_letter_tells_all_that_is_known(redis_client: Any) -> None:
    world = await timed(redis_client)
    letter_id = await bury(world, 7)
    expected = DeadLetter(
        id=letter_id,
        spider="s",
        host="a.example",
        reason="error",
        at_ms=START_MS,
        deliveries=1,
        status=500,
        worker="w",
        body=b"7",
        fingerprint=7,
        generation="3",
        detail={"url": "http://a.example/", "tries": 2},
    )
    assert await world.frontier.dead.show(letter_id) == expected
    assert await world.frontier.dead.find() == [expected]
    assert await world.frontier.dead.show("0:99") is None


async def test_letters_are_found_by_spider_host_and_reason_newest_first(redis_client: Any) -> None:
    world = await timed(redis_client)
    for number, (host, stream, reason) in enumerate(
        [("a.example", "s", "x"), ("b.example", "s", "y"), ("a.example", "t", "x"), ("a.example", "s:browser", "y")]
    ):
        await bury(world, number, host, stream, reason)
        await world.pass_ms(1)
    dead = world.frontier.dead
    assert [letter.fingerprint for letter in await dead.find()] == [3, 2, 1, 0]
    assert [letter.fingerprint for letter in await dead.find("s")] == [3, 1, 0]
    assert [letter.fingerprint for letter in await dead.find(host="a.example", reason="x")] == [2, 0]
    assert [letter.fingerprint for letter in await dead.find(limit=2)] == [3, 2]
    assert await dead.count() == 4


async def test_a_retried_letter_starts_afresh_and_is_no_longer_dead(redis_client: Any) -> None:
    world = await timed(redis_client)
    letter_id = await bury(world, 1)
    assert await world.frontier.dead.retry([letter_id, letter_id, "0:99"]) == [True, False, False]
    assert await world.frontier.push([message(1, generation="3")]) == [PushOutcome.DUPLICATE]
    [lease] = await world.lease()
    assert (lease.id, lease.deliveries, lease.generation) == (letter_id, 0, "3")
    assert await world.frontier.dead.count() == 0


async def test_dead_is_dead_in_its_generation_only(redis_client: Any) -> None:
    world = await timed(redis_client)
    await bury(world, 1)
    assert await world.frontier.push([message(1, generation="3")]) == [PushOutcome.DUPLICATE_DEAD]
    assert await world.frontier.push([message(1, generation="4")]) == [PushOutcome.ACCEPTED]
    assert await world.frontier.push([message(1, stream="t")]) == [PushOutcome.ACCEPTED], "for its own spider only"


async def test_two_dead_copies_are_forgotten_with_the_second(redis_client: Any) -> None:
    world = await timed(redis_client)
    await world.frontier.push([message(1, cap=2), message(1, cap=2, dedupe=False)])
    for lease in await world.lease():
        await world.frontier.bury(lease.id, lease.token, reason="test")
    first, second = await world.frontier.dead.find()
    await world.frontier.dead.drop([first.id])
    assert await world.frontier.push([message(1)]) == [PushOutcome.DUPLICATE_DEAD]
    await world.frontier.dead.drop([second.id])
    assert await world.frontier.push([message(1)]) == [PushOutcome.ACCEPTED]


async def test_the_oldest_letter_makes_room_and_is_counted_and_forgotten(redis_client: Any) -> None:
    world = await timed(redis_client, dead_limit=2)
    for number in range(3):
        await bury(world, number)
        await world.pass_ms(1)
    dead = world.frontier.dead
    assert [letter.fingerprint for letter in await dead.find()] == [2, 1]
    assert (await dead.count(), await dead.evicted()) == (2, 1)
    assert await world.frontier.push([message(0, generation="3")]) == [PushOutcome.ACCEPTED]
    total = (await world.frontier.inspection.stats()).total
    assert (total.accepted, total.dead, total.dropped, total.queued) == (4, 2, 1, 1)


@pytest.mark.parametrize("kind", ["dead", "gone"])
@pytest.mark.one_server("each shard evicts its own")
async def test_fewer_letters_are_kept_in_the_end_than_before(redis_client: Any, kind: str) -> None:
    """As many stayed for good as there were when the limit was lowered."""

    async def add(world: Timed, number: int) -> None:
        await (bury(world, number, f"{number}.example") if kind == "dead" else end_gone(world, number))

    world = await timed(redis_client)
    for number in range(30):
        await add(world, number)
    world = await timed(redis_client, dead_limit=5, gone_limit=5)
    box, left = getattr(world.frontier, kind), []
    for number in range(30, 35):
        await add(world, number)
        left.append(await box.count())
    assert left == [23, 16, 9, 5, 5]
    assert await box.evicted() == (30 if kind == "dead" else 0)
    assert (await world.frontier.inspection.stats()).total.dead == (5 if kind == "dead" else 0)


async def test_letters_are_told_by_reason_beyond_the_end_of_their_run(redis_client: Any) -> None:
    """They became "other" in the metric of the fleet."""
    world = await timed(redis_client)
    runs = world.frontier.runs
    run = await runs.open("s")
    letters = [await bury(world, number, generation=run.generation) for number in range(2)]
    await runs.seal(run.id)
    await runs.settle()
    await world.frontier.generations.tidy()
    stats = await world.frontier.inspection.stats()
    assert ("s", run.generation) not in stats.generations
    assert (stats.total.dead, stats.dead_by) == (2, {"error": 2})
    await world.frontier.dead.drop(letters[:1])
    await world.frontier.dead.retry(letters[1:], generation="9")
    stats = await world.frontier.inspection.stats()
    assert (stats.total.dead, stats.dead_by["error"]) == (0, 0)


async def test_a_bad_seed_is_kept_as_it_came(redis_client: Any) -> None:
    world = await timed(redis_client)
    await world.frontier.dead.bury_seed(b"{bad\xff", spider="s", reason="not JSON", detail={"line": 1})
    [letter] = await world.frontier.dead.find("s", reason="not JSON")
    assert (letter.body, letter.host, letter.detail) == (b"{bad\xff", "", {"line": 1})
    assert await world.frontier.dead.retry([letter.id]) == [False], "it is no request"
    assert await world.frontier.dead.drop([letter.id]) == [True]
    assert (await world.frontier.inspection.stats()).total.accepted == 0


async def test_a_letter_tells_why_its_request_was_last_put_back(redis_client: Any) -> None:
    world = await timed(redis_client)
    await world.frontier.push([message(1), message(2, "b.example")])
    for reason in ("http_503", "timeout", ""):
        for lease in await world.lease():
            assert await world.frontier.nack(lease.id, lease.token, delay_ms=0, reason=reason)
    first, second = await world.lease()
    assert await redis_client.hvals(world.frontier.shards.key(0, "why")) == [b"timeout"] * 2
    await world.frontier.bury(first.id, first.token, reason="test")
    [letter] = await world.frontier.dead.find("s")
    assert letter.nacked == "timeout"
    await acked(world.frontier, handles([second]))
    assert not await redis_client.exists(world.frontier.shards.key(0, "why")), "nothing is left of what has ended"


async def end_gone(world: Timed, number: int) -> str:
    await world.frontier.push([message(number, "a.example", "s", generation="3")])
    [lease] = await world.lease(streams=["s"])
    detail = {"url": f"http://a.example/{number}"}
    assert await world.frontier.end_gone(lease.id, lease.token, reason="http_404", detail=detail)
    assert not await world.frontier.end_gone(lease.id, lease.token, reason="http_404", detail=detail)
    await world.pass_ms(1)
    return lease.id


async def test_pages_that_are_gone_are_done_and_kept_apart(redis_client: Any) -> None:
    world = await timed(redis_client, gone_limit=2)
    ids = [await end_gone(world, number) for number in range(3)]
    gone, dead = world.frontier.gone, world.frontier.dead
    assert [letter.detail["url"] for letter in await gone.find("s")] == ["http://a.example/2", "http://a.example/1"]
    assert (await dead.count(), await dead.evicted(), await dead.find()) == (0, 0, [])
    total = (await world.frontier.inspection.stats()).total
    assert (total.done, total.dead, total.accepted) == (3, 0, 3)
    known = await world.frontier.push([message(number, "a.example", "s", generation="3") for number in range(3)])
    assert set(known) == {PushOutcome.DUPLICATE}
    assert await gone.retry(ids) == [False, True, True]
    assert await gone.count() == 0
    total = (await world.frontier.inspection.stats()).total
    assert (total.done, total.queued, total.accepted) == (3, 2, 5)
    assert sorted(lease.fingerprint for lease in await world.lease(streams=["s"])) == [1]


async def test_what_is_gone_and_dropped_is_forgotten(redis_client: Any) -> None:
    world = await timed(redis_client)
    letter_id = await end_gone(world, 1)
    assert await world.frontier.gone.drop([letter_id]) == [True]
    assert await world.frontier.push([message(1, "a.example", "s", generation="3")]) == [PushOutcome.ACCEPTED]


async def trip(world: Timed, host: str = "a.example") -> tuple[int, int]:
    """Its breaker opens, and a worker reports it."""
    [lease] = await world.lease(1)
    await sent(world.frontier, handles([lease]))
    await reported(world.frontier, [answer(handles([lease])[0], 0, fault=True)])
    await world.frontier.give_back(handles([lease]))
    return await world.frontier.breakers.host_down(host, most=2)


async def test_what_waits_for_a_host_that_is_down_is_given_up_after_a_term(redis_client: Any) -> None:
    world = await timed(redis_client, give_up_ms=1_000, breaker_faults=1, breaker_ms=100, breaker_max_ms=100)
    pages = [message(number, "a.example", "s", generation="3") for number in range(5)]
    await world.frontier.push([replace(one, body=pack({"u": f"https://a.example/{one.fingerprint}"})) for one in pages])
    assert await world.frontier.breakers.host_down("a.example", most=2) == (0, 0), "its breaker is closed"
    assert await trip(world, "a.example") == (0, 0)
    await world.pass_ms(500)
    assert await trip(world, "a.example") == (500, 0)
    await world.pass_ms(500)
    first, rest = [await world.frontier.breakers.host_down("a.example", most=most) for most in (2, 1_000)]
    assert (first[0], first[1] + rest[1]) == (1_000, 5)
    assert 2 <= first[1] <= 4, "of each queue"
    total = (await world.frontier.inspection.stats()).total
    assert (total.queued, total.dead) == (0, 5)
    letters = await world.frontier.dead.find(reason="host_down")
    assert sorted(letter.fingerprint for letter in letters) == list(range(5))
    assert [letter.detail["url"] for letter in letters] == [f"https://a.example/{one.fingerprint}" for one in letters]
    assert {letter.detail["error"] for letter in letters} == {"a.example has not worked for 1 s"}
    assert await world.frontier.inspection.empty("s")
    assert await world.frontier.dead.retry([letter.id for letter in letters]) == [True] * 5
    assert await world.frontier.breakers.host_down("a.example") == (0, 0)  # a new term
    assert (await world.frontier.inspection.stats()).total.queued == 5
    await world.pass_ms(100)
    assert len(await world.lease(streams=["s"])) == 1


async def test_a_probe_of_a_host_that_was_given_up_is_given_up_too(redis_client: Any) -> None:
    world = await timed(redis_client, give_up_ms=1_000, breaker_faults=1, breaker_ms=100, breaker_max_ms=100)
    await world.frontier.push([message(1), message(2)])
    assert await trip(world) == (0, 0)
    for waited in (500, 1_000):
        await world.pass_ms(500)
        [lease] = await world.lease(1)
        await sent(world.frontier, handles([lease]))
        await reported(world.frontier, [answer(handles([lease])[0], 0, fault=True)])
        assert await world.frontier.breakers.host_down("a.example") == (waited, waited // 1_000)
        assert await world.frontier.nack(lease.id, lease.token, delay_ms=0, reason="retry") == 1 + waited // 1_000
    [first, second] = await world.frontier.dead.find(reason="host_down")
    assert {first.body, second.body} == {b"1", b"2"}
    assert {first.nacked, second.nacked} <= {"retry", ""}
    assert await world.frontier.inspection.empty("s")


async def test_a_breaker_that_closed_unnoticed_begins_a_new_term(redis_client: Any) -> None:
    """Its worker died before it said so."""
    world = await timed(redis_client, give_up_ms=1_000, breaker_faults=1, breaker_ms=100, breaker_max_ms=100)
    await world.frontier.push([message(number) for number in range(4)])
    assert await trip(world) == (0, 0)
    await world.pass_ms(500)
    assert await world.fetch(1) == [0]  # it answers
    await world.pass_ms(1_000)
    assert await trip(world) == (0, 0)
    assert (await world.frontier.inspection.stats()).total.dead == 0


async def test_a_bad_start_url_that_comes_again_counts_once_per_run(redis_client: Any) -> None:
    """As its worker was killed between the letter and the acknowledgement."""
    world = await timed(redis_client)
    dead = world.frontier.dead

    async def bury(raw: bytes = b"{bad") -> bool:
        return await dead.bury_seed(raw, spider="s", reason="bad_seed", generation="0")

    assert [await bury(), await bury(), await bury(b"{worse")] == [True, False, True]
    counts = (await world.frontier.inspection.stats("s")).total
    assert (counts.accepted, counts.dead) == (2, 2)
    letters = await dead.find("s")
    assert len(letters) == 2
    assert await dead.drop([one.id for one in letters if one.body == b"{bad"]) == [True]
    assert await bury(), "nobody knows it any more"
    await world.pass_ms(1_000)
    await world.frontier.shards.run_all("run_since", "s", "0")
    await world.pass_ms(1_000)
    assert [await bury(), await bury()] == [True, False], "the next run tells of it again"


@pytest.mark.one_server("one key of shard 0")
async def test_a_huge_start_url_is_kept_in_part(redis_client: Any) -> None:
    """Ten thousand of them would fill Redis."""
    world = await timed(redis_client)
    for size in (65_536, 5_000_000):
        assert await world.frontier.dead.bury_seed(b"x" * size, spider="s", reason="bad_seed", generation="0")
    bodies = sorted((letter.body for letter in await world.frontier.dead.find()), key=len)
    assert bodies == [b"x" * 65_536, b"x" * 65_536 + b"... (5,000,000 bytes)"]


async def test_letters_whose_counters_were_destroyed_leave_none_below_0(redis_client: Any) -> None:
    world = await timed(redis_client)
    dead = world.frontier.dead
    letters = [await bury(world, number) for number in range(3)]
    shard = world.frontier.shards.of_host("a.example")
    await redis_client.delete(world.frontier.shards.key(shard, "gen:s:3"))
    assert await dead.retry(letters[:1]) == [True]
    assert await dead.retry(letters[1:2], generation="4") == [True]
    assert await dead.drop(letters[2:]) == [True]
    stats = await world.frontier.inspection.stats()
    for one in stats.generations.values():
        assert all(getattr(one, name) >= 0 for name in one.__slots__), one
        assert one.accepted == one.queued + one.leased + one.delayed + one.dead + one.done + one.dropped
    assert (stats.total.dead, stats.dead_by.get("error", 0)) == (0, 0)
