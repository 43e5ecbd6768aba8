"""A value of ours of which a part is no longer as it was written costs only itself, too."""

from __future__ import annotations

import math
import struct
from collections.abc import Awaitable, Callable
from typing import Any

import msgpack
import pytest

from crawler.frontier.frontier import Frontier
from crawler.frontier.joining import join
from crawler.frontier.run_record import RunCounts
from crawler.frontier.runs import control
from crawler.frontier.runs.control import Target
from crawler.frontier.runs.run_events import RunEvents
from crawler.frontier.state.budgets import Terms
from crawler.frontier.state.dead_letters import DAMAGED
from crawler.frontier.state.seeds import Kind, Seeds
from tests.integration.frontier.making import acked, answer, handles, message, reported, sent, timed

pytestmark = pytest.mark.one_server("each shard looks at its own")
BAD = "bad.example"
GOOD = ("0.example",)


NOISE = (b"noise", b"", b"\x7f\xf8" + bytes(40))  # the last: a score that is no number


@pytest.mark.parametrize("noise", NOISE, ids=["short", "empty", "nan"])
async def test_noise_at_the_head_of_a_queue_stops_no_retry_of_its_host(redis_client: Any, noise: bytes) -> None:
    """All of the shard stood still: what was due could not be queued beside it."""
    world = await timed(redis_client, lease_ms=60_000)
    frontier = world.frontier
    await frontier.push([message(number, BAD) for number in (1, 2)])
    for at_once in (False, True):
        [lease] = await world.lease(1)
        await reported(frontier, [answer((lease.id, lease.token), 500)])
        if not at_once:
            await frontier.nack(lease.id, lease.token, delay_ms=5_000)
    await redis_client.lpush(frontier.shards.key(0, f"q:s:{BAD}"), noise)
    await frontier.nack(lease.id, lease.token, delay_ms=0)
    await frontier.push([message(3, GOOD[0])])
    await world.pass_ms(6_000)
    done: list[int] = []
    for _ in range(3):
        done += await world.fetch()
        await world.pass_ms(1_000)
    assert sorted(done) == [1, 2, 3]


@pytest.mark.parametrize("noise", NOISE, ids=["short", "empty", "nan"])
@pytest.mark.parametrize("priorities", [(0, 0), (0, 5)], ids=["in order", "ahead"])
async def test_noise_in_a_queue_stops_no_operator(redis_client: Any, noise: bytes, priorities: tuple[int, int]) -> None:
    world = await timed(redis_client)
    frontier = world.frontier
    await frontier.push([message(number, BAD, priority=priority) for number, priority in enumerate(priorities)])
    await redis_client.rpush(frontier.shards.key(0, f"q:s:{BAD}"), noise)
    await redis_client.zadd(frontier.shards.key(0, f"early:s:{BAD}"), {noise: 1})
    await frontier.control.sift(Target("s"), "count")
    assert await frontier.control.sift(Target("s"), "priority", "7") == 2
    assert sorted(await world.bodies(1)) == [0]
    assert await frontier.control.sift(Target("s"), "drop", "test") == 1
    assert await redis_client.keys("*:q:*") == await redis_client.keys("*:early:*") == []


