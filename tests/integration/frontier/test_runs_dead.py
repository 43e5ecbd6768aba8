"""Dead is known within its run: the next one tries again, and what it comes to stands."""

from __future__ import annotations

from typing import Any

import pytest

from crawler.frontier.messages import PushOutcome
from crawler.frontier.run_record import Run, RunCounts
from crawler.frontier.runs.letter_retries import Retries
from crawler.frontier.runs.runs import LEFT_MS, RETRY
from tests.integration.frontier.harness import all_keys
from tests.integration.frontier.making import Timed, acked, handles, message, timed

ACCEPTED, DUPLICATE, DEAD = PushOutcome.ACCEPTED, PushOutcome.DUPLICATE, PushOutcome.DUPLICATE_DEAD


async def push(world: Timed, generation: str, *numbers: int, **fields: Any) -> list[PushOutcome]:
    given = {"cap": 8, **fields}
    return await world.frontier.push([message(number, generation=generation, **given) for number in numbers])


async def bury(world: Timed, reason: str = "blocked") -> list[str]:
    leases = await world.lease()
    for handle in handles(leases):
        assert await world.frontier.bury(*handle, reason=reason)
    return [lease.id for lease in leases]


async def over(world: Timed, run: Run) -> Run:
    await world.frontier.runs.seal(run.id)
    [ended] = await world.frontier.runs.settle()
    assert ended.id == run.id
    return ended


async def letters(world: Timed) -> list[tuple[str, str]]:
    return sorted((letter.generation, letter.reason) for letter in await world.frontier.dead.find())


async def checked(world: Timed) -> None:
    """No counter is below 0, and the sums hold."""
    for one in (await world.frontier.inspection.stats()).generations.values():
        assert all(getattr(one, name) >= 0 for name in one.__slots__), one
        assert one.accepted == one.backlog + one.leased + one.dead + one.done + one.dropped
    total = (await world.frontier.inspection.stats()).total
    assert total.dead == len(await world.frontier.dead.find())


@pytest.mark.parametrize("fresh", [True, False])
@pytest.mark.parametrize("again", [True, False])
async def test_the_next_run_tries_again_and_its_end_stands(redis_client: Any, fresh: bool, again: bool) -> None:
    world = await timed(redis_client, shards=2)
    first = await world.frontier.runs.open("s", fresh=fresh)
    await push(world, first.generation, 1)
    await bury(world)
    assert await push(world, first.generation, 1) == [DEAD]
    await over(world, first)
    await world.frontier.generations.tidy()
    second = await world.frontier.runs.open("s", fresh=fresh)
    assert await push(world, second.generation, 1, 1) == [ACCEPTED, DUPLICATE]
    assert await letters(world) == [(first.generation, "blocked")], "nobody knows yet"
    if again:
        await bury(world, "http_500")
        assert await letters(world) == [(second.generation, "http_500")]
        assert await push(world, second.generation, 1) == [DEAD]
    else:
        await world.fetch()
        assert await letters(world) == []
        assert await world.frontier.dead.count() == 0, "nor kept where nobody finds it"
        assert await push(world, second.generation, 1) == [DUPLICATE]
    await checked(world)
    assert (await over(world, second)).counts.dead == int(again)
    assert await all_keys(redis_client, "*:dead:again") == []


async def test_a_page_that_is_gone_now_is_dead_no_more(redis_client: Any) -> None:
    world = await timed(redis_client)
    first = await world.frontier.runs.open("s", fresh=True)
    await push(world, first.generation, 1)
    await bury(world)
    second = await world.frontier.runs.open("s", fresh=True)
    await push(world, second.generation, 1)
    [lease] = await world.lease()
    await world.frontier.end_gone(lease.id, lease.token, reason="http_404", detail={})
    assert await letters(world) == []
    await checked(world)


async def test_two_runs_that_share_what_is_known_try_once_between_them(redis_client: Any) -> None:
    world = await timed(redis_client)
    first = await world.frontier.runs.open("s")
    await push(world, first.generation, 1)
    await bury(world)
    second, third = await world.frontier.runs.open("s"), await world.frontier.runs.open("s")
    found = [(await push(world, run.generation, 1))[0] for run in (second, third, second, third, first)]
    assert found == [ACCEPTED, DUPLICATE, DUPLICATE, DUPLICATE, DUPLICATE]
    await world.fetch()
    assert await letters(world) == []
    await checked(world)


