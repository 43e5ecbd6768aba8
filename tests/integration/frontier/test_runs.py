"""Runs: opened, counted, ended once, whatever happens to who crawls and looks."""

from __future__ import annotations

import asyncio
from typing import Any

import msgpack
import pytest

from crawler.extensions.run_hooks import find_failing
from crawler.frontier.messages import PushOutcome
from crawler.frontier.run_record import RunCounts, RunError, run_id_of
from crawler.frontier.runs.runs import Runs
from crawler.frontier.script_constants import GENERATIONS_AT_ONCE
from crawler.policy.webhooks import ENOUGH
from tests.integration.frontier.harness import all_keys, everywhere
from tests.integration.frontier.making import acked, handles, message, open_generation, timed
from tests.integration.frontier.running import BEGUN, DAY_MS, counts, events, over, push


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
    await acked(world.frontier, handles(leases[:1]))
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
    snapshot = world.frontier.runs._snapshot

    async def busy() -> Any:
        await push(world, other, world.now)
        world.now += 1
        return await snapshot()

    world.frontier.runs._snapshot = busy  # type: ignore[method-assign]
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
            await acked(world.frontier, handles(parent))
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
    assert await acked(world.frontier, handles(first)) == [False]
    assert await over(world) == []
    assert await acked(world.frontier, handles(second)) == [True]
    assert await over(world) == [run.id]
    assert await counts(world, run) == RunCounts(accepted=1, done=1)


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
    kept: list[bytes] = await all_keys(redis_client, "*:gen:*")
    assert sorted(key.decode().rpartition(":")[2] for key in kept) == ["", "0", waiting.generation]
    assert await push(world, waiting, 7) == [PushOutcome.ACCEPTED]


async def test_a_run_keeps_the_fingerprints_that_it_shares(redis_client: Any) -> None:
    world = await timed(redis_client, retention_ms=60_000)
    await world.frontier.push([message(1)])
    run = await world.frontier.runs.open("s")
    await world.fetch()
    await open_generation(world.frontier, "s")
    for _ in range(9):
        await world.pass_ms(20_000)
    await world.frontier.generations.tidy()
    assert await push(world, run, 1) == [PushOutcome.DUPLICATE]
    await world.frontier.runs.seal(run.id)
    assert await over(world) == [run.id]
    for _ in range(2):
        await world.frontier.generations.tidy()
        await world.pass_ms(10)
    left = await all_keys(redis_client, "*:seen:*")
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


@pytest.mark.one_server("what is stored is the same on each node")
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


@pytest.mark.one_server("what is stored is the same on each node")
async def test_fewer_are_kept_in_the_end_than_before_and_no_call_forgets_very_many(redis_client: Any) -> None:
    """100,000 that were too many held the server up for seconds when a run was opened."""
    world = await timed(redis_client, runs_kept=1_000)
    for number in range(250):
        await world.frontier.runs.open("s", key=f"k:{number}", overlap="allow")
    runs, live = (world.frontier.shards.key(0, name) for name in ("runs", "runs:live"))
    oldest = [f"{BEGUN}-{number}" for number in range(1, 21)]
    await redis_client.srem(live, *(await redis_client.smembers(live)).difference(name.encode() for name in oldest))
    world = await timed(redis_client, runs_kept=30)
    left = []
    for _ in range(4):
        await world.frontier.runs.open("s")
        left.append(await redis_client.hlen(runs))
    assert left == [151, 52, 30, 30], "a hundred fewer, and one more, each time"
    assert {run.id for run in await world.frontier.runs.find(limit=99)} > set(oldest), "which are not over"


@pytest.mark.parametrize("wrong", ["", "1", "20231114", "20231114-", "x-1", "20231114-1\n", "\ud800"])
@pytest.mark.one_server("what is stored is the same on each node")
async def test_what_is_no_run_is_refused(redis_client: Any, wrong: str) -> None:
    world = await timed(redis_client)
    for call in (world.frontier.runs.seal, world.frontier.runs.resume):
        with pytest.raises(RunError, match="is not a run"):
            await call(wrong)
    with pytest.raises(RunError, match="there is no run 20231114-9"):
        await world.frontier.runs.seal("20231114-9")
    assert await world.frontier.runs.get("20231114-9") is None


@pytest.mark.parametrize("name", ["x" * 256, "two\nlines", "\x00", "\ud800"])
@pytest.mark.one_server("what is stored is the same on each node")
async def test_a_name_that_cannot_be_shown_is_refused(redis_client: Any, name: str) -> None:
    world = await timed(redis_client)
    with pytest.raises(RunError, match=r"name .* of a run: expected at most 255 bytes"):
        await world.frontier.runs.open("s", name=name)


@pytest.mark.parametrize(("held", "number"), [(7, 8), (0, 1), (2 * 10**6, 1)])
async def test_the_number_of_a_run_of_which_workers_hold_pages_is_not_given_again(
    redis_client: Any, held: int, number: int
) -> None:
    """Redis was emptied meanwhile: what these pages lead to must not count in another run."""
    world = await timed(redis_client)
    await world.frontier.workers.heartbeat("w", {}, ["s"], newest=str(int(BEGUN) * 10**6 + held) if held else "0")
    assert (await world.frontier.runs.open("s")).id == f"{BEGUN}-{number}"
    await world.frontier.workers.heartbeat("w", {}, ["s"], newest=f"{BEGUN}000001")
    assert (await world.frontier.runs.open("s")).id == f"{BEGUN}-{number + 1}"


@pytest.mark.parametrize("key", ["runs", "runs:at", "runs:live", "runs:keys", "runs:last", "runs:events", "kept"])
@pytest.mark.one_server("what is stored is the same on each node")
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


