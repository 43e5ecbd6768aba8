"""Runs: opened, counted, ended once, whatever happens to who pushes, crawls and looks."""

from __future__ import annotations

import asyncio
from typing import Any

import msgpack
import pytest

from crawler.frontier.messages import PushOutcome
from crawler.frontier.state.pushed_run import PushedRun, WantedRun
from crawler.frontier.state.runs import Run, RunCounts, RunError, Runs, RunSkippedError, run_id_of
from crawler.frontier.state.seeds import Seeds
from tests.integration.frontier.making import Timed, handles, message, timed

DAY_MS = 86_400_000
BEGUN = "20231114"  # the day of START_MS


async def push(world: Timed, run: Run, *numbers: int, **fields: Any) -> list[PushOutcome]:
    given = {"cap": 8, **fields}
    return await world.frontier.push([message(number, generation=run.generation, **given) for number in numbers])


async def over(world: Timed) -> list[str]:
    return [run.id for run in await world.frontier.runs.settle()]


async def counts(world: Timed, run: Run) -> RunCounts:
    found = await world.frontier.runs.get(run.id)
    assert found is not None
    return found.counts


async def events(world: Timed) -> list[tuple[bytes, bytes]]:
    rows: Any = await world.client.xrange(world.frontier.shards.key(0, "runs:events"))
    return [(fields[b"event"], fields[b"run"]) for _, fields in rows]


async def test_ids_count_up_within_the_day_of_the_server(redis_client: Any) -> None:
    world = await timed(redis_client)
    runs = world.frontier.runs
    first, second = await runs.open("s"), await runs.open("t")
    await world.pass_ms(DAY_MS)
    third = await runs.open("s")
    await world.be_silent(-2 * DAY_MS)  # the server's clock goes back, the frontier's does not
    fourth = await runs.open("s")
    found = [run.id for run in (first, second, third, fourth)]
    assert found == [f"{BEGUN}-1", f"{BEGUN}-2", "20231115-1", "20231115-2"]
    assert [run_id_of(run.generation) for run in (first, third)] == [first.id, third.id]
    assert run_id_of("0") == run_id_of("17") == ""
    assert [run.id for run in await runs.find()] == found[::-1]
    assert [run.id for run in await runs.find("t")] == [second.id]
    assert [run.id for run in await runs.find("s", limit=1)] == [fourth.id]


@pytest.mark.parametrize("shards", [1, 2])
async def test_a_run_ends_when_it_is_sealed_and_all_it_accepted_is_over(redis_client: Any, shards: int) -> None:
    world = await timed(redis_client, shards=shards)
    run = await world.frontier.runs.open("s", name="nightly")
    hosts = ("a.example", "b.example", "c.example")
    for number, host in enumerate(hosts):
        await push(world, run, number, host=host)
    assert await over(world) == []
    leases = await world.lease()
    assert sorted(int(lease.body) for lease in leases) == [0, 1, 2]
    assert {lease.generation for lease in leases} == {run.generation}
    await world.frontier.ack(handles(leases[:1]))
    await world.frontier.bury(*handles(leases)[1], reason="http_500")
    assert await over(world) == []
    await world.frontier.runs.seal(run.id)
    assert await over(world) == [], "one is leased"
    await world.frontier.nack(*handles(leases)[2], delay_ms=60_000)
    assert await over(world) == [], "one is delayed"
    assert (await counts(world, run)).delayed == 1
    await world.pass_ms(61_000)
    last = (await world.lease())[0]
    await world.frontier.end_gone(last.id, last.token, reason="http_404", detail={})
    [ended] = await world.frontier.runs.settle()
    assert (ended.id, ended.state, ended.ended_ms) == (run.id, "finished", world.now)
    assert ended.counts == RunCounts(accepted=3, done=2, gone=1, dead=1, dead_by={"http_500": 1})
    assert await world.frontier.runs.get(run.id) == ended
    assert await events(world) == [(b"start", run.id.encode()), (b"finish", run.id.encode())]
    assert ended.told() == f"run {run.id} finished: 2 done (1 gone), 1 dead (s nightly)"