async def test_start_urls_are_dead_until_their_run_is_over(redis_client: Any) -> None:
    world = await timed(redis_client, run_idle_ms=1_000)
    await push(world, "0", 1)
    assert await world.frontier.runs.settle() == []
    await bury(world)
    assert await push(world, "0", 1) == [DEAD]
    await world.pass_ms(20_000)
    assert len(await world.frontier.runs.settle()) == 1
    assert await push(world, "0", 1, 1) == [ACCEPTED, DUPLICATE]
    await world.frontier.runs.settle()
    await bury(world, "http_500")
    assert await letters(world) == [("0", "http_500")]
    await checked(world)
    await world.pass_ms(20_000)
    [second] = await world.frontier.runs.settle()
    assert second.counts == RunCounts(accepted=1, dead=1, dead_by={"http_500": 1})
    assert await push(world, "0", 1) == [ACCEPTED]
    await world.fetch()
    await world.frontier.runs.settle()
    await world.pass_ms(20_000)
    [third] = await world.frontier.runs.settle()
    assert third.counts == RunCounts(accepted=1, done=1)
    await checked(world)


async def test_copies_are_superseded_together(redis_client: Any) -> None:
    """A raw LPUSH is not deduplicated: each night it leaves a letter of the same page."""
    world = await timed(redis_client)
    for _ in range(3):
        run = await world.frontier.runs.open("s")
        await push(world, run.generation, 1, 1, dedupe=False)
        assert len(await bury(world)) == 2
        await over(world, run)
    assert len(await letters(world)) <= 4
    run = await world.frontier.runs.open("s")
    await push(world, run.generation, 1)
    await world.fetch()
    assert await letters(world) == []
    await checked(world)


async def test_a_letter_that_is_dropped_or_retried_meanwhile(redis_client: Any) -> None:
    world = await timed(redis_client)
    for drop in (True, False):
        first = await world.frontier.runs.open("s", fresh=True)
        await push(world, first.generation, 1)
        [letter] = await bury(world)
        second = await world.frontier.runs.open("s", fresh=True)
        assert await push(world, second.generation, 1) == [ACCEPTED]
        dead = world.frontier.dead
        assert await (dead.drop if drop else dead.retry)([letter]) == [True]
        assert len(await world.fetch()) == (1 if drop else 2)
        assert await letters(world) == []
        await checked(world)


async def test_a_letter_of_an_older_release_is_tried_again(redis_client: Any) -> None:
    world = await timed(redis_client)
    await push(world, "0", 1)
    await bury(world)
    await redis_client.delete(world.frontier.shards.key(0, "dead:id"))  # it kept none
    run = await world.frontier.runs.open("s")
    assert await push(world, run.generation, 1) == [DEAD], "as it was with that release"
    await world.frontier.generations.tidy()
    assert await push(world, run.generation, 1, 1) == [ACCEPTED, DUPLICATE]
    await world.fetch()
    assert await world.frontier.dead.find() == []
    await checked(world)


@pytest.mark.parametrize("key", ["dead:again", "dead:id", "dead:fp"])
@pytest.mark.parametrize("value", [b"x" * 5, b"17 99999999", b""])
@pytest.mark.one_server("what is stored is the same on each node")
async def test_damage_there_costs_no_page(redis_client: Any, key: str, value: bytes) -> None:
    world = await timed(redis_client)
    first = await world.frontier.runs.open("s", fresh=True)
    await push(world, first.generation, 1, 2)
    await bury(world)
    second = await world.frontier.runs.open("s", fresh=True)
    await push(world, second.generation, 1)
    place = world.frontier.shards.key(0, key)
    for name in await redis_client.hkeys(place):
        await redis_client.hset(place, name, value)
    assert (await push(world, second.generation, 2)) in ([ACCEPTED], [DEAD])
    done = await world.fetch()
    assert 1 in done
    third = await world.frontier.runs.open("s", fresh=True)
    assert await push(world, third.generation, 1, 2, 3) in ([ACCEPTED] * 3, [ACCEPTED, DEAD, ACCEPTED])
    assert len(await world.fetch()) >= 2