async def test_an_operator_misses_no_request_behind_noise(redis_client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was set aside left the queue, and as many requests behind it were passed over."""
    monkeypatch.setattr(control, "SLICE", 4)
    world = await timed(redis_client)
    frontier = world.frontier
    await frontier.push([message(number, BAD, priority=number) for number in range(10)])
    await redis_client.zadd(frontier.shards.key(0, f"early:s:{BAD}"), dict.fromkeys(NOISE, 1))
    assert await frontier.control.sift(Target("s"), "drop", "test") == 10
    assert await redis_client.keys("*:q:*") == await redis_client.keys("*:early:*") == []


async def test_a_lease_whose_place_in_the_queue_is_no_number_goes_back(redis_client: Any) -> None:
    world = await timed(redis_client, lease_ms=60_000)
    frontier = world.frontier
    await frontier.push([message(1, BAD), message(2, GOOD[0])])
    await world.lease()
    key = frontier.shards.key(0, "infl")
    record = await redis_client.hget(key, "1")
    await redis_client.hset(key, "1", record[:8] + struct.pack("<d", math.nan) + record[16:])
    await world.pass_ms(60_000)
    assert sorted(await world.fetch()) == [1, 2]


@pytest.mark.parametrize("value", [math.nan, math.inf, 1e300], ids=str)
@pytest.mark.parametrize("field", range(9))
async def test_a_host_with_one_number_that_is_none_is_visited(redis_client: Any, field: int, value: float) -> None:
    """One that waited until a pause without an end was never visited again."""
    world = await timed(redis_client, lease_ms=60_000)
    frontier = world.frontier
    await frontier.push([message(1, BAD), message(2, BAD), message(3, GOOD[0])])
    assert sorted(await world.fetch()) == [1, 3]
    key = frontier.shards.key(0, "hosts")
    record = await redis_client.hget(key, BAD)
    await redis_client.hset(key, BAD, record[: 8 * field] + struct.pack("<d", value) + record[8 * field + 8 :])
    await frontier.push([message(4, GOOD[0])])
    done: list[int] = []
    for _ in range(3):
        done += await world.fetch()
        await world.pass_ms(1_000)
    assert sorted(done) == [2, 4]


async def test_a_host_without_work_is_looked_at_once(redis_client: Any) -> None:
    """Workers asked for it each second, for good."""
    world = await timed(redis_client)
    await world.frontier.push([message(1)])
    await redis_client.zadd(world.frontier.shards.key(0, "due:s"), {"ghost.example": 1})
    assert await world.fetch() == [1]
    batch = await world.frontier.lease(["s"], 1, worker="w")
    assert (batch.leases, batch.next_due_ms) == ([], None)


async def test_noise_in_the_queues_of_a_dead_host_hides_no_request_of_another(redis_client: Any) -> None:
    """It was taken off the number of those ahead of their queues, and of suspects, without having been counted."""
    world = await timed(redis_client, give_up_ms=200, breaker_faults=1, breaker_ms=100)
    frontier = world.frontier
    await frontier.push([message(1, BAD), *(message(2 + n, GOOD[0], priority=n) for n in range(2))])
    for _ in range(2):
        [lease] = await world.lease(1, exclude_hosts=GOOD)
        await reported(frontier, [answer((lease.id, lease.token), 0, fault=True)])
        await frontier.give_back(handles([lease]))
        assert (await frontier.breakers.host_down(BAD))[1] == 0
        await world.pass_ms(110)
    await redis_client.zadd(frontier.shards.key(0, f"early:s:{BAD}"), {b"noise": 1, b"more": 2})
    await redis_client.lpush(frontier.shards.key(0, f"q:s:{BAD}"), b"noise")
    assert (await frontier.breakers.host_down(BAD))[1] == 1
    assert [*await world.fetch(1), *await world.fetch(1)] == [3, 2]


async def test_leases_whose_expiry_was_lost_are_renewed_while_storage_is_down(redis_client: Any) -> None:
    world = await timed(redis_client, lease_ms=60_000)
    await world.frontier.push([message(1)])
    leased = handles(await world.lease())
    await sent(world.frontier, leased)
    await redis_client.delete(world.frontier.shards.key(0, "lease"))
    assert await world.frontier.renew(leased, suspended=True) == [True]
    assert await redis_client.zcard(world.frontier.shards.key(0, "lease")) == 1


@pytest.mark.parametrize("kind", ["list", "set", "zset"])
@pytest.mark.parametrize("noise", [b"noise", b"claim 1 high http://a.example/"], ids=["word", "score"])
async def test_what_is_no_lease_of_a_seed_is_read_as_one(redis_client: Any, kind: Kind, noise: bytes) -> None:
    """It stopped all start URLs of the spider; whoever reads it refuses it."""
    seeds = Seeds(redis_client, "s:start_urls", kind)
    await redis_client.zadd("{s:start_urls}:leases", {noise: 1})
    assert [seed.raw for seed in await seeds.lease(5)] == [noise if noise == b"noise" else b"http://a.example/"]


async def test_a_jar_of_another_type_begins_anew(redis_client: Any) -> None:
    world = await timed(redis_client)
    key = world.frontier.shards.key(0, "cookies:a.example/x")
    await redis_client.set(key, "noise")
    merged = ("a.example/x", 60_000, 150, 0, "sid", "1")
    assert await world.frontier.shards.run("cookies", 0, *merged) == [0, [b"sid", b"1"]]
    assert key.encode() in await redis_client.hkeys(world.frontier.shards.key(0, "damaged"))


async def test_a_pass_over_windows_that_is_nowhere_begins_anew(redis_client: Any) -> None:
    world = await timed(redis_client, dedupe="window", window_s=100)
    await world.frontier.push([message(1)])
    await world.fetch()
    await redis_client.hset(world.frontier.shards.key(0, "gen:s:0"), mapping={"swept": "x", "swept_at": "y"})
    await world.pass_ms(101_000)
    await world.frontier.generations.tidy()
    assert (await world.frontier.inspection.stats()).total.seen == 0


LETTER = {"stream": "s", "host": BAD, "envelope": bytes(13), "generation": "0", "status": 0}
PARTS = {
    "no generation": {name: value for name, value in LETTER.items() if name != "generation"},
    "no status": LETTER | {"status": "x"},
    "no envelope": LETTER | {"envelope": 5},
    "no other generation": LETTER | {"shares": {}},
}


async def evicted(frontier: Frontier, _: str) -> None:
    await frontier.push([message(1, BAD)])
    [lease] = (await frontier.lease(["s"], 1, worker="w")).leases
    await frontier.bury(lease.id, lease.token, reason="test")


async def tried_again(frontier: Frontier, _: str) -> None:
    """The page of such a letter is done."""
    await frontier.client.hset(frontier.shards.key(0, "dead:again"), b"s:" + bytes(7) + b"\x01", "7")
    await frontier.push([message(1, BAD)])
    await frontier.generations.sweep()
    [lease] = (await frontier.lease(["s"], 1, worker="w")).leases
    assert await acked(frontier, handles([lease])) == [True]


ABOUT: dict[str, Callable[[Frontier, str], Awaitable[Any]]] = {
    "dropped": lambda frontier, letter: frontier.dead.drop([letter]),
    "retried": lambda frontier, letter: frontier.dead.retry([letter]),
    "retried elsewhere": lambda frontier, letter: frontier.dead.retry([letter], generation="20260101000001"),
    "evicted": evicted,
    "tried again": tried_again,
}


@pytest.mark.parametrize("about", list(ABOUT))
@pytest.mark.parametrize("part", list(PARTS))
async def test_a_letter_that_lacks_a_part_stops_no_other(redis_client: Any, part: str, about: str) -> None:
    world = await timed(redis_client, dead_limit=1)
    frontier = world.frontier
    await frontier.push([message(9, GOOD[0])])
    await world.fetch()
    key = frontier.shards.key
    await redis_client.hset(key(0, "dead"), "7", msgpack.packb(PARTS[part], use_bin_type=False))
    await redis_client.zadd(key(0, "dead:at"), {"7": 1})
    await redis_client.hset(key(0, "dead:fp"), b"s:" + bytes(8), 1)
    await frontier.generations.tidy()  # which indexes letters of older releases
    await ABOUT[about](frontier, "0:7")
    assert not await redis_client.hexists(key(0, "dead"), "7")


async def test_a_letter_without_a_time_is_listed(redis_client: Any) -> None:
    world = await timed(redis_client)
    await evicted(world.frontier, "")
    key = world.frontier.shards.key(0, "dead")
    [(number, raw)] = (await redis_client.hgetall(key)).items()
    await redis_client.hset(key, number, msgpack.packb(msgpack.unpackb(raw, raw=True) | {b"at": b"x"}))
    assert [letter.reason for letter in await world.frontier.dead.find()] == [DAMAGED]


@pytest.mark.parametrize(
    "noise",
    [b"noise", b"\x80more", b"\x80\xc0", b"\x90", b"\x91\xa1a", b"\x81\x01\x02", b"\x81\xa1a\x80", b""],
    ids=["a number", "more behind", "nothing behind", "empty list", "list", "numbers", "maps", "empty"],
)
async def test_a_worker_joins_a_crawl_whose_arguments_were_lost(redis_client: Any, noise: bytes) -> None:
    world = await timed(redis_client)
    frontier = world.frontier
    await frontier.push([message(1)])
    key = frontier.shards.key(0, "arguments")
    await redis_client.hset(key, "s", noise)
    given = {"tag": "1"}
    joined = await join(
        frontier.shards, frontier.inspection, spider="s", worker="w", endless=False, arguments=given, project="p"
    )
    assert not joined.opened
    assert msgpack.unpackb(await redis_client.hget(key, "s")) == given
    assert await redis_client.hkeys(frontier.shards.key(0, "damaged")) == [f"{key} s".encode()]


async def test_a_run_that_was_opened_at_no_time_is_passed_over(redis_client: Any) -> None:
    world = await timed(redis_client)
    runs, key = world.frontier.runs, world.frontier.shards.key(0, "runs")
    odd, whole = await runs.open("s"), await runs.open("s")
    record = msgpack.unpackb(await redis_client.hget(key, odd.id))
    await redis_client.hset(key, odd.id, msgpack.packb(record | {"opened": math.inf}, use_bin_type=False))
    await redis_client.hset(
        world.frontier.shards.key(0, "runs:until"),
        "s",
        msgpack.packb({"generation": "0", "counts": {"accepted": math.inf}}, use_bin_type=False),
    )
    assert await runs.settle() == []
    assert [run.id for run in await runs.find()] == [whole.id]
    assert whole.counts == RunCounts()


async def test_an_event_that_is_none_keeps_no_other_from_being_told(redis_client: Any) -> None:
    world = await timed(redis_client)
    told, key = RunEvents(world.frontier.shards), world.frontier.shards.key(0, "runs:events")
    await told.open()
    first = await world.frontier.runs.open("s")
    [(_, fields)] = await redis_client.xrange(key)
    record = {b"record": fields[b"record"]}
    for odd in (record, record | {b"event": b""}, record | {b"event": b"\xff"}, {b"event": b"start"}, {b"a": b"b"}):
        await redis_client.xadd(key, odd)
    second = await world.frontier.runs.open("s")
    heard = [(one.event, one.run.id) for _ in range(2) for one in await told.due("w", lambda _: 0)]
    assert heard == [("start", run.id) for run in (first, second)] * 2  # nobody has said that they are done


async def test_what_is_no_share_is_dealt_anew(redis_client: Any) -> None:
    world = await timed(redis_client, shards=2)
    frontier = world.frontier
    terms = [Terms("s:s", (1, 10**14), requests=10)]
    await frontier.budgets.state(terms)
    await redis_client.hset(frontier.shards.key(0, "dealt:1"), "s:s", msgpack.packb([["x"] * 8, [None] * 8]))
    await frontier.shares.begin(terms)
    dealt = msgpack.unpackb(await redis_client.hget(frontier.shards.key(0, "dealt:1"), "s:s"))
    assert [part[0] for part in dealt] == [5, 5]


async def test_a_name_in_the_line_of_an_address_that_is_no_text_is_shown_all_the_same(redis_client: Any) -> None:
    world = await timed(redis_client)
    await world.frontier.push([message(1)])
    await redis_client.zadd(world.frontier.shards.key(0, "wait:s"), {"ip:192.0.2.1": world.now + 1})
    await redis_client.zadd(world.frontier.shards.key(0, "line:s::ip:192.0.2.1"), {b"\xff": 1})
    assert {host.host for host in await world.frontier.inspection.hosts("s")} == {"a.example", "\ufffd"}