async def test_a_run_without_a_url_ends_when_it_is_sealed(redis_client: Any) -> None:
    world = await timed(redis_client, shards=2)
    run = await world.frontier.runs.open("s")
    assert await over(world) == []
    await world.frontier.runs.seal(run.id)
    assert await over(world) == [run.id]


async def test_it_ends_once_whoever_looks(redis_client: Any) -> None:
    world = await timed(redis_client)
    observers = [Runs(world.frontier.shards) for _ in range(6)]
    run = await world.frontier.runs.open("s")
    await push(world, run, 1)
    await world.frontier.runs.seal(run.id)
    await world.fetch()
    ended = await asyncio.gather(*(one.settle() for one in observers))
    assert [run for found in ended for run in found] == [await world.frontier.runs.get(run.id)]
    assert await events(world) == [(b"start", run.id.encode()), (b"finish", run.id.encode())]


async def test_it_ends_while_others_go_on(redis_client: Any) -> None:
    """Two looks have to agree on this run only."""
    world = await timed(redis_client)
    run, other = await world.frontier.runs.open("s"), await world.frontier.runs.open("s", name="other")
    await push(world, run, 1)
    await world.frontier.runs.seal(run.id)
    await world.fetch()
    look = world.frontier.runs._look

    async def busy() -> Any:
        await push(world, other, world.now)
        world.now += 1
        return await look()

    world.frontier.runs._look = busy  # type: ignore[method-assign]
    assert await over(world) == [run.id]


async def test_a_child_on_a_shard_that_was_looked_at_before_keeps_the_run(redis_client: Any) -> None:
    """The first look sees neither the child, which was not there yet, nor its parent, which is done by then."""
    world = await timed(redis_client, shards=2)
    of_shard = {world.frontier.shards.of_host(f"h{n}.example"): f"h{n}.example" for n in range(20)}
    run = await world.frontier.runs.open("s")
    await push(world, run, 1, host=of_shard[1])
    await world.frontier.runs.seal(run.id)
    parent = await world.lease()
    runs, looked = world.frontier.runs, list[int]()

    async def stats(name: str, shard: int, *rest: Any) -> Any:
        if name == "stats" and shard == 1 and not looked:
            looked.append(shard)
            while 0 not in answered:  # noqa: ASYNC110 - the other shard first
                await asyncio.sleep(0.001)
            await push(world, run, 2, host=of_shard[0])
            await world.frontier.ack(handles(parent))
        answer = await run_script(name, shard, *rest)
        if name == "stats":
            answered.append(shard)
        return answer

    answered = list[int]()
    run_script = runs._shards.run
    runs._shards.run = stats  # type: ignore[method-assign]
    assert await over(world) == [], "the child is queued"
    await world.fetch()
    assert await over(world) == [run.id]
    assert (await counts(world, run)).done == 2


async def test_a_redelivery_counts_once(redis_client: Any) -> None:
    world = await timed(redis_client)
    run = await world.frontier.runs.open("s")
    await push(world, run, 1)
    await world.frontier.runs.seal(run.id)
    first = await world.lease()
    for _ in range(9):
        await world.pass_ms(20_000)
    second = await world.lease()
    assert [lease.body for lease in second] == [lease.body for lease in first]
    assert await world.frontier.ack(handles(first)) == [False]
    assert await over(world) == []
    assert await world.frontier.ack(handles(second)) == [True]
    assert await over(world) == [run.id]
    assert await counts(world, run) == RunCounts(accepted=1, done=1)


async def test_a_producer_that_died_leaves_it_open_and_the_same_lines_add_nothing(redis_client: Any) -> None:
    world = await timed(redis_client)
    run = await world.frontier.runs.open("s", producer="push")
    await push(world, run, 1, 2)
    await world.fetch()
    await world.pass_ms(DAY_MS)
    assert await over(world) == []
    again = await world.frontier.runs.resume(run.id)
    assert (again.id, again.state) == (run.id, "open")
    assert await push(world, run, 1, 2, 3) == [PushOutcome.DUPLICATE, PushOutcome.DUPLICATE, PushOutcome.ACCEPTED]
    await world.fetch()
    await world.frontier.runs.seal(run.id)
    assert await over(world) == [run.id]
    assert (await counts(world, run)).accepted == 3
    with pytest.raises(RunError, match="is finished"):
        await world.frontier.runs.resume(run.id)
    assert (await world.frontier.runs.seal(run.id)).state == "finished", "a run that is over stays so"


