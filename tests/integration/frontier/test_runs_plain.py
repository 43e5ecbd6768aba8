"""Runs of plain starts and of start URLs: nobody opens or seals them, and they begin and end all the same."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import msgpack
import pytest

from crawler.frontier.joining import Joined
from crawler.frontier.run_record import RunCounts
from crawler.frontier.state.seeds import Seeds
from crawler.worker.upkeep.runs import WorkerRuns
from tests.integration.frontier.making import Timed, acked, handles, message, timed
from tests.integration.frontier.running import BEGUN, counts, events, over


class Fleet:
    """Workers of spiders, as their heartbeats show them."""

    def __init__(self, world: Timed) -> None:
        self.world = world
        self.frontier = world.frontier
        self.seeds = Seeds(world.client, "s:start_urls", claim=lambda: f"claim{world.now}")

    async def beat(self, spider: str = "s", worker: str = "w", **info: Any) -> None:
        await self.frontier.workers.heartbeat(worker, {"spider": spider, "outbox": 0, "starting": False, **info})

    async def found(self) -> list[tuple[str, str, int]]:
        return [(run.id[9:], run.state, run.counts.accepted) for run in await self.frontier.runs.find()]


@pytest.mark.parametrize("shards", [1, 2])
async def test_a_plain_start_is_a_run_that_its_start_requests_seal(redis_client: Any, shards: int) -> None:
    fleet = Fleet(world := await timed(redis_client, shards=shards))
    runs = world.frontier.runs
    await runs.plain.serves("s", "", "")
    for worker in ("v", "w"):
        await fleet.beat(worker=worker, starting=True)
        begun = await runs.begin("s", "0")
        assert (begun.id, begun.name, begun.generation) == (f"{BEGUN}-1", "start", "0")
    await world.frontier.push([message(1), message(2, "b.example")])
    assert len(await world.fetch()) == 2
    assert await over(world) == [], "both may have more start requests"
    await fleet.beat(worker="v")
    assert await over(world) == [], "one may have"
    await fleet.beat(worker="w", outbox=1)
    assert await over(world) == [], "one has"
    await fleet.beat(worker="w")
    assert await over(world) == [begun.id]
    assert await fleet.found() == [("1", "finished", 2)]
    assert (await runs.begin("s", "0")).id == f"{BEGUN}-2", "the next start"
    assert await over(world) == [f"{BEGUN}-2"], "without a URL of its own"
    assert await fleet.found() == [("2", "finished", 0), ("1", "finished", 2)]
    assert await world.frontier.generations.current("s") == "0"


async def test_a_start_that_joins_a_crawl_begins_no_run_for_nothing(redis_client: Any) -> None:
    """As of a second worker that comes when the first has done all there was."""
    fleet = Fleet(world := await timed(redis_client))
    crawler: Any = SimpleNamespace(spider=SimpleNamespace(name="s"))
    worker = WorkerRuns(crawler, world.frontier.runs, world.frontier.spent, None)
    begun = await worker.begin(Joined("0", opened=True))
    assert begun is not None
    assert await worker.begin(Joined("0", opened=False)) == begun, "it is under way"
    await fleet.beat()
    assert await over(world) == [begun.id]
    assert await worker.begin(Joined("0", opened=False)) is None
    assert await over(world) == []
    await world.frontier.push([message(1)])
    assert await over(world) == []
    assert await fleet.found() == [("2", "sealed", 1), ("1", "finished", 0)], "with the first request it has"


async def test_start_urls_that_wait_are_counted_whoever_runs(redis_client: Any) -> None:
    world = await timed(redis_client)
    plain = world.frontier.runs.plain
    assert await plain.start_urls(None) == {}
    for spider, kind in {"s": "list", "t": "zset", "damaged": "zset", "empty": "set"}.items():
        await plain.serves(spider, f"{spider}:start_urls", kind)
    await plain.serves("none", "", "")
    await redis_client.lpush("s:start_urls", "a", "b")
    await redis_client.zadd("t:start_urls", {"c": 1})
    await redis_client.set("damaged:start_urls", "d")
    assert await plain.start_urls(None) == {"s": 2, "t": 1}
    assert await plain.start_urls("s") == {"s": 2}
    await Seeds(redis_client, "s:start_urls").lease(1)
    assert await plain.start_urls("s") == {"s": 2}, "until it is in the frontier"


async def test_start_urls_are_runs_from_the_first_until_none_came_for_long_enough(redis_client: Any) -> None:
    fleet = Fleet(world := await timed(redis_client, run_idle_ms=30_000))
    runs = world.frontier.runs
    await runs.plain.serves("s", "s:start_urls", "list")
    await redis_client.lpush("s:start_urls", "a", "b")
    for spree in (1, 2):
        await fleet.beat()
        assert await over(world) == []
        assert await fleet.found() == [("1", "finished", 3)][: spree - 1], "nothing was accepted yet"
        [*taken] = await fleet.seeds.lease(1)
        await world.frontier.push([message(10 * spree)])
        await fleet.seeds.ack(taken)
        await world.frontier.dead.bury_seed(b"bad", spider="s", reason="bad_seed", generation="0")
        await world.fetch()
        assert await over(world) == []
        assert (await fleet.found())[0] == (str(spree), "open", 2)
        await world.pass_ms(20_000)
        await fleet.beat()
        await world.pass_ms(20_000)
        await fleet.beat()
        assert await over(world) == [], "one more waits in the key"
        [*taken] = await fleet.seeds.lease(1)
        assert await over(world) == [], "it is being taken in"
        await world.frontier.push([message(10 * spree + 1)])
        await fleet.seeds.ack(taken)
        await world.fetch()
        assert await over(world) == [], "it came a moment ago"
        for _ in range(2):
            await world.pass_ms(20_000)
            await fleet.beat()
        [ended] = await runs.settle()
        assert ended.counts == RunCounts(accepted=3, done=2, dead=1, dead_by={"bad_seed": 1})
        await redis_client.lpush("s:start_urls", "c", "d")
    assert [event for event, _ in await events(world)] == [b"start", b"finish"] * 2


async def test_the_last_worker_that_reads_a_key_ends_their_run_when_it_leaves(redis_client: Any) -> None:
    fleet = Fleet(world := await timed(redis_client))
    runs = world.frontier.runs
    await runs.plain.serves("s", "s:start_urls", "list")
    for worker in ("v", "w"):
        await fleet.beat(worker=worker)
    await world.frontier.push([message(1)])
    assert await runs.settle(leaving="w") == []
    await world.fetch()
    assert await runs.settle(leaving="w") == [], "another one reads it"
    await world.frontier.workers.leave("v")
    assert [run.id for run in await runs.settle(leaving="w")] == [f"{BEGUN}-1"]


async def test_the_work_of_an_older_release_is_a_run_too(redis_client: Any) -> None:
    """It tells nobody whether it has start requests left, or which key it reads."""
    world = await timed(redis_client, run_idle_ms=30_000)
    await world.frontier.push([message(1), message(2, "b.example")])
    await world.fetch(1)
    assert await over(world) == []
    assert [(run.state, run.counts.pending) for run in await world.frontier.runs.find()] == [("open", 1)]
    await world.fetch()
    for _ in range(2):
        assert await over(world) == []
        await world.pass_ms(20_000)
    assert await over(world) == [f"{BEGUN}-1"]


async def test_a_letter_of_an_earlier_start_brings_no_counter_below_0(redis_client: Any) -> None:
    fleet = Fleet(world := await timed(redis_client))
    await world.frontier.runs.plain.serves("s", "", "")
    await fleet.beat()
    await world.frontier.runs.begin("s", "0")
    await world.frontier.push([message(1)])
    letter = (await world.lease())[0]
    await world.frontier.bury(letter.id, letter.token, reason="blocked")
    assert await over(world) == [f"{BEGUN}-1"]
    run = await world.frontier.runs.begin("s", "0")
    assert await world.frontier.dead.drop([letter.id]) == [True]
    assert await counts(world, run) == RunCounts()
    assert await over(world) == [run.id]


async def test_a_shard_that_lost_its_data_holds_nothing_up(redis_client: Any) -> None:
    fleet = Fleet(world := await timed(redis_client))
    await world.frontier.runs.plain.serves("s", "", "")
    await fleet.beat()
    await world.frontier.runs.begin("s", "0")
    await world.frontier.push([message(1), message(2, "b.example"), message(3, "c.example")])
    await world.fetch()
    assert await over(world) == [f"{BEGUN}-1"]
    await redis_client.delete(world.frontier.shards.key(0, "gen:s:0"))
    await world.frontier.push([message(4, "d.example")])
    await world.fetch()
    assert await over(world) == [f"{BEGUN}-2"]
    assert await fleet.found() == [("2", "finished", 1), ("1", "finished", 3)]


async def test_of_those_that_take_turns_one_looks(redis_client: Any) -> None:
    world = await timed(redis_client)
    run = await world.frontier.runs.open("s")
    assert await world.frontier.runs.settle(turn_ms=1_000) == []
    await world.frontier.runs.seal(run.id)
    assert await world.frontier.runs.settle(turn_ms=1_000) == [], "somebody has looked"
    await world.be_silent(-5_000)
    await world.pass_ms(6_500)
    assert [one.id for one in await world.frontier.runs.settle(turn_ms=1_000)] == [run.id]


@pytest.mark.parametrize("key", ["starts", "runs:until", "runs:turn"])
@pytest.mark.one_server("what is stored is the same on each node")
async def test_damage_to_what_is_known_of_spiders_ends_no_look(redis_client: Any, key: str) -> None:
    fleet = Fleet(world := await timed(redis_client, run_idle_ms=1_000))
    await redis_client.lpush(world.frontier.shards.key(0, key), "x")
    await world.frontier.push([message(1)])
    await world.fetch()
    await world.frontier.runs.settle(turn_ms=10)
    assert await fleet.found() == [("1", "open", 1)]
    await redis_client.delete(world.frontier.shards.key(0, key))
    if key != "runs:turn":
        await redis_client.hset(world.frontier.shards.key(0, key), "s", b"\x93\x01")
    await world.pass_ms(20_000)
    assert await over(world) == [f"{BEGUN}-1"]


async def test_a_start_urls_key_of_another_type_counts_as_one_that_is_not_empty(redis_client: Any) -> None:
    world = await timed(redis_client, run_idle_ms=1_000)
    await world.frontier.runs.plain.serves("s", "s:start_urls", "list")
    await redis_client.set("s:start_urls", "?")
    await world.frontier.push([message(1)])
    await world.fetch()
    await world.pass_ms(20_000)
    assert await over(world) == []
    await redis_client.delete("s:start_urls")
    assert await over(world) == [f"{BEGUN}-1"]


@pytest.mark.one_server("what is stored is the same on each node")
async def test_foreign_records_of_what_was_end_no_look(redis_client: Any) -> None:
    world = await timed(redis_client)
    found: tuple[dict[str, Any], ...] = ({}, {"accepted": "many"}, {"accepted": {}})
    for foreign in found:
        row = msgpack.packb({"generation": "0", "counts": foreign}, use_bin_type=False)
        await redis_client.hset(world.frontier.shards.key(0, "runs:until"), "s", row)
        await world.frontier.push([message(world.now)])
        await world.fetch()
        await world.frontier.runs.settle()
        world.now += 1
    assert [run.state for run in await world.frontier.runs.find()] == ["open"]


async def test_who_holds_a_lease_knows_its_run_which_does_not_end_before_it(redis_client: Any) -> None:
    fleet = Fleet(world := await timed(redis_client, run_idle_ms=1_000))
    runs = world.frontier.runs
    await runs.plain.serves("s", "s:start_urls", "list")
    assert await runs.plain.holding("s", "7") is None, "of an older generation"
    await world.frontier.push([message(1)])
    leases = await world.lease()
    first = await runs.plain.holding("s", "0")
    assert first is not None, "it has begun before anybody looked"
    await acked(world.frontier, handles(leases))
    await world.pass_ms(20_000)
    looks = runs._snapshot
    looked = 0

    async def late() -> Any:
        nonlocal looked
        looked += 1
        seen = await looks()
        if looked == 2:  # both looks agree that all is done; then another worker gets something to do
            await world.frontier.push([message(2)])
            assert await world.lease()
            held = await runs.plain.holding("s", "0")
            assert held is not None
            assert held.id == first.id
        return seen

    runs._snapshot = late  # type: ignore[method-assign]
    assert await over(world) == []
    assert await fleet.found() == [("1", "sealed", 2)]


async def test_the_next_work_is_of_the_next_run(redis_client: Any) -> None:
    world = await timed(redis_client, run_idle_ms=1_000)
    for expected in ("1", "2"):
        await world.frontier.push([message(int(expected))])
        leases = await world.lease()
        run = await world.frontier.runs.plain.holding("s", "0")
        assert run is not None
        assert run.id == f"{BEGUN}-{expected}"
        await acked(world.frontier, handles(leases))
        await world.pass_ms(20_000)
        assert await over(world) == [run.id]