@pytest.mark.one_server("what is stored is the same on each node")
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
    await open_generation(world.frontier, "s")
    later = await runs.open("s")
    found = [await runs.revisits(one) for one in ("0", "1", first.generation, recrawl.generation, later.generation)]
    assert found == [False, True, False, True, True]


async def test_a_lost_runs_number_says_nothing_of_the_one_that_gets_it_next(redis_client: Any) -> None:
    world = await timed(redis_client)
    runs, found = world.frontier.runs, []
    for fresh in (False, True):
        run = await runs.open("s", fresh=fresh)
        found.append((run.generation, await runs.revisits(run.generation)))
        await redis_client.flushall(**everywhere(redis_client))
        await world.be_silent(0)
        runs.forget()
    assert found == [(run.generation, False), (run.generation, True)]


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


@pytest.mark.one_server("what is stored is the same on each node")
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


async def test_a_run_that_was_reopened_does_not_end_by_what_was_seen_before(redis_client: Any) -> None:
    world = await timed(redis_client)
    runs, shards = world.frontier.runs, world.frontier.shards
    run = await runs.open("s", fresh=True)
    seen = await runs.seal(run.id)
    await runs.resume(run.id)
    await world.pass_ms(1)
    again = await runs.seal(run.id)
    ends = [await shards.run("run_end", 0, run.id, at, b"\x80", b"", 0) for at in (seen.sealed_ms, again.sealed_ms)]
    assert [bool(raw) for raw in ends] == [False, True]


async def test_a_cancelled_run_stays_sealed_whoever_would_go_on(redis_client: Any) -> None:
    world = await timed(redis_client)
    run = await world.frontier.runs.open("s", fresh=True)
    await push(world, run, 1)
    await world.frontier.runs.cancel(run.id)
    with pytest.raises(RunError, match="cancelled"):
        await world.frontier.runs.resume(run.id)
    assert (await world.frontier.runs.get(run.id)).state == "sealed"  # type: ignore[union-attr]


async def test_that_too_much_fails_is_told_once_and_not_of_what_is_over(redis_client: Any) -> None:
    world = await timed(redis_client)
    run = await world.frontier.runs.open("s", fresh=True)
    assert [await world.frontier.runs.alarm(run.id) for _ in range(3)] == [True, False, False]
    assert [event for event, _ in await events(world)] == [b"start", b"failing"]
    other = await world.frontier.runs.open("s", fresh=True)
    await world.frontier.runs.seal(other.id)
    assert await over(world) == [other.id]
    assert not await world.frontier.runs.alarm(other.id)


async def test_a_run_that_fails_is_told_however_many_came_after_it(redis_client: Any) -> None:
    world = await timed(redis_client)
    run = await world.frontier.runs.open("s", name="nightly", fresh=True)
    await push(world, run, *range(ENOUGH))
    while leases := handles(await world.lease()):
        for lease in leases:
            await world.frontier.bury(*lease, reason="http_500")
    for _ in range(30):
        await world.frontier.runs.open("s", fresh=True)
    await find_failing(world.frontier.runs, 0.2)
    assert [told for told in await events(world) if told[0] == b"failing"] == [(b"failing", run.id.encode())]
    assert {one.counts.dead for one in await world.frontier.runs.under_way("s")} == {0, ENOUGH}
    assert await world.frontier.runs.under_way("t") == []


@pytest.mark.one_server("one key of shard 0")
@pytest.mark.parametrize("noise", ["1e400", "nan", "-1", "x", "9" * 30, ""])
async def test_a_last_number_that_is_none_costs_no_run(redis_client: Any, noise: str) -> None:
    world = await timed(redis_client)
    first = await world.frontier.runs.open("s")
    await redis_client.set(world.frontier.shards.key(0, "runs:last"), noise)
    await world.frontier.generations.sweep()
    second = await world.frontier.runs.open("s")
    assert [first.id, second.id] == [f"{BEGUN}-1", f"{BEGUN}-2"]


@pytest.mark.one_server("a matter of size")
async def test_hundreds_of_runs_at_once_are_looked_at_in_slices(
    redis_client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = await timed(redis_client)
    generations = [f"20261122{number:06}" for number in range(1, GENERATIONS_AT_ONCE + 32)]
    await world.frontier.push([message(1, stream=f"s{n % 3}", generation=one) for n, one in enumerate(generations)])
    asked, run = list[int](), world.frontier.shards.run

    async def counted(name: str, shard: int, *arguments: Any) -> Any:
        asked.append(len(arguments))
        return await run(name, shard, *arguments)

    monkeypatch.setattr(world.frontier.shards, "run", counted)
    (answer,) = await world.frontier.shards.stats_all()
    assert asked == [0, 31]
    assert sorted(name.decode().rpartition(":")[2] for name, _ in answer.generations) == generations
    assert sorted(row[0] for row in answer.streams) == [b"s0", b"s1", b"s2"]
    assert (await world.frontier.inspection.stats()).total.queued == len(generations)


@pytest.mark.one_server("the first shard has it all")
@pytest.mark.parametrize("list_of_runs", ["runs:live", "runs:at"])
async def test_a_run_that_a_list_has_lost_is_listed_again_and_ends(redis_client: Any, list_of_runs: str) -> None:
    world = await timed(redis_client)
    frontier = world.frontier
    run = await frontier.runs.open("s", name="nightly")
    await frontier.push([message(1, generation=run.generation)])
    await frontier.runs.seal(run.id)
    await redis_client.delete(frontier.shards.key(0, list_of_runs))
    assert await world.fetch() == [1]
    await frontier.generations.tidy()
    await frontier.runs.settle()
    assert [(one.id, one.state) for one in await frontier.runs.find("s")] == [(run.id, "finished")]
    assert await redis_client.smembers(frontier.shards.key(0, "runs:live")) == set()
