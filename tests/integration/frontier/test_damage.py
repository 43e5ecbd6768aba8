"""A foreign value in Redis costs only itself: work goes on, and the log names the key."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import msgpack
import pytest

from crawler.frontier.frontier import Frontier
from crawler.frontier.inspection.eligible import by_queue
from crawler.frontier.messages import Lease
from crawler.frontier.state.robots import CachedRobots
from crawler.frontier.state.statement import Statement
from crawler.frontier.state.tiers import Tiers
from crawler.policy.pace import Pace
from tests.integration.frontier.making import Timed, acked, answer, asks_for, handles, message, sent, timed

BAD = "bad.example"
GOOD = tuple(f"{number}.example" for number in range(6))
Harm = Callable[[Any, str], Awaitable[Any]]


def written(field: str, value: bytes | str) -> Harm:
    """Another value in a field of a hash, of all that are there."""

    async def harm(client: Any, key: str) -> None:
        for name in [field] if field else await client.hkeys(key):
            await client.hset(key, name, value)

    return harm


def replaced(value: str = "garbage") -> Harm:
    async def harm(client: Any, key: str) -> None:
        await client.delete(key)
        await client.set(key, value)

    return harm


async def pushed(client: Any, key: str) -> None:
    await client.lpush(key, b"garbage")
    await client.rpush(key, b"more")


async def relisted(client: Any, key: str) -> None:
    await client.delete(key)
    await pushed(client, key)


async def entered(client: Any, key: str) -> None:
    await client.sadd(key, b"x", b"", b"a:b:c:1", b"\xc3:0")


async def scheduled(client: Any, key: str) -> None:
    await client.zadd(key, {b"garbage": 1, bytes(40): 2})


async def expired(client: Any, key: str) -> None:
    await client.zadd(key, {"999": 1})


DAMAGES = {
    "hosts, another type": ("hosts", replaced()),
    "hosts, truncated": ("hosts", written(BAD, b"x" * 20)),
    "hosts, too long": ("hosts", written(BAD, b"9" * 5_000)),
    "hosts, noise": ("hosts", written(BAD, b"\xff" * 93)),
    "state, noise": ("state", replaced("x" * 112)),
    "state, truncated": ("state", replaced("x")),
    "state, another type": ("state", relisted),
    "records, another type": ("infl", replaced()),
    "records, truncated": ("infl", written("", b"x")),
    "records, too long": ("infl", written("", b"9" * 5_000)),
    "records, noise": ("infl", written("", b"\xff" * 80)),
    "bodies, another type": ("body", replaced()),
    "leases, another type": ("lease", replaced()),
    "leases without records": ("lease", expired),
    "a queue, another type": (f"q:s:{BAD}", replaced()),
    "a queue, noise": (f"q:s:{BAD}", pushed),
    "hosts that are due, another type": ("due:s", replaced()),
    "delayed, noise": ("delayed", scheduled),
    "delayed, another type": ("delayed", replaced()),
    "counters, no numbers": ("gen:s:0", written("queued", "many")),
    "buckets, no number": ("gen:s:0", written("buckets", "many")),
    "buckets without end": ("gen:s:0", written("buckets", "1e400")),
    "fingerprints, no number": ("gen:s:0", written("seen", "nan")),
    "counters, empty": ("gen:s:0", written("queued", "")),
    "counters, beyond numbers": ("gen:s:0", written("queued", "9" * 30)),
    "generations, another type": ("gens", replaced()),
    "generations, noise": ("gens", entered),
    "fingerprints to be dropped, noise": ("drop", written("7", "1e400")),
    "dead letters, another type": ("dead", replaced()),
    "fingerprints, another type": ("seen:1:0", replaced()),
    "rules, another type": ("rules", replaced()),
    "idle hosts, another type": ("idle", replaced()),
}


async def work(world: Timed) -> set[str]:
    """A worker at work for some minutes: whose requests it finished."""
    done: set[str] = set()
    frontier = world.frontier
    for _ in range(8):
        await frontier.rules.state()
        await frontier.workers.heartbeat("w", {})
        leases = await world.lease(suspects_ok=True)
        await sent(frontier, handles(leases))
        await frontier.renew(handles(leases))
        reports = [answer(handle) for handle in handles(leases)]
        settled = await frontier.settle((), reports, handles(leases))
        done |= {lease.host for lease, ours in zip(leases, settled[2], strict=True) if ours}
        await frontier.inspection.empty("s")
        await frontier.generations.tidy()
        await world.pass_ms(25_000)
    return done


@pytest.mark.parametrize("kind", ["hosts, truncated", "a queue, another type", "counters, no numbers"])
async def test_one_damaged_value_leaves_all_others_to_be_worked_on(
    redis_client: Any, kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    await check_damaged(redis_client, kind, caplog)


@pytest.mark.one_server("scripts are the same on a Cluster, where the test above runs them")
@pytest.mark.parametrize("kind", list(DAMAGES))
async def test_a_damaged_value_costs_itself_alone_and_is_named(
    redis_client: Any, kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    await check_damaged(redis_client, kind, caplog)


async def check_damaged(redis_client: Any, kind: str, caplog: pytest.LogCaptureFixture) -> None:
    """Harm one value while requests are leased, and work on."""
    world = await timed(redis_client, lease_ms=60_000, dead_limit=1)
    frontier = world.frontier
    frontier.rules.statement = Statement("s", Pace(0, 4, 1), {})
    await frontier.rules.state()
    await frontier.push(
        [message(1, BAD), message(2, BAD), message(9, "later.example", not_before_ms=world.now + 50_000)]
    )
    await frontier.push([message(7, "dead.example")])
    for lease in await world.lease(exclude_hosts=[BAD]):
        await frontier.bury(lease.id, lease.token, reason="test")
    held = await world.lease(1)
    assert [lease.host for lease in held] == [BAD]
    place, harm = DAMAGES[kind]
    key = frontier.shards.key(0, place)
    await harm(redis_client, key)
    await frontier.bury(held[0].id, held[0].token, reason="test")
    await frontier.push([message(100 + number, host) for number, host in enumerate(GOOD)])
    with caplog.at_level(logging.ERROR):
        done = await work(world)
        await frontier.push([message(200 + number, host) for number, host in enumerate(GOOD)])
        again = await work(world)
    assert set(GOOD) <= done
    assert set(GOOD) <= again
    assert any(key in record.getMessage() for record in caplog.records), "the log names the key"


async def test_what_python_reads_may_be_damaged_too(redis_client: Any) -> None:
    world = await timed(redis_client)
    frontier = world.frontier
    await frontier.workers.heartbeat("w", {"outbox": 0})
    await redis_client.hset(frontier.shards.key(0, "workers:info"), "w", b"\xc1")
    await redis_client.hset(frontier.shards.key(0, "tiers"), "a.example", b"\xc1")
    await redis_client.zadd(frontier.shards.key(0, "tiers:at"), {"a.example": 1})
    await redis_client.hset(
        frontier.shards.key(0, "robots:http://a.example"),
        mapping={
            "verdict": "odd",
            "status": "x",
            "until": world.now + 10**9,
            "since": "x",
            "body": "no zlib",
            "sitemaps": "",
        },
    )
    tiers = Tiers(frontier.shards, keep_ms=1_000)
    assert [known.tier for known in (await tiers.changes()).values()] == ["http"]
    assert await frontier.inspection.empty()
    assert not isinstance(await frontier.robots.claim("a.example", "http://a.example", "w"), CachedRobots | None)


async def given_up(frontier: Frontier, lease: Lease) -> None:
    """As put_off, and all that was put off is recalled."""
    await frontier.put_off([(lease.id, lease.token)], delay_ms=1)
    await frontier.recall()


ENDS: dict[str, Callable[[Frontier, Lease], Awaitable[Any]]] = {
    "ack": lambda frontier, lease: acked(frontier, [(lease.id, lease.token)]),
    "give_back": lambda frontier, lease: frontier.give_back([(lease.id, lease.token)]),
    "nack": lambda frontier, lease: frontier.nack(lease.id, lease.token, delay_ms=1),
    "put_off": lambda frontier, lease: frontier.put_off([(lease.id, lease.token)], delay_ms=1),
    "put_off and recall": given_up,
    "move": lambda frontier, lease: frontier.move(lease.id, lease.token, stream="s:browser"),
    "bury": lambda frontier, lease: frontier.bury(lease.id, lease.token, reason="test"),
    "gone": lambda frontier, lease: frontier.end_gone(lease.id, lease.token, reason="http_404", detail={}),
}


@pytest.mark.parametrize(("mode", "body"), [("compact", None), ("window", b"x" * 12)], ids=["missing", "cut"])
@pytest.mark.parametrize("end", list(ENDS))
async def test_a_request_that_is_missing_stops_nobody_however_it_ends(
    redis_client: Any, end: str, body: bytes | None, mode: str
) -> None:
    world = await timed(redis_client, dedupe=mode)
    frontier = world.frontier
    await frontier.push([message(1, BAD), message(2, GOOD[0])])
    leases = await world.lease()
    [lost] = [lease for lease in leases if lease.host == BAD]
    key, field = frontier.shards.key(0, "body"), lost.id.partition(":")[2]
    await (redis_client.hdel(key, field) if body is None else redis_client.hset(key, field, body))
    await ENDS[end](frontier, lost)
    await acked(frontier, [(lease.id, lease.token) for lease in leases if lease is not lost])
    total = (await frontier.inspection.stats()).total
    assert (total.queued, total.leased, total.delayed, total.done + total.dropped) == (0, 0, 0, 2)
    assert await frontier.inspection.empty("s")
    is_noticed = end != "ack" or (mode == "window" and body is not None)
    assert await redis_client.hlen(frontier.shards.key(0, "damaged")) == is_noticed


@pytest.mark.one_server("the first shard has it all")
@pytest.mark.parametrize("place", ["wait:s", "delayed", "delayed:room", "lease"])
async def test_what_waits_for_a_time_that_never_comes_is_brought_back(redis_client: Any, place: str) -> None:
    world = await timed(redis_client, lease_ms=60_000)
    frontier = world.frontier
    await frontier.push([message(1, BAD, delay_ms=1_000), message(2, BAD, delay_ms=1_000)])
    [held] = await world.lease()
    if place == "delayed":
        await frontier.nack(held.id, held.token, delay_ms=1_000)
    elif place == "delayed:room":
        await frontier.put_off([(held.id, held.token)], delay_ms=1_000)
    elif place == "wait:s":
        await frontier.settle((), [answer((held.id, held.token))], [(held.id, held.token)])
        assert await world.fetch() == []
    key = frontier.shards.key(0, place)
    for member in await redis_client.zrange(key, 0, -1):
        await redis_client.zadd(key, {member: "inf"})
    done: list[int] = []
    for _ in range(4):
        await frontier.generations.sweep()
        await world.pass_ms(61_000)
        done += await world.fetch()
    assert sorted(done) == ([2] if place == "wait:s" else [1, 2])
    assert any(name.startswith(key.encode()) for name in await redis_client.hkeys(frontier.shards.key(0, "damaged")))


READ: dict[str, tuple[str, Harm]] = {
    "a letter": ("dead", written("", b"nan")),
    "a letter's parts": ("dead", written("", b"\x81\xa8envelope\xa1x")),
    "letters, another type": ("dead", replaced()),
    "their order, another type": ("dead:at", replaced()),
    "a host": ("hosts", written(BAD, b"0")),
    "what is delayed": ("delayed", scheduled),
    "counters": ("gen:s:0", written("buckets", b"1e400")),
    "counters beyond all numbers": ("gen:s:0", written("done", b"9" * 40)),
    "workers of the far future": ("workers", lambda client, key: client.zadd(key, {"ghost": "inf", "w": "inf"})),
    "workers' words, another type": ("workers:info", replaced()),
    "streams": ("streams", lambda client, key: client.zadd(key, {b"\xff": 10**15})),
    "origins": (f"origins:{BAD}", lambda client, key: client.hset(key, b"\xff", b"\xff")),
    "origins, another type": (f"origins:{BAD}", replaced()),
    "what operators said, another type": ("control", replaced()),
    "since when a robots.txt is away": (
        "robots:http://late.example",
        lambda client, key: client.hset(key, mapping={"verdict": "later", "since": b"x"}),
    ),
    "until when a robots.txt is given up": (
        "robots:http://late.example",
        lambda client, key: client.hset(key, mapping={"verdict": "later", "since": "inf"}),
    ),
    "a robots.txt, another type": ("robots:http://late.example", replaced()),
    "why requests wait, another type": ("why", replaced()),
    "a queue, another type": (f"q:s:{BAD}", replaced()),
    "a queue's early ones, another type": (f"early:s:{BAD}", replaced()),
    "hosts that wait, another type": ("wait:s", replaced()),
}


@pytest.mark.one_server("the first shard has it all")
@pytest.mark.parametrize("kind", list(READ))
async def test_what_commands_and_idle_workers_read_may_be_damaged(redis_client: Any, kind: str) -> None:
    world = await timed(redis_client)
    frontier = world.frontier
    await frontier.workers.heartbeat("w", {"outbox": 0}, ["s"])
    late = message(3, "late.example", body=msgpack.packb({"u": "http://late.example/"}))
    await frontier.push([message(1, BAD), message(2, "dead.example"), late])
    await asks_for(frontier, BAD, f"http://{BAD}", 10)
    for lease in await world.lease(exclude_hosts=[BAD]):
        if lease.host == "dead.example":
            await frontier.bury(lease.id, lease.token, reason="test")
        else:
            await frontier.nack(lease.id, lease.token, delay_ms=1_000)
    await frontier.control.say("pause", "host none.example")
    place, harm = READ[kind]
    await harm(redis_client, frontier.shards.key(0, place))
    inspection, tiers = frontier.inspection, Tiers(frontier.shards, keep_ms=1_000)
    letters = await frontier.dead.find()
    for look in (
        *(frontier.workers.alive, inspection.hosts, inspection.waiting, inspection.sizes, inspection.stats),
        partial(by_queue, frontier.shards),
        *(frontier.runs.settle, frontier.control.said, tiers.changes, inspection.empty, partial(tiers.served, "s")),
    ):
        await look()
    assert [worker.name for worker in await frontier.workers.alive(60_000)] in (["w"], [])
    assert [letter.reason for letter in letters] == (
        [] if "type" in kind and place.startswith("dead") else ["damaged"] if place == "dead" else ["test"]
    )
    await frontier.dead.drop([letter.id for letter in letters])
    assert await frontier.dead.find() == []
    assert BAD in await work(world) or place == f"q:s:{BAD}"  # which held it


@pytest.mark.one_server("each shard looks at its own")
@pytest.mark.parametrize("mode", ["window", "compact", "exact"])
async def test_what_is_no_fingerprint_stops_no_window_and_no_growth(redis_client: Any, mode: str) -> None:
    """A foreign member stays where it is; a time that is none is over."""
    world = await timed(redis_client, dedupe=mode)
    await world.frontier.push([message(1)])
    key = world.frontier.shards.key(0, "seen:1:0")
    for odd in (b"", b"garbage", b"x", b"\xff\xff\xff"):
        await (redis_client.hset(key, odd, odd) if mode == "window" else redis_client.sadd(key, odd))
    if mode == "window":
        await redis_client.hset(key, "2", "nan")
    await world.frontier.push([message(number, f"{number % 7}.example") for number in range(2, 1_500)])
    await world.pass_ms(100_000)
    await world.frontier.generations.tidy()
    total = (await world.frontier.inspection.stats()).total
    assert total.accepted == 1_499
    assert int(await redis_client.hget(world.frontier.shards.key(0, "gen:s:0"), "buckets")) > 1, "it has grown"


@pytest.mark.one_server("each shard looks at its own")
async def test_a_long_noise_among_names_is_not_even_looked_at(redis_client: Any) -> None:
    """To tell that 5 MB are no name took the server for hours: each place was tried with each other one."""
    world = await timed(redis_client)
    await world.frontier.push([message(1)])
    key, noise = world.frontier.shards.key(0, "gens"), b"x" * 1_025 + b":0"
    await redis_client.sadd(key, noise)
    await world.frontier.generations.tidy()
    assert not await redis_client.sismember(key, noise)
    [name] = await redis_client.hkeys(world.frontier.shards.key(0, "damaged"))
    assert name == f"{key} ".encode() + noise[:1_024]
    assert await world.fetch() == [1]


@pytest.mark.one_server("each shard looks at its own")
@pytest.mark.parametrize("field", ["set", "buckets", "shares"])
async def test_a_page_of_a_damaged_generation_is_looked_for(redis_client: Any, field: str) -> None:
    world = await timed(redis_client)
    await world.frontier.push([message(1)])
    await world.fetch()
    key = world.frontier.shards.key(0, "gen:s:0")
    await (redis_client.hdel(key, "set") if field == "shares" else redis_client.hset(key, "seen", "1"))
    await redis_client.hset(key, field, b"\xff\xfe")
    assert await world.frontier.finding.find(message(1)) == []
    await world.frontier.push([message(1)])
    assert await world.fetch() == [1]


async def cut_short(client: Any, key: str) -> None:
    """One entry that was counted ends in the middle."""
    [(entry, at)] = await client.zrange(key, 0, 0, withscores=True)
    await client.zrem(key, entry)
    await client.zadd(key, {entry[:12]: at})


@pytest.mark.parametrize("harm", [cut_short, replaced(), relisted, scheduled], ids=["cut", "text", "list", "more"])
@pytest.mark.parametrize("place", ["delayed", "delayed:room"])
async def test_a_delayed_request_that_is_lost_is_not_waited_for(redis_client: Any, place: str, harm: Harm) -> None:
    """A frontier without requests counts as empty; lost ones count as dropped."""
    world = await timed(redis_client, lease_ms=60_000)
    frontier = world.frontier
    await frontier.push([message(1, BAD), message(2, BAD)])
    for lease in await world.lease(2):
        if place == "delayed":
            await frontier.nack(lease.id, lease.token, delay_ms=50_000)
        else:
            await frontier.put_off([(lease.id, lease.token)], delay_ms=50_000)
    await frontier.push([message(number, host) for number, host in enumerate(GOOD, 3)])
    await harm(redis_client, frontier.shards.key(0, place))
    assert set(GOOD) <= await work(world)
    total = (await frontier.inspection.stats()).total
    assert (total.queued, total.leased, total.delayed) == (0, 0, 0)
    assert total.accepted == total.done + total.dropped == 2 + len(GOOD)
    assert await frontier.inspection.empty("s")
    assert (await frontier.lease(["s"], 1, worker="w")).queued == 0


@pytest.mark.parametrize("hurt", [0, 1])
@pytest.mark.parametrize("cut", ["queue", "record", "body"])
async def test_a_run_that_lost_a_request_ends_and_no_counter_is_below_0(redis_client: Any, cut: str, hurt: int) -> None:
    """Another run of the spider is under way meanwhile, and may be blamed for a while."""
    world = await timed(redis_client)
    frontier, client = world.frontier, redis_client
    runs = [await frontier.runs.open("s"), await frontier.runs.open("s")]
    for number, run in enumerate(runs[:: 1 - 2 * hurt]):
        await frontier.push([message(2 * number, BAD, generation=run.generation, cap=8)])
        await frontier.push([message(2 * number + 1, GOOD[number], generation=run.generation)])
        await frontier.runs.seal(run.id)
    if cut == "queue":
        key = frontier.shards.key(0, f"q:s:{BAD}")
        await client.lset(key, 0, (await client.lindex(key, 0))[:20])
    else:
        [lost] = await world.lease(1)
        lost_id = lost.id.partition(":")[2]
        await client.hdel(frontier.shards.key(0, "infl" if cut == "record" else "body"), lost_id)
    for _ in range(9):
        await world.fetch(1)
        await world.pass_ms(20_000)
        await frontier.runs.settle()
        await frontier.generations.tidy()
        for one in (await frontier.inspection.stats()).generations.values():
            assert all(getattr(one, name) >= 0 for name in one.__slots__), one
    found = await frontier.runs.find()
    assert [run.state for run in found] == ["finished", "finished"]
    assert sum(run.counts.done for run in found) == 3
    assert sum(run.counts.dropped for run in found) == 1


@pytest.mark.one_server("each shard looks at its own")
@pytest.mark.parametrize("place", ["due", "wait", "park", "due of suspects"])
async def test_hosts_that_are_filed_nowhere_are_filed_again(redis_client: Any, place: str) -> None:
    """Their requests are still queued: none of them is lost with the key."""
    world = await timed(redis_client, lease_ms=40_000)
    frontier, kind = world.frontier, place.partition(" ")[0]
    await frontier.push([message(number, BAD, delay_ms=1_000 * (kind == "wait")) for number in (1, 2)])
    for _ in range(2 * (kind != place)):
        [lease] = await world.lease(1)
        await frontier.start(handles([lease]))
        await world.pass_ms(40_000)
        await frontier.shards.run_all("reap")
    held = await world.lease(1) if kind == "park" else []
    if kind == "wait":
        await world.fetch(1)
    await frontier.generations.sweep()
    key = frontier.shards.key(0, f"{kind}:s" + "!" * (kind != place))
    assert await redis_client.delete(key) == 1
    await acked(frontier, handles(held))
    await frontier.generations.sweep()
    done = [int(lease.body) for lease in held]
    for _ in range(4):
        await world.pass_ms(2_000)
        done += await world.fetch(suspects_ok=True)
    total = (await frontier.inspection.stats()).total
    assert (total.queued, total.dropped) == (0, 0)
    assert total.done == 2
    assert await redis_client.exists(frontier.shards.key(0, "damaged"))


async def test_no_request_is_given_up_before_every_host_was_looked_at(redis_client: Any) -> None:
    """A pass over thousands of hosts takes several calls."""
    world = await timed(redis_client)
    frontier = world.frontier
    await frontier.push([message(number, f"{number}.example") for number in range(3_000)])
    keys = [frontier.shards.key(at, "due:s") for at in range(frontier.shards.config.shards)]
    await redis_client.delete(*keys)
    await redis_client.set(frontier.shards.key(0, "refile"), b"x")
    for _ in range(3):
        await frontier.generations.sweep()
        assert (await frontier.inspection.stats()).total.dropped == 0
    await frontier.generations.tidy()
    total = (await frontier.inspection.stats()).total
    assert (total.queued, total.dropped) == (3_000, 0)
    await world.pass_ms(1)
    assert len({lease.host for _ in range(12) for lease in await world.lease(500)}) == 3_000


@pytest.mark.one_server("each shard looks at its own")
@pytest.mark.parametrize("harm", ["deleted", "replaced", "cut"])
@pytest.mark.parametrize("others", [0, 3])
async def test_a_queue_that_was_lost_is_waited_for_no_longer(redis_client: Any, harm: str, others: int) -> None:
    """What is queued of other hosts, runs and tiers stays as it is."""
    world = await timed(redis_client)
    run = await world.frontier.runs.open("s", fresh=True)
    lost = [message(number, cap=10, generation=run.generation) for number in range(5)]
    await world.frontier.push([*lost, *(message(20 + number, "b.example", delay_ms=1) for number in range(others))])
    await world.frontier.runs.seal(run.id)
    key = world.frontier.shards.key(world.frontier.shards.of_host("a.example"), "q:s:a.example")
    await (redis_client.ltrim(key, 0, 1) if harm == "cut" else redis_client.delete(key))
    if harm == "replaced":
        await redis_client.set(key, b"noise")
    kept = 2 if harm == "cut" else 0
    await world.frontier.generations.sweep()
    counts = (await world.frontier.runs.get(run.id)).counts  # type: ignore[union-attr]
    assert (counts.queued, counts.dropped_by) == (kept, {"damaged": 5 - kept})
    assert (await world.frontier.inspection.stats()).total.queued == kept + others
    named = await redis_client.hkeys(world.frontier.shards.key(0, "damaged"))
    assert any(name.endswith(b":q:s of generation " + run.generation.encode()) for name in named)
    done = []
    for _ in range(8):
        done += await world.fetch()
        await world.pass_ms(2_000)
    assert sorted(done) == [*range(kept), *range(20, 20 + others)]
    assert [one.id for one in await world.frontier.runs.settle()] == [run.id]


async def test_noise_at_the_head_of_a_queue_hides_nothing_behind_it(redis_client: Any) -> None:
    world = await timed(redis_client)
    await world.frontier.push([message(number, BAD, delay_ms=1_000) for number in range(3)])
    shard = world.frontier.shards.of_host(BAD)
    for noise in (b"garbage", b"more"):
        await redis_client.lpush(world.frontier.shards.key(shard, f"q:s:{BAD}"), noise)
    done = []
    for _ in range(3):
        done += await world.fetch()
        await world.pass_ms(2_000)
    assert done == [0, 1, 2]


@pytest.mark.one_server("one damaged key")
async def test_two_who_find_the_same_damage_mend_it_once(redis_client: Any) -> None:
    world = await timed(redis_client)
    await world.frontier.push([message(1, BAD)])
    key = world.frontier.shards.key(0, "gen:s:0")
    run = partial(world.frontier.shards.run, "mend", 0, "HGETALL", key)
    await redis_client.delete(key)
    assert await run() == 1
    await redis_client.set(key, b"noise")
    assert await run() == 1
    await redis_client.hset(key, "queued", 1)
    assert await run() == 1
    assert await redis_client.hget(key, "queued") == b"1"


@pytest.mark.parametrize("harm", ["deleted", "replaced"])
async def test_a_crawl_that_lost_its_counters_ends(redis_client: Any, harm: str) -> None:
    world = await timed(redis_client)
    run = await world.frontier.runs.open("s", fresh=True)
    await world.frontier.push([message(number, BAD, cap=4, generation=run.generation) for number in range(6)])
    await world.frontier.runs.seal(run.id)
    [lease] = await world.lease(1)
    key = world.frontier.shards.key(world.frontier.shards.of_host(BAD), f"gen:s:{run.generation}")
    await redis_client.delete(key)
    if harm == "replaced":
        await redis_client.set(key, b"noise")
    await acked(world.frontier, handles([lease]))
    for _ in range(6):
        await world.fetch()
        await world.frontier.generations.sweep()
        await world.pass_ms(2_000)
    total = (await world.frontier.inspection.stats()).total
    assert (total.queued, total.leased, total.delayed) == (0, 0, 0)
    assert await world.frontier.inspection.empty("s")
    assert [one.id for one in await world.frontier.runs.settle()] == [run.id]


@pytest.mark.one_server("runs are on shard 0")
async def test_noise_beside_runs_stops_nobody(redis_client: Any) -> None:
    world = await timed(redis_client)
    run = await world.frontier.runs.open("s")
    key = world.frontier.shards.key
    await redis_client.set(key(0, "runs:last"), b"\xffgarbage")
    for name in ("starts", "current", "runs:until"):
        await redis_client.hset(key(0, name), b"\xff", b"\xfe")
    assert [one.id for one in (await world.frontier.runs.unfinished())[1]] == [run.id]
    await world.frontier.runs.seal(run.id)
    assert [one.id for one in await world.frontier.runs.settle()] == [run.id]


@pytest.mark.one_server("runs are on shard 0")
async def test_many_unfinished_runs_are_read_in_slices(redis_client: Any) -> None:
    world = await timed(redis_client)
    opened = {(await world.frontier.runs.open("s", name=f"n{number}")).id for number in range(260)}
    assert {run.id for run in (await world.frontier.runs.unfinished())[1]} == opened
    answer = await world.frontier.shards.run("runs", 0, 0)
    assert (len(answer[4]), len(answer[5])) == (250, 10)
