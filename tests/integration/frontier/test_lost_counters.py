"""Counters in Redis that were damaged: what is queued is not taken for finished, and is counted again."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from crawler.commands.views.status_snapshot import take_snapshot
from crawler.commands.views.status_view import verdict
from crawler.frontier.joining import join
from crawler.frontier.server.layout import check
from tests.integration.frontier.making import Timed, acked, handles, message, timed

LATER_MS = 30_000


async def replaced(client: Any, key: str) -> None:
    await client.delete(key)
    await client.set(key, "garbage")


async def no_numbers(client: Any, key: str) -> None:
    await client.hset(key, mapping={"queued": "many", "delayed": "some", "leased": ""})


async def deleted(client: Any, key: str) -> None:
    await client.delete(key)


async def all_deleted(client: Any, key: str) -> None:
    """The state, the names and the counters: only what is queued, leased and delayed is left."""
    tag = key.rpartition(":")[0]
    await client.delete(key, f"{tag}:gens", *await client.keys(tag.replace("{", "\\{") + ":gen:*"))


HARMS: dict[str, tuple[str, Callable[[Any, str], Awaitable[None]]]] = {
    "names, another type": ("gens", replaced),
    "names, deleted": ("gens", deleted),
    "counters, another type": ("gen:s:0", replaced),
    "counters, deleted": ("gen:s:0", deleted),
    "counters, no numbers": ("gen:s:0", no_numbers),
    "names, counters and state, deleted": ("state", all_deleted),
}


async def harmed(client: Any, kind: str) -> Timed:
    """Five requests are queued, one is delayed, one was done; then the damage."""
    world = await timed(client, lease_ms=600_000, queue_limit=20)
    await world.frontier.push([message(number, "a.example", delay_ms=1_000) for number in range(6)])
    await world.frontier.push([message(9, "b.example", not_before_ms=world.now + LATER_MS)])
    await world.fetch(1)
    place, harm = HARMS[kind]
    await harm(client, world.frontier.shards.key(0, place))
    return world


@pytest.mark.one_server("the first shard has it all")
@pytest.mark.parametrize("kind", list(HARMS))
async def test_nobody_takes_what_is_not_counted_for_finished(redis_client: Any, kind: str) -> None:
    world = await harmed(redis_client, kind)
    frontier = world.frontier
    assert not await frontier.inspection.empty("s")
    joined = await join(frontier.shards, frontier.inspection, spider="s", endless=False, arguments={})
    assert not joined.is_over, "a new worker goes on with it"
    run = await frontier.runs.open("other")  # which knows its own generation again, and no other
    await frontier.push([message(1, "c.example", "other", generation=run.generation)])
    assert not await frontier.inspection.empty("s")


@pytest.mark.one_server("the first shard has it all")
@pytest.mark.parametrize("kind", list(HARMS))
async def test_what_is_queued_is_counted_again(redis_client: Any, kind: str) -> None:
    world = await harmed(redis_client, kind)
    frontier = world.frontier
    await frontier.generations.tidy()
    total = (await frontier.inspection.stats("s")).total
    assert (total.queued, total.leased) == (5, 0)
    done = []
    for _ in range(8):
        done += await world.fetch(1)
        await world.pass_ms(LATER_MS // 6)
        await frontier.generations.tidy()
    assert sorted(done) == [1, 2, 3, 4, 5, 9]
    total = (await frontier.inspection.stats("s")).total
    assert (total.queued, total.delayed, total.leased, total.dropped) == (0, 0, 0, 0)
    assert await frontier.inspection.empty("s")
    assert (await frontier.lease(["s"], 1, worker="w")).queued == 0, "nothing is missing beneath FRONTIER_QUEUE_LIMIT"


@pytest.mark.one_server("the first shard has it all")
async def test_noise_in_a_queue_is_not_taken_for_a_request_that_is_counted_nowhere(redis_client: Any) -> None:
    world = await timed(redis_client)
    frontier = world.frontier
    await frontier.push([message(number, delay_ms=1_000) for number in range(2)])
    await redis_client.lpush(frontier.shards.key(0, "q:s:a.example"), b"garbage", b"more")
    done = []
    for _ in range(3):
        done += await world.fetch(1)
        await world.pass_ms(1_000)
    assert done == [0, 1]
    assert await frontier.inspection.empty("s")


@pytest.mark.one_server("the first shard has it all")
async def test_names_are_found_whatever_the_prefix(redis_client: Any) -> None:
    world = await timed(redis_client, key="a[b]*?\\c^")
    frontier = world.frontier
    await frontier.push([message(number, stream="s:browser", generation="7", delay_ms=1_000) for number in (1, 2)])
    await replaced(redis_client, frontier.shards.key(0, "gens"))
    assert not await frontier.inspection.empty("s")
    batch = await frontier.lease(["s:browser"], 1, worker="w")
    await acked(frontier, handles(batch.leases))
    assert set((await frontier.inspection.stats()).generations) == {("s", "7")}


@pytest.mark.one_server("the first shard has it all")
@pytest.mark.parametrize("kind", list(HARMS))
async def test_status_tells_damaged_counters_from_a_finished_crawl(redis_client: Any, kind: str) -> None:
    world = await harmed(redis_client, kind)
    before = verdict(await take_snapshot(world.frontier, "s"))
    assert "Finished" not in before
    assert "Nothing is pushed" not in before
    await world.frontier.generations.tidy()
    counted = await take_snapshot(world.frontier, "s")
    assert counted.pending + counted.uncounted == 6, "a delayed one is counted once it is due"


@pytest.mark.one_server("the first shard has it all")
async def test_nothing_is_finished_early_where_names_counters_and_state_are_lost(redis_client: Any) -> None:
    """The tier's page is queued, the run's are leased: one is put back, and the other one is done."""
    world = await timed(redis_client, lease_ms=600_000)
    frontier = world.frontier
    run = await frontier.runs.open("s")
    await frontier.push([message(number, f"{number}.example", generation=run.generation) for number in (1, 2)])
    await frontier.runs.seal(run.id)
    held = await world.lease()
    await frontier.push([message(3, "3.example", stream="s:browser")])
    await all_deleted(redis_client, frontier.shards.key(0, "state"))
    assert not await frontier.inspection.empty("s")
    assert [run.state for run in await frontier.runs.find()] == ["sealed"]
    assert await frontier.runs.settle() == []
    await frontier.push([message(4)])
    ids = {lease.id for lease in held}
    assert {lease.id for lease in await world.lease()}.isdisjoint(ids), "no id is given out twice"
    await frontier.generations.tidy()
    await frontier.give_back(handles(held[:1]))
    await acked(frontier, handles(held[1:]))
    await frontier.generations.tidy()
    assert await frontier.runs.settle() == [], "one of its pages is queued"
    assert len(await world.fetch()) == 1
    await frontier.generations.tidy()
    assert [run.state for run in await frontier.runs.settle()] == ["finished"]
    assert not await frontier.inspection.empty("s"), "what waits for a browser"
    assert await world.fetch(streams=("s:browser",)) == [3]


@pytest.mark.one_server("the first shard has it all")
async def test_status_names_what_was_set_aside(redis_client: Any) -> None:
    world = await harmed(redis_client, "counters, another type")
    await world.frontier.generations.tidy()
    key = world.frontier.shards.key(0, "gen:s:0")
    assert (await take_snapshot(world.frontier, "s")).set_aside == [key]


async def test_a_number_of_shards_that_is_none_is_named(redis_client: Any) -> None:
    world = await timed(redis_client)
    shards = world.frontier.shards
    await redis_client.set(shards.key(0, "shards"), b"-1e9")
    await check(shards)
    assert (await take_snapshot(world.frontier, None)).set_aside == [shards.key(0, "shards")]
    assert int(await redis_client.get(shards.key(0, "shards"))) == shards.count


@pytest.mark.one_server("the first shard has it all")
async def test_a_name_that_is_lost_alone_is_found_again(redis_client: Any) -> None:
    world = await timed(redis_client)
    frontier = world.frontier
    await frontier.push([message(number, delay_ms=1_000) for number in range(2)])
    await frontier.push([message(9, stream="s:browser")])
    await redis_client.srem(frontier.shards.key(0, "gens"), "s:browser:0")
    for _ in range(4):
        assert not await frontier.inspection.empty("s")
        await world.fetch(1)
        await world.pass_ms(1_000)
        await frontier.generations.tidy()
    assert (await frontier.inspection.stats("s")).total.queued == 1
    assert await world.fetch(streams=("s:browser",)) == [9]
    assert await frontier.inspection.empty("s")
