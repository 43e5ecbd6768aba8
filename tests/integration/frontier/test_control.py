"""Pause, resume, cancel, purge: at every step of a request's life, whoever holds it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from crawler.frontier.messages import Lease, PushOutcome
from crawler.frontier.run_record import Run, RunError
from crawler.frontier.runs import control
from crawler.frontier.runs.control import ControlState, Target, lua_pattern, run_target
from crawler.frontier.state.statement import Statement
from crawler.policy.pace import Pace
from tests.integration.frontier.harness import all_keys
from tests.integration.frontier.making import Timed, acked, answer, handles, message, reported, sent, timed
from tests.integration.frontier.observation import STATE, STATE_FIELDS
from tests.unit.frontier.fakes import lease as made_lease


async def opened(world: Timed, numbers: range = range(6), **fields: Any) -> Run:
    """A run with these requests, sealed."""
    run = await world.frontier.runs.open("s", name="n", fresh=True)
    given = {"cap": 10, "generation": run.generation, **fields}
    await world.frontier.push([message(number, **given) for number in numbers])
    return await world.frontier.runs.seal(run.id)


async def finished(world: Timed, run: Run) -> Run:
    """The run, once it is over; whoever looks clears what is left of it."""
    await world.frontier.runs.clear()
    await world.frontier.runs.settle()
    found = await world.frontier.runs.get(run.id)
    assert found is not None
    return found


async def test_a_paused_spider_is_not_leased_from_and_goes_on_when_resumed(redis_client: Any) -> None:
    world = await timed(redis_client)
    await world.frontier.push([message(1), message(2, "b.example", stream="t")])
    assert await world.frontier.control.say("pause", "spider s")
    assert not await world.frontier.control.say("pause", "spider s")
    assert await world.bodies(streams=("s", "t")) == [2]
    await world.frontier.control.say("resume", "spider s")
    assert await world.bodies() == [1]


async def test_a_paused_host_waits_and_others_go_on(redis_client: Any) -> None:
    world = await timed(redis_client)
    await world.frontier.push([message(1, "a.example"), message(2, "b.example")])
    await world.frontier.control.say("pause", "host a.example")
    assert await world.bodies() == [2]
    await world.frontier.control.say("resume", "host a.example")
    await world.pass_ms(2_001)
    assert await world.bodies() == [1]


@pytest.mark.parametrize("what", ["host a.example", "spider s"])
async def test_what_goes_beside_the_queue_waits_while_it_is_paused(redis_client: Any, what: str) -> None:
    """robots.txt and media: an operator who pauses a host means every request to it."""
    world = await timed(redis_client)
    world.frontier.rules.statement = Statement("s", Pace(0, 1, 1), {})
    await world.frontier.control.say("pause", what)
    refused = await world.frontier.reserve_slot("a.example", worker="w")
    assert (refused.token, refused.lost, refused.wait_ms) == (None, False, 1_000)
    other = await world.frontier.reserve_slot("b.example", worker="w")
    assert (other.token is None) is what.startswith("spider")
    await world.frontier.control.say("resume", what)
    assert (await world.frontier.reserve_slot("a.example", worker="w")).token is not None


@pytest.mark.parametrize("delay_ms", [0, 100])
async def test_a_paused_run_is_set_aside_and_goes_on_in_its_order(redis_client: Any, delay_ms: int) -> None:
    world = await timed(redis_client)
    run = await opened(world, delay_ms=delay_ms)
    await world.frontier.push([message(9, cap=10, delay_ms=delay_ms)])
    await world.frontier.control.say("pause", run_target(run))
    assert await world.fetch() == [9]
    counted = await world.frontier.runs.get(run.id)
    assert counted is not None
    assert (counted.counts.delayed, counted.counts.queued) == (6, 0)
    assert await world.frontier.control.sort_aside() == 0
    await world.frontier.control.say("resume", run_target(run))
    assert await world.frontier.control.sort_aside() == 6
    leased = []
    for _ in range(8):
        await world.pass_ms(101)
        leased += await world.fetch()
    assert leased == list(range(6))
    assert (await finished(world, run)).state == "finished"


@pytest.mark.parametrize("is_cancelled", [True, False])
async def test_a_run_that_is_over_is_paused_no_more(redis_client: Any, is_cancelled: bool) -> None:
    world = await timed(redis_client)
    run = await opened(world, range(1))
    leases = handles(await world.lease())
    await world.frontier.control.say("pause", run_target(run))
    if is_cancelled:
        await world.frontier.runs.cancel(run.id)
    await acked(world.frontier, leases)
    assert (await finished(world, run)).is_over
    assert (await world.frontier.control.said()).paused == []


async def test_a_cancelled_run_drops_what_would_be_queued_again_at_every_step(redis_client: Any) -> None:
    world = await timed(redis_client)
    frontier = world.frontier
    run = await opened(world, range(12))
    first = await world.lease(6)
    done_one, nacked, delayed, moved, given, expired = first
    [waiting] = await world.lease(1)
    assert await frontier.nack(waiting.id, waiting.token, delay_ms=60_000) == 1
    assert (await frontier.runs.cancel(run.id)).cancelled_ms
    assert await frontier.push([message(50, generation=run.generation)]) == [PushOutcome.CANCELLED]
    assert await frontier.push([message(51, generation=run.generation)], forced=True) == [PushOutcome.CANCELLED]
    assert await world.bodies() == [], "what is queued is set aside, whoever leases"
    assert await acked(frontier, handles([done_one])) == [True]
    assert await frontier.nack(nacked.id, nacked.token, delay_ms=0) == 1
    assert await frontier.nack(delayed.id, delayed.token, delay_ms=5_000) == 1
    assert await frontier.move(moved.id, moved.token, stream="s:browser", delay_ms=100)
    assert await frontier.give_back(handles([given])) == [True]
    assert (await finished(world, run)).state == "sealed", "one is leased"
    await world.pass_ms(frontier.config.lease_ms * 3)
    await frontier.shards.run_all("reap")
    assert await acked(frontier, handles([expired])) == [False]
    done = await finished(world, run)
    assert done.state == "cancelled"
    assert (done.counts.accepted, done.counts.done, done.counts.dropped) == (12, 1, 11)
    assert done.counts.dropped_by == {"cancelled": 11}
    assert (await frontier.inspection.stats()).total.backlog == 0
    assert await world.bodies() == []


Step = Callable[[Timed, Lease], Awaitable[Any]]


async def stays(world: Timed, lease: Lease) -> None:
    """Nothing is done with the lease."""


async def on_the_wire(world: Timed, lease: Lease) -> None:
    await sent(world.frontier, handles([lease]))


async def in_the_callback(world: Timed, lease: Lease) -> None:
    await world.frontier.settle(handles([lease]), [answer((lease.id, lease.token))])


async def follows_a_redirect(world: Timed, lease: Lease) -> None:
    await in_the_callback(world, lease)
    await world.frontier.reserve_slot(lease.host, worker="w", lease=(lease.id, lease.token))


async def waits_for_room(world: Timed, lease: Lease) -> None:
    await in_the_callback(world, lease)
    await world.frontier.renew(handles([lease]), for_room=True)


async def leads_elsewhere(world: Timed, lease: Lease) -> None:
    """A redirect to another host, or a link: a child, which is pushed before its parent ends."""
    child = message(90, "b.example", generation=lease.generation)
    assert await world.frontier.push([child], forced=True) == [PushOutcome.CANCELLED]
    await acked(world.frontier, handles([lease]))


STEPS: tuple[Step, ...] = (stays, on_the_wire, in_the_callback, follows_a_redirect, waits_for_room)
ENDS: dict[str, Step] = {
    "done": lambda world, lease: acked(world.frontier, handles([lease])),
    "gone": lambda world, lease: world.frontier.end_gone(lease.id, lease.token, reason="http_404", detail={}),
    "dead": lambda world, lease: world.frontier.bury(lease.id, lease.token, reason="test"),
    "retried": lambda world, lease: world.frontier.nack(lease.id, lease.token, delay_ms=0),
    "delayed": lambda world, lease: world.frontier.nack(lease.id, lease.token, delay_ms=7_000),
    "moved": lambda world, lease: world.frontier.move(lease.id, lease.token, stream="s:browser"),
    "moved later": lambda world, lease: world.frontier.move(lease.id, lease.token, stream="s:browser", delay_ms=7_000),
    "given back": lambda world, lease: world.frontier.give_back(handles([lease])),
    "put off": lambda world, lease: world.frontier.put_off(handles([lease]), delay_ms=7_000),
    "leads elsewhere": leads_elsewhere,
    "killed": stays,
}
KEPT = {"done": "done", "gone": "done", "dead": "dead", "leads elsewhere": "done"}  # all else is dropped


@pytest.mark.one_server("the same scripts")
@pytest.mark.parametrize("frozen", [False, True])
@pytest.mark.parametrize("step", STEPS)
async def test_cancel_meets_a_request_at_any_step_of_its_life(redis_client: Any, step: Step, frozen: bool) -> None:
    """Whatever its worker does next, or, frozen, once its lease has expired: it ends as it does, or is dropped."""
    world = await timed(redis_client)
    frontier = world.frontier
    run = await opened(world, range(len(ENDS)), cap=20)
    of: dict[str, Any] = {"cap": 20, "generation": run.generation}
    await frontier.push([message(50, not_before_ms=world.now + 10**7, **of)])
    leases = await world.lease(len(ENDS))
    await frontier.push([message(51, **of)])
    for lease in leases:
        await step(world, lease)
    await frontier.runs.cancel(run.id)
    for _ in range(10 * frozen):
        await world.pass_ms(frontier.config.lease_ms // 5)
        await frontier.shards.run_all("reap")
    for how, lease in zip(ENDS, leases, strict=True):
        await ENDS[how](world, lease)
    left = await frontier.runs.get(run.id)
    assert left is not None
    assert (left.counts.delayed, left.counts.queued) == (1, 1), "nothing is queued again"
    for _ in range(10):
        await world.pass_ms(frontier.config.lease_ms // 5)
        assert await world.bodies(streams=("s", "s:browser"), suspects_ok=True) == []
    found = await finished(world, run)
    kept = Counter(KEPT.values() if not frozen else ())
    assert found.state == "cancelled"
    assert found.counts.accepted == len(ENDS) + 2
    assert (found.counts.done, found.counts.dead) == (kept["done"], kept["dead"])
    assert found.counts.dropped_by == {"cancelled": len(ENDS) + 2 - kept.total()}
    assert (await frontier.inspection.stats()).total.backlog == 0


async def test_what_is_delayed_or_dead_of_a_cancelled_run_is_not_queued_when_its_time_comes(redis_client: Any) -> None:
    world = await timed(redis_client)
    frontier = world.frontier
    run = await opened(world, range(3))
    later, put_off, dead = await world.lease(3)
    await frontier.nack(later.id, later.token, delay_ms=1_000)
    await frontier.put_off(handles([put_off]), delay_ms=1_000)
    await frontier.bury(dead.id, dead.token, reason="test")
    await frontier.control.say("pause", "host a.example")
    await frontier.runs.cancel(run.id)
    await world.pass_ms(1_001)
    await frontier.shards.run_all("reap")
    await frontier.recall()
    [letter] = await frontier.dead.find()
    assert await frontier.dead.retry([letter.id]) == [False]
    counted = await frontier.runs.get(run.id)
    assert counted is not None
    assert (counted.counts.pending, counted.counts.dead, counted.counts.dropped_by) == (0, 1, {"cancelled": 2})


async def test_another_run_may_have_what_a_cancelled_one_had(redis_client: Any) -> None:
    world = await timed(redis_client)
    await world.frontier.push([message(0)])
    await world.fetch()
    run = await world.frontier.runs.open("s", name="wrong file")
    await world.frontier.push([message(n, generation=run.generation) for n in range(4)])
    leases = await world.lease(1)
    await world.frontier.runs.cancel(run.id)
    assert await world.frontier.give_back(handles(leases)) == [True]
    await finished(world, run)
    outcomes = await world.frontier.push([message(number) for number in range(4)])
    assert outcomes == [PushOutcome.DUPLICATE] + [PushOutcome.ACCEPTED] * 3


async def test_a_run_is_cancelled_among_others_of_its_host(redis_client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(control, "SLICE", 3)
    world = await timed(redis_client)
    await world.frontier.push([message(number, cap=50) for number in range(10)])
    run = await opened(world, range(20, 30), cap=50)
    await world.frontier.push([message(number, cap=50, priority=number % 3) for number in range(40, 50)])
    before = [*range(10), *range(40, 50)]
    await world.frontier.runs.cancel(run.id)
    assert (await finished(world, run)).counts.dropped == 10
    leased = []
    while found := await world.fetch(5):
        leased += found
    assert sorted(leased) == before
    assert leased.index(0) < leased.index(9)


@pytest.mark.parametrize("given", [{}, {"host": "h7.example"}, {"host": "h7.example", "priority": 3}])
async def test_what_is_queued_of_other_runs_is_neither_moved_nor_asked_for_host_by_host(
    redis_client: Any, monkeypatch: pytest.MonkeyPatch, given: dict[str, Any]
) -> None:
    """5,000 hosts of another run took half a minute, and their queues cost more memory from then on."""
    world = await timed(redis_client)
    await world.frontier.push([message(n, f"h{n % 60}.example", cap=9) for n in range(180)])
    run, asked = await opened(world, range(200, 204), **given), list[str]()
    ask = world.frontier.shards.run

    async def counting(name: str, *arguments: Any) -> Any:
        asked.append(name)
        return await ask(name, *arguments)

    monkeypatch.setattr(world.frontier.shards, "run", counting)
    await world.frontier.runs.cancel(run.id)
    assert (await finished(world, run)).counts.dropped == 4
    assert len(asked) < 30
    early = [key for key in await all_keys(world.client) if b":early:" in key]
    assert len(early) == ("host" in given)


async def test_a_pattern_is_dropped_reprioritised_and_moved(redis_client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(control, "SLICE", 4)
    world = await timed(redis_client)

    def request(number: int, path: str) -> Any:
        url = f"https://a.example/{path}/{number}.html".encode()
        body = b"\x81\xa1u" + b"\xd9" + bytes([len(url)]) + url
        return message(number, cap=50, body=body)

    await world.frontier.push([request(number, "shop" if number % 2 else "blog") for number in range(20)])
    shop = Target("s", host="a.example", pattern=lua_pattern("*/shop/*"))
    assert await world.frontier.control.sift(shop, "count") == 10
    assert await world.frontier.control.sift(shop, "priority", "7") == 10
    leases = await world.lease(4)
    assert [lease.priority for lease in leases] == [7] * 4
    await world.frontier.give_back(handles(leases))
    assert await world.frontier.control.sift(Target("s", pattern=lua_pattern("*1*.html")), "drop", "purged") == 11
    left = (await world.frontier.inspection.stats()).total
    assert await world.frontier.control.sift(Target("s"), "stream", "s:browser") == left.queued
    assert await world.bodies() == []
    moved = await world.lease(streams=("s:browser",))
    assert len(moved) == left.queued == 9
    stats = await world.frontier.inspection.stats()
    assert stats.tiers["s", "browser"].accepted == 9
    assert stats.total.accepted == 20


async def test_the_crawl_that_start_urls_join_cannot_be_cancelled(redis_client: Any) -> None:
    world = await timed(redis_client)
    run = await world.frontier.runs.begin("s", "0")
    await world.frontier.push([message(1)])
    with pytest.raises(RunError, match="purge --spider s"):
        await world.frontier.runs.cancel(run.id)
    assert await world.bodies() == [1]


async def test_why_a_request_was_put_back_is_forgotten_with_it(redis_client: Any) -> None:
    world = await timed(redis_client)
    run = await opened(world, range(4))
    delays = (0, 1_000, 1_000, 0)  # dropped where it is queued, delayed, when its time comes, or leased once more
    for lease, delay in zip(await world.lease(4), delays, strict=True):
        assert await world.frontier.nack(lease.id, lease.token, delay_ms=delay, reason="http_503")
    [held] = await world.lease(1)
    why = world.frontier.shards.key(0, "why")
    assert await redis_client.hlen(why) == 4
    await world.frontier.runs.cancel(run.id)
    assert await world.frontier.nack(held.id, held.token, delay_ms=0, reason="http_503")
    await world.pass_ms(2_000)
    await world.lease()
    assert (await finished(world, run)).counts.dropped == 4
    assert await redis_client.hgetall(why) == {}
    await world.frontier.push([message(9)])
    [lease] = await world.lease()
    await world.frontier.nack(lease.id, lease.token, delay_ms=0, reason="http_503")
    assert await world.frontier.control.sift(Target("s"), "drop", "purged") == 1
    assert await redis_client.hgetall(why) == {}


@pytest.mark.parametrize("purged", [False, True])
async def test_suspects_are_paused_and_dropped_too(redis_client: Any, purged: bool) -> None:
    world = await timed(redis_client)
    run = await opened(world, range(1))
    for _ in range(2):
        [lease] = await world.lease(suspects_ok=True)
        await world.frontier.start(handles([lease]))
        await world.pass_ms(world.frontier.config.lease_ms * 3)
        await world.frontier.shards.run_all("reap")
    await world.frontier.control.say("pause", run_target(run))
    assert await world.lease(suspects_ok=True) == []
    await world.frontier.control.say("resume", run_target(run))
    assert await world.frontier.control.sort_aside() == 1
    assert (await world.frontier.inspection.stats()).suspects == 1
    if purged:
        assert await world.frontier.control.sift(Target("s"), "drop", "purged") == 1
    else:
        await world.frontier.runs.cancel(run.id)
    assert (await finished(world, run)).counts.dropped == 1
    shard = world.frontier.shards.of_host("a.example")
    state = STATE.unpack(await redis_client.get(world.frontier.shards.key(shard, "state")))
    assert dict(zip(STATE_FIELDS, state, strict=True))["suspects"] == 0


async def test_hosts_are_visited_by_their_delay_whatever_is_set_aside(redis_client: Any) -> None:
    """What is skipped takes no turn of its host."""
    world = await timed(redis_client)
    run = await opened(world, range(3), delay_ms=1_000)
    await world.frontier.push([message(number, delay_ms=1_000, cap=10) for number in (10, 11)])
    await world.frontier.control.say("pause", run_target(run))
    [lease] = await world.lease()
    assert int(lease.body) == 10
    await reported(world.frontier, [answer(handle) for handle in handles([lease])])
    assert await world.lease() == []
    await world.pass_ms(1_000)
    assert await world.bodies() == [11]


def test_a_worker_asks_what_is_said_of_each_lease() -> None:
    held = made_lease()
    spider = held.stream.partition(":")[0]
    run = f"{spider}:{held.generation}"
    for said in (f"pause spider {spider}", f"pause host {held.host}", f"pause run {run}", f"cancel run {run}"):
        assert ControlState(frozenset({said})).forbids(held)
    assert not ControlState(frozenset({"pause spider other", "pause host other", "cancel run other:1"})).forbids(held)


def test_a_glob_of_too_many_stars_is_refused() -> None:
    assert lua_pattern("https://a.example/*-%[x]") == "^https://a%.example/.*%-%%%[x%]$"
    with pytest.raises(ValueError, match="3 stars"):
        lua_pattern("*a*b*c*")