async def test_one_that_was_opened_again_is_not_ended_by_who_saw_it_sealed(redis_client: Any) -> None:
    world = await timed(redis_client)
    runs = world.frontier.runs
    run = await runs.seal((await runs.open("s")).id)
    await runs.resume(run.id)
    assert await runs._end(run, await runs._look()) is None
    assert await over(world) == []


async def test_the_same_key_is_the_same_run(redis_client: Any) -> None:
    world = await timed(redis_client)
    opened = await asyncio.gather(*(world.frontier.runs.open("s", name="n", key="nightly:7") for _ in range(5)))
    assert {run.id for run in opened} == {f"{BEGUN}-1"}
    await world.frontier.runs.seal(opened[0].id)
    assert await over(world) == [opened[0].id]
    assert (await world.frontier.runs.open("s", name="n", key="nightly:7")).state == "finished"
    assert (await world.frontier.runs.open("s", name="n", key="nightly:8")).id == f"{BEGUN}-2"


async def test_overlap(redis_client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crawler.frontier.state.runs.WAIT_SECONDS", 0.01)
    world = await timed(redis_client)
    runs = world.frontier.runs
    first = await runs.open("s", name="nightly")
    with pytest.raises(RunError, match=f"run {first.id} of s is also named 'nightly' and is not over") as refused:
        await runs.open("s", name="nightly")
    assert refused.value.run is not None
    assert refused.value.run.id == first.id
    with pytest.raises(RunSkippedError):
        await runs.open("s", name="nightly", overlap="skip")
    assert (await runs.open("t", name="nightly")).id == f"{BEGUN}-2", "another spider's"
    assert (await runs.open("s", name="weekly")).id == f"{BEGUN}-3"
    assert (await runs.open("s", name="nightly", overlap="allow")).id == f"{BEGUN}-4"
    waiting = asyncio.ensure_future(runs.open("s", name="nightly", overlap="queue"))
    await asyncio.sleep(0.05)
    assert not waiting.done()
    for run in (first.id, f"{BEGUN}-4"):
        await runs.seal(run)
    assert (await asyncio.wait_for(waiting, 5)).id == f"{BEGUN}-5"


async def test_one_that_replaces_another_cancels_it(redis_client: Any) -> None:
    world = await timed(redis_client)
    runs = world.frontier.runs
    first = await runs.open("s", name="nightly")
    await push(world, first, 1, 2, host="a.example", cap=1)
    [leased] = await world.lease(1)
    second = await runs.open("s", name="nightly", overlap="replace")
    assert second.id == f"{BEGUN}-2"
    await world.frontier.ack(handles([leased]))
    assert await over(world) == [first.id]
    found = await runs.get(first.id)
    assert found is not None
    assert (found.state, found.counts.done, found.counts.dropped) == ("cancelled", 1, 1)
    with pytest.raises(RunError, match=f"run {first.id} is cancelled"):
        await runs.resume(first.id)


async def test_it_knows_what_the_spider_knows_unless_it_is_fresh(redis_client: Any) -> None:
    world = await timed(redis_client, shards=2)
    await world.frontier.push([message(1), message(2, "b.example")])
    shared = await world.frontier.runs.open("s", name="a")
    assert await push(world, shared, 1) == [PushOutcome.DUPLICATE]
    assert await push(world, shared, 3, host="b.example") == [PushOutcome.ACCEPTED]
    assert (await world.frontier.push([message(3, "b.example")])) == [PushOutcome.DUPLICATE]
    fresh = await world.frontier.runs.open("s", name="b", fresh=True)
    assert await push(world, fresh, 1, 1) == [PushOutcome.ACCEPTED, PushOutcome.DUPLICATE]
    assert await world.frontier.generations.current("s") == "0", "no run moves it"


async def test_what_is_over_leaves_the_statistics_and_its_fingerprints_stay_for_a_while(redis_client: Any) -> None:
    world = await timed(redis_client, retention_ms=1_000_000)
    for _ in range(3):
        for fresh in (True, False):
            run = await world.frontier.runs.open("s", fresh=fresh, overlap="allow")
            await push(world, run, world.now % 1_000_000)
            await world.pass_ms(10)
            await world.fetch()
            await world.frontier.runs.seal(run.id)
            assert await over(world) == [run.id]
    waiting = await world.frontier.runs.open("s", name="waits")
    await world.frontier.generations.tidy()
    stats = await world.frontier.inspection.stats()
    assert set(stats.generations) == {("s", "0"), ("s", ""), ("s", waiting.generation)}
    assert (stats.total.accepted, stats.total.done) == (6, 6)
    assert await redis_client.zcard(world.frontier.shards.key(0, "kept")) == 3
    for _ in range(60):
        await world.pass_ms(20_000)
    await world.frontier.generations.tidy()
    kept: list[bytes] = [key async for key in redis_client.scan_iter("*:gen:*")]
    assert sorted(key.decode().rpartition(":")[2] for key in kept) == ["", "0", waiting.generation]
    assert await push(world, waiting, 7) == [PushOutcome.ACCEPTED]


async def test_a_run_keeps_the_fingerprints_that_it_shares(redis_client: Any) -> None:
    world = await timed(redis_client, retention_ms=60_000)
    await world.frontier.push([message(1)])
    run = await world.frontier.runs.open("s")
    await world.fetch()
    await world.frontier.generations.open("s")
    for _ in range(9):
        await world.pass_ms(20_000)
    await world.frontier.generations.tidy()
    assert await push(world, run, 1) == [PushOutcome.DUPLICATE]
    await world.frontier.runs.seal(run.id)
    assert await over(world) == [run.id]
    for _ in range(2):
        await world.frontier.generations.tidy()
        await world.pass_ms(10)
    left = [key async for key in redis_client.scan_iter("*:seen:*")]
    assert left == []


async def test_a_letter_of_a_run_that_is_over_can_be_dropped_and_retried(redis_client: Any) -> None:
    world = await timed(redis_client)
    run = await world.frontier.runs.open("s")
    await push(world, run, 1, 2)
    await world.frontier.runs.seal(run.id)
    leases = await world.lease()
    for handle in handles(leases):
        await world.frontier.bury(*handle, reason="blocked")
    assert await over(world) == [run.id]
    await world.frontier.generations.tidy()
    assert await world.frontier.dead.drop([leases[0].id]) == [True]
    assert (await world.frontier.push([message(int(leases[0].body))])) == [PushOutcome.ACCEPTED], "it is forgotten"
    assert await world.frontier.dead.retry([leases[1].id]) == [True]
    for spider in (await world.frontier.inspection.stats()).generations.values():
        assert all(getattr(spider, name) >= 0 for name in spider.__slots__)
    total = (await world.frontier.inspection.stats()).total
    live = total.queued + total.leased + total.delayed
    assert (live, total.dead) == (2, 0)
    assert total.accepted == live + total.dead + total.done + total.dropped
    assert await counts(world, run) == RunCounts(accepted=2, dead=2, dead_by={"blocked": 2}), "it never changes"


async def test_as_many_are_kept_as_was_asked_for(redis_client: Any) -> None:
    world = await timed(redis_client, runs_kept=3)
    first = await world.frontier.runs.open("s", name="first")
    for number in range(6):
        run = await world.frontier.runs.open("s", key=f"k:{number}", overlap="allow")
        await world.frontier.runs.seal(run.id)
        await over(world)
    shards = world.frontier.shards
    assert [run.id for run in await world.frontier.runs.find()] == [f"{BEGUN}-7", f"{BEGUN}-6", first.id]
    assert await redis_client.hlen(shards.key(0, "runs")) == 3
    assert await redis_client.hkeys(shards.key(0, "runs:keys")) == [b"k:4", b"k:5"]
    assert (await world.frontier.runs.seal(first.id)).state == "sealed", "one that is not over is kept"


@pytest.mark.parametrize("wrong", ["", "1", "20231114", "20231114-", "x-1", "20231114-1\n", "\ud800"])
async def test_what_is_no_run_is_refused(redis_client: Any, wrong: str) -> None:
    world = await timed(redis_client)
    for call in (world.frontier.runs.seal, world.frontier.runs.resume):
        with pytest.raises(RunError, match="is no run"):
            await call(wrong)
    with pytest.raises(RunError, match="there is no run 20231114-9"):
        await world.frontier.runs.seal("20231114-9")
    assert await world.frontier.runs.get("20231114-9") is None


@pytest.mark.parametrize("name", ["x" * 256, "two\nlines", "\x00", "\ud800"])
async def test_a_name_that_cannot_be_shown_is_refused(redis_client: Any, name: str) -> None:
    world = await timed(redis_client)
    with pytest.raises(RunError, match=r"name .* of a run: expected at most 255 bytes"):
        await world.frontier.runs.open("s", name=name)


@pytest.mark.parametrize("key", ["runs", "runs:at", "runs:live", "runs:keys", "runs:last", "runs:events", "kept"])
async def test_a_key_of_another_type_costs_no_more_than_what_it_held(redis_client: Any, key: str) -> None:
    world = await timed(redis_client)
    lost = await world.frontier.runs.open("s", name="lost", key="k")
    place = world.frontier.shards.key(0, key)
    await redis_client.delete(place)
    zset = key in {"runs:at", "runs:events", "kept"}
    await (redis_client.hset(place, "a", "b") if zset else redis_client.lpush(place, "x"))
    run = await world.frontier.runs.open("s", name="next", key="l")
    assert run.id != lost.id
    await push(world, run, 1)
    await world.frontier.runs.seal(run.id)
    await world.fetch()
    assert run.id in await over(world)
    await world.frontier.generations.tidy()


async def test_a_damaged_record_costs_that_run_alone(redis_client: Any) -> None:
    world = await timed(redis_client)
    lost, run = await world.frontier.runs.open("s", name="a"), await world.frontier.runs.open("s", name="b")
    raw = await redis_client.hget(world.frontier.shards.key(0, "runs"), lost.id)
    for damaged in (b"", raw[: len(raw) // 2], b"\x80", b"\x93\x01\x02\x03", b"x" * 300):
        await redis_client.hset(world.frontier.shards.key(0, "runs"), lost.id, damaged)
        assert [one.id for one in await world.frontier.runs.find()][:1] == [run.id]
        assert await world.frontier.runs.get(lost.id) is None
    await world.frontier.runs.seal(run.id)
    assert await over(world) == [run.id]
    assert (await world.frontier.runs.open("s", name="a")).name == "a"


async def test_a_page_was_fetched_before_where_the_run_says_so(redis_client: Any) -> None:
    world = await timed(redis_client)
    runs = world.frontier.runs
    first, recrawl = await runs.open("s"), await runs.open("s", fresh=True)
    await world.frontier.generations.open("s")
    later = await runs.open("s")
    found = [await runs.revisits(one) for one in ("0", "1", first.generation, recrawl.generation, later.generation)]
    assert found == [False, True, False, True, True]


async def test_a_push_seals_its_run_and_one_that_is_cut_short_leaves_it_open(redis_client: Any) -> None:
    world = await timed(redis_client)
    runs = world.frontier.runs
    async with PushedRun(runs, "s", WantedRun()) as whole:
        await world.frontier.push([message(1, generation=whole.generation)])
    assert whole.told() == f"run {BEGUN}-1"
    with pytest.raises(OSError, match="unplugged"):
        async with PushedRun(runs, "s", WantedRun("nightly", fresh=True)) as cut:
            raise OSError("unplugged")
    assert cut.told().startswith(f"run {BEGUN}-2, still open: ")
    async with PushedRun(runs, "s", WantedRun(run_id=f"{BEGUN}-2")) as again:
        again.incomplete = True
    found = [(run.name, run.state, run.producer) for run in await runs.find()]
    assert found == [("nightly", "open", "push"), ("push", "sealed", "push")]
    async with PushedRun(runs, "s", WantedRun(run_id=f"{BEGUN}-2")):
        pass
    assert (await runs.find())[0].state == "finished", "a push looks itself"


async def test_pushes_that_are_not_named_stand_beside_each_other_and_recrawls_do_not(redis_client: Any) -> None:
    world = await timed(redis_client)
    runs = world.frontier.runs
    for _ in range(2):
        async with PushedRun(runs, "s", WantedRun()) as run:
            await world.frontier.push([message(world.now, generation=run.generation, dedupe=False)])
    async with PushedRun(runs, "s", WantedRun(fresh=True)) as run:
        await world.frontier.push([message(1, generation=run.generation)])
    with pytest.raises(RunError, match="is also named 'recrawl' and is not over"):
        await PushedRun(runs, "s", WantedRun(fresh=True)).__aenter__()
    await world.frontier.runs.open("t", name="other")
    with pytest.raises(RunError, match=f"run {BEGUN}-4 is of t, not of s"):
        await PushedRun(runs, "s", WantedRun(run_id=f"{BEGUN}-4")).__aenter__()
    with pytest.raises(RunError, match="leave out --name"):
        WantedRun(name="x", run_id=f"{BEGUN}-4")


async def test_a_run_that_is_over_but_for_somebody_who_looks_is_in_nobodys_way(redis_client: Any) -> None:
    world = await timed(redis_client)
    runs = world.frontier.runs
    first = await runs.open("s", name="nightly")
    await push(world, first, 1)
    await runs.seal(first.id)
    await world.fetch()
    assert (await runs.open("s", name="nightly")).id == f"{BEGUN}-2"
    assert (await runs.get(first.id) or first).state == "finished"


class Fleet:
    """Workers of spiders, as their heartbeats show them."""

    def __init__(self, world: Timed) -> None:
        self.world = world
        self.frontier = world.frontier
        self.seeds = Seeds(world.client, "s:start_urls", claim=lambda: f"claim{world.now}")

    async def beat(self, spider: str = "s", worker: str = "w", **info: Any) -> None:
        await self.frontier.inspection.heartbeat(worker, {"spider": spider, "outbox": 0, "starting": False, **info})

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


async def test_one_that_its_producer_left_open_is_not_kept_for_ever(redis_client: Any) -> None:
    world = await timed(redis_client, retention_ms=60_000)
    run, busy = await world.frontier.runs.open("s"), await world.frontier.runs.open("s")
    await push(world, run, 1)
    await world.fetch()
    await push(world, busy, 2)
    for _ in range(2):
        await world.pass_ms(20_000)
        assert await over(world) == []
    for _ in range(2):
        await world.pass_ms(20_000)
    assert await over(world) == [run.id]


async def test_a_run_whose_opening_was_cut_short_knows_what_it_should_when_it_goes_on(redis_client: Any) -> None:
    world = await timed(redis_client, shards=2)
    await world.frontier.push([message(1), message(2, "b.example")])
    run = await world.frontier.runs.open("s")
    for shard in range(2):
        await redis_client.delete(world.frontier.shards.key(shard, f"gen:s:{run.generation}"))
    await world.frontier.runs.resume(run.id)
    assert await push(world, run, 1) == [PushOutcome.DUPLICATE]
    assert await push(world, run, 2, host="b.example") == [PushOutcome.DUPLICATE]


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


async def test_letters_without_their_fields_can_be_dropped_and_tried_again(redis_client: Any) -> None:
    world = await timed(redis_client)
    run = await world.frontier.runs.open("s", fresh=True)
    await push(world, run, 1, 2, 3)
    for handle in handles(leases := await world.lease()):
        await world.frontier.bury(*handle, reason="blocked")
    place = world.frontier.shards.key(0, "dead")
    for number, raw in (await redis_client.hgetall(place)).items():
        letter = msgpack.unpackb(raw, raw=True) | {b"at": b"?"}
        del letter[b"reason"]
        await redis_client.hset(place, number, msgpack.packb(letter, use_bin_type=False))
    assert await push(world, run, 1) == [PushOutcome.DUPLICATE_DEAD]
    again = await world.frontier.runs.open("s", fresh=True)
    assert await push(world, again, 1, 2) == [PushOutcome.ACCEPTED] * 2
    assert await world.frontier.dead.drop([leases[2].id]) == [True]
    assert sorted(await world.fetch()) == [1, 2]
    assert (await counts(world, again)).done == 2
