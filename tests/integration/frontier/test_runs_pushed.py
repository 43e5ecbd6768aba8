"""Runs and who pushes to them: names, keys, overlap, and what a producer that was killed leaves."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from crawler.commands import runs as command
from crawler.frontier.messages import PushOutcome
from crawler.frontier.run_record import Run, RunError, RunSkippedError
from crawler.frontier.runs.letter_retries import Retries
from crawler.frontier.runs.pushed_run import PushedRun, WantedRun
from crawler.frontier.runs.spent_runs import QUIET_MS
from crawler.frontier.state.budgets import Terms
from tests.integration.frontier.harness import everywhere
from tests.integration.frontier.making import Timed, acked, handles, message, sent, timed
from tests.integration.frontier.running import BEGUN, DAY_MS, counts, over, push


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


async def test_a_push_whose_run_is_lost_says_so_and_ends_none_that_was_given_its_number(redis_client: Any) -> None:
    """Redis was emptied meanwhile, and another push has begun."""
    world = await timed(redis_client)
    runs = world.frontier.runs
    lost = PushedRun(runs, "s", WantedRun())
    await lost.__aenter__()
    await redis_client.flushall(**everywhere(redis_client))
    await world.be_silent(5)
    other = await runs.open("s", producer="push")
    await push(world, other, 1)
    with pytest.raises(RunError, match=f"Redis has lost run {BEGUN}-1 .* push the same again"):
        await lost.__aexit__(None, None, None)
    assert (other.id, lost.told()) == (f"{BEGUN}-1", f"run {BEGUN}-1")
    assert (await runs.known(other.id)).state == "open"


async def no_start_urls_come(world: Timed) -> None:
    await world.frontier.runs.begin("s", "0")
    await world.pass_ms(world.frontier.config.run_idle_ms)
    assert await over(world) == []


async def its_letters_are_retried(world: Timed) -> None:
    run = await world.frontier.runs.open("s")
    await push(world, run, 1)
    [leased] = await world.lease(1)
    await world.frontier.bury(leased.id, leased.token, reason="spider_error")
    await world.client.hdel(world.frontier.shards.key(0, "runs"), run.id)  # forgotten: its number is given again
    frontier = world.frontier
    await Retries(frontier.shards, frontier.runs, frontier.spent, frontier.dead).retry(await frontier.dead.find())


async def its_budget_is_spent(world: Timed) -> None:
    run = await world.frontier.runs.open("s", producer="push")
    await world.frontier.sitemaps.add("s", run.generation, [("https://a.example/sitemap.xml", "")])
    await world.frontier.budgets.state([Terms(f"r:s:{run.generation}", lasting=True, requests=1)])
    await push(world, run, 1)
    await sent(world.frontier, handles(leased := await world.lease()))
    await acked(world.frontier, handles(leased))
    await world.pass_ms(QUIET_MS)
    assert [one async for one in world.frontier.spent.drop()] == []


@pytest.mark.parametrize("ends", [no_start_urls_come, its_letters_are_retried, its_budget_is_spent])
async def test_who_seals_a_run_that_is_lost_ends_none_that_was_given_its_number(
    redis_client: Any, monkeypatch: pytest.MonkeyPatch, ends: Callable[[Timed], Awaitable[None]]
) -> None:
    """Redis is emptied right before, and a push has begun."""
    world = await timed(redis_client)
    shards, others = world.frontier.shards, list[Run]()
    run = shards.run

    async def run_late(name: str, shard: int, *arguments: bytes | str | float) -> Any:
        if name == "run_seal" and not others:
            await redis_client.flushall(**everywhere(redis_client))
            await world.be_silent(5)
            others.extend([await world.frontier.runs.open("s", producer="push") for _ in range(2)])
        return await run(name, shard, *arguments)

    monkeypatch.setattr(shards, "run", run_late)
    await ends(world)
    assert len(others) == 2
    assert [(await world.frontier.runs.known(other.id)).state for other in others] == ["open", "open"]


@pytest.mark.parametrize("numbers_are_given", [True, False])
async def test_who_waits_for_a_run_or_cancels_it_takes_no_other_for_it(
    redis_client: Any, monkeypatch: pytest.MonkeyPatch, numbers_are_given: bool
) -> None:
    """Redis is emptied while `runs wait` waits, or a person is asked whether to cancel it."""
    monkeypatch.setattr(command, "POLL_SECONDS", 0.0)
    world = await timed(redis_client)
    runs, known = world.frontier.runs, world.frontier.runs.known
    seen, emptied = asyncio.Event(), asyncio.Event()

    async def known_late(*asked: Any) -> Run:
        if seen.is_set():
            await emptied.wait()
        seen.set()
        return await known(*asked)

    monkeypatch.setattr(runs, "known", known_late)
    run = await runs.open("s")
    waiting = asyncio.create_task(command._wait(world.frontier, run.id, as_json=False))
    await seen.wait()
    await redis_client.flushall(**everywhere(redis_client))
    await world.be_silent(5)
    other = await runs.open("s") if numbers_are_given else None
    emptied.set()
    with pytest.raises(RunError, match=f"run {run.id} is lost"):
        await waiting
    with pytest.raises(RunError, match=f"run {run.id} is lost"):
        await runs.cancel(run.id, run.opened_ms)
    if other is not None:
        assert (other.id, (await known(other.id)).state) == (run.id, "open")


async def test_one_that_was_opened_again_is_not_ended_by_who_saw_it_sealed(redis_client: Any) -> None:
    world = await timed(redis_client)
    runs = world.frontier.runs
    run = await runs.seal((await runs.open("s")).id)
    await runs.resume(run.id)
    assert await runs._end(run, await runs._snapshot()) is None
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
    monkeypatch.setattr("crawler.frontier.runs.runs.WAIT_SECONDS", 0.01)
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
    assert (await asyncio.wait_for(waiting, 60)).id == f"{BEGUN}-5"


async def test_one_that_replaces_another_cancels_it(redis_client: Any) -> None:
    world = await timed(redis_client)
    runs = world.frontier.runs
    first = await runs.open("s", name="nightly")
    await push(world, first, 1, 2, host="a.example", cap=1)
    [leased] = await world.lease(1)
    second = await runs.open("s", name="nightly", overlap="replace")
    assert second.id == f"{BEGUN}-2"
    await acked(world.frontier, handles([leased]))
    assert await over(world) == [first.id]
    found = await runs.get(first.id)
    assert found is not None
    assert (found.state, found.counts.done, found.counts.dropped) == ("cancelled", 1, 1)
    with pytest.raises(RunError, match=f"run {first.id} is cancelled"):
        await runs.resume(first.id)


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