async def retried(world: Timed, **which: Any) -> tuple[int, list[Run]]:
    frontier = world.frontier
    found = await frontier.dead.find(**which)
    return await Retries(frontier.shards, frontier.runs, frontier.spent, frontier.dead).retry(found)


@pytest.mark.parametrize("fresh", [True, False])
async def test_a_retry_of_a_run_that_is_over_is_a_run(redis_client: Any, fresh: bool) -> None:
    world = await timed(redis_client, shards=2)
    run = await world.frontier.runs.open("s", fresh=fresh)
    await push(world, run.generation, 1, 2)
    await push(world, run.generation, 3, host="b.example")
    [*leases] = await world.lease()
    await acked(world.frontier, handles(leases[:1]))
    for handle in handles(leases[1:]):
        await world.frontier.bury(*handle, reason="blocked")
    assert await retried(world, limit=1) == (1, []), "in its run while that goes on"
    await bury(world)
    await over(world, run)
    await world.frontier.generations.tidy()
    done, [again] = await retried(world)
    assert (done, again.name, again.fresh) == (2, f"retry of {run.id}", False)
    [*leases] = await world.lease()
    assert {lease.generation for lease in leases} == {again.generation}
    known = [int(lease.body) for lease in leases]
    assert await push(world, again.generation, known[0], host=leases[0].host) == [DUPLICATE]
    await acked(world.frontier, handles(leases))
    [ended] = await world.frontier.runs.settle()
    assert (ended.id, ended.counts.accepted, ended.counts.done) == (again.id, 2, 2)
    before = await world.frontier.runs.get(run.id)
    assert before is not None
    assert (before.state, before.counts.accepted, before.counts.dead) == ("finished", 3, 2)
    await checked(world)


async def test_a_run_whose_retry_was_killed_ends_within_the_hour(redis_client: Any) -> None:
    """Nobody goes on with it: the same call opens another one."""
    world = await timed(redis_client)
    killed = await world.frontier.runs.open("s", name="retry of x", producer=RETRY)
    pushed = await world.frontier.runs.open("s", producer="push")
    await push(world, killed.generation, 1)
    await world.pass_ms(LEFT_MS)
    assert await world.frontier.runs.settle() == [], "a page of it waits"
    await world.fetch()
    await world.pass_ms(LEFT_MS - 1_000)
    assert await world.frontier.runs.settle() == [], "it may go on"
    await world.pass_ms(1_000)
    assert [run.id for run in await world.frontier.runs.settle()] == [killed.id]
    assert (await world.frontier.runs.known(pushed.id)).state == "open", "`push --run` goes on with it"


async def test_links_are_not_followed_when_nothing_is_known_any_more(redis_client: Any) -> None:
    world = await timed(redis_client, retention_ms=60_000)
    run = await world.frontier.runs.open("s", fresh=True)
    await push(world, run.generation, 1)
    await bury(world)
    await over(world, run)
    for _ in range(8):
        await world.frontier.generations.tidy()
        await world.pass_ms(20_000)
    _, [again] = await retried(world)
    [page] = await world.lease()
    children = [message(number, generation=again.generation) for number in (1, 2)]
    hop = message(3, generation=again.generation, dedupe=False)
    assert await world.frontier.push([*children, hop], forced=True) == [DUPLICATE, DUPLICATE, ACCEPTED]
    await acked(world.frontier, handles([page]))
    assert await world.fetch() == [3], "a redirect is no link"
    assert [one.id for one in await world.frontier.runs.settle()] == [again.id]


async def test_a_retry_of_letters_of_several_runs_is_a_run_for_each(redis_client: Any) -> None:
    world = await timed(redis_client, run_idle_ms=1_000)
    await push(world, "0", 1)
    await bury(world)
    await world.frontier.runs.settle()
    await world.pass_ms(20_000)
    [plain] = await world.frontier.runs.settle()
    named = await world.frontier.runs.open("s")
    await push(world, named.generation, 2)
    await bury(world)
    await over(world, named)
    await world.frontier.dead.bury_seed(b"bad", spider="s", reason="bad_seed", generation="0")
    done, opened = await retried(world)
    assert (done, sorted(run.name for run in opened)) == (2, sorted([f"retry of {plain.id}", f"retry of {named.id}"]))
    await world.fetch()
    assert {run.id for run in opened} <= {run.id for run in await world.frontier.runs.settle()}
