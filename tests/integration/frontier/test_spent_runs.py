"""A run whose own budget is spent for good: what is left of it is dropped, and it ends by itself."""

from __future__ import annotations

import asyncio
import random
import struct
from typing import Any

import pytest

from crawler.frontier.messages import Lease, PushOutcome
from crawler.frontier.run_record import Run
from crawler.frontier.runs.control import run_target
from crawler.frontier.runs.letter_retries import Retries
from crawler.frontier.runs.spent_runs import TURN_MS, SpentRun
from crawler.frontier.state.budgets import Terms
from crawler.frontier.state.shares import Shares
from crawler.utils import tasks
from tests.integration.frontier.making import START_MS, Timed, acked, handles, message, sent, timed

DAY = 86_400_000
TODAY = (START_MS - START_MS % DAY, START_MS - START_MS % DAY + DAY)
MANY: dict[str, Any] = {"cap": 100}
HOSTS = ("a.example", "b.example")
pytestmark = pytest.mark.parametrize("shards", [1, 3])


async def stated(made: Timed, *terms: Terms) -> None:
    await made.frontier.budgets.state(terms)
    await made.frontier.shares.begin(terms)


async def run_with(made: Timed, numbers: range = range(6), **terms: Any) -> Run:
    """A sealed run with these requests, on two hosts, and with a budget of its own."""
    run = await made.frontier.runs.open("s", name="n", overlap="allow")
    await stated(made, Terms(f"r:s:{run.generation}", lasting=True, **terms))
    await made.frontier.push([message(n, HOSTS[n % 2], generation=run.generation, **MANY) for n in numbers])
    return await made.frontier.runs.seal(run.id)


async def dropped_now(made: Timed) -> list[SpentRun]:
    return [one async for one in made.frontier.spent.drop()]


async def looked_at(made: Timed, run: Run) -> tuple[list[SpentRun], Run]:
    """What a worker drops in its turn; the run then, ended if it is over."""
    await made.frontier.shares.balance()
    await made.client.delete(made.frontier.shards.key(0, "spent:turn"))
    dropped = await dropped_now(made)
    await made.frontier.runs.settle()
    return dropped, await made.frontier.runs.known(run.id)


async def leased_within(made: Timed, times: int = 4) -> list[Lease]:
    """What workers lease while shares are dealt and what was put off comes back."""
    leases = list[Lease]()
    for _ in range(times):
        leases += await made.lease()
        await made.frontier.shares.balance()
        await made.pass_ms(11_000)
    return leases


async def leased_one(made: Timed) -> Lease:
    """The first request, as soon as its shard has a share."""
    while not (leases := await made.lease(1)):
        await made.frontier.shares.balance()
        await made.pass_ms(1_100)
    return leases[0]


async def test_a_run_whose_own_budget_is_spent_drops_what_is_left_and_ends(redis_client: Any, shards: int) -> None:
    made = await timed(redis_client, shards=shards)
    run = await run_with(made, range(8), requests=3)
    leases = await leased_within(made)
    assert len(leases) == 3
    await made.frontier.nack(leases[0].id, leases[0].token, delay_ms=0)  # unsent: another may go instead
    assert (await looked_at(made, run))[0] == []
    leases = leases[1:] + await leased_within(made)
    assert len(leases) == 3
    await sent(made.frontier, handles(leases))
    assert await made.frontier.nack(leases[0].id, leases[0].token, delay_ms=90_000)
    await acked(made.frontier, handles(leases[1:2]))
    assert (await looked_at(made, run))[0] == [], "one is on the wire"
    await acked(made.frontier, handles(leases[2:]))
    [dropped], found = await looked_at(made, run)
    assert (dropped.run.id, dropped.what, dropped.requests) == (run.id, "requests", 6)
    assert (found.state, found.counts.accepted, found.counts.done, found.counts.dropped) == ("finished", 8, 2, 6)
    assert (found.counts.dropped_by, found.counts.cut_by) == ({"budget": 6}, {"budget": 6})
    assert (await made.frontier.inspection.stats()).total.backlog == 0
    assert await dropped_now(made) == []


async def test_what_a_spent_run_dropped_is_new_to_the_next_one(redis_client: Any, shards: int) -> None:
    made = await timed(redis_client, shards=shards)
    run = await run_with(made, requests=2)
    first = await leased_within(made)
    await acked(made.frontier, handles(first))
    assert (await looked_at(made, run))[1].is_over
    again = await made.frontier.runs.open("s", name="n", overlap="skip")
    outcomes = await made.frontier.push([message(n, generation=again.generation, **MANY) for n in range(6)])
    assert outcomes.count(PushOutcome.ACCEPTED) == 4
    assert len(await made.fetch()) == 4


async def test_no_host_that_rests_keeps_a_spent_run_from_its_end(redis_client: Any, shards: int) -> None:
    """Nor does what waits in the queue of a tier that nobody serves, or is paused; and no other run loses anything."""
    made = await timed(redis_client, shards=shards)
    run, other = await run_with(made, requests=2), await made.frontier.runs.open("s")
    given: dict[str, Any] = {"generation": run.generation, **MANY}
    later = [message(n, of, generation=run.generation, not_before_ms=made.now + DAY) for n, of in enumerate(HOSTS, 20)]
    await made.frontier.push([message(30, "a.example", stream="s:browser", **given), *later])
    theirs: dict[str, Any] = {"generation": other.generation, **MANY}
    await made.frontier.push([message(40, "c.example", **theirs, not_before_ms=made.now + DAY)])
    await made.frontier.push([message(41, "a.example", **theirs)])
    await made.frontier.control.say("pause", run_target(other))
    leases = await leased_within(made)
    assert {lease.generation for lease in leases} == {run.generation}
    await made.frontier.control.say("resume", run_target(other))
    await made.frontier.control.say("pause", "host a.example")
    await acked(made.frontier, handles(leases))
    [dropped], found = await looked_at(made, run)
    assert (dropped.requests, found.state) == (7, "finished")
    assert (await made.frontier.runs.known(other.id)).counts.delayed == 2


@pytest.mark.parametrize("kind", ["leased", "moved"])
async def test_a_page_under_way_keeps_its_run_whatever_its_tier(redis_client: Any, shards: int, kind: str) -> None:
    made = await timed(redis_client, shards=shards)
    run = await run_with(made, requests=1)
    [lease] = await leased_within(made)
    if kind == "moved":
        assert await made.frontier.move(lease.id, lease.token, stream="s:browser")
        [lease] = await made.lease(streams=["s:browser"])
    assert (await looked_at(made, run))[0] == []
    await acked(made.frontier, handles([lease]))
    assert (await looked_at(made, run))[1].state == "finished"


@pytest.mark.parametrize(
    ("terms", "spent", "what"),
    [
        ({"size": 500}, (600, 0, 0), "bytes"),
        ({"browser_ms": 1}, (0, 7, 0), "browser seconds"),
        ({"cost": 1}, (0, 0, 2), "cost"),
    ],
)
async def test_what_is_told_late_ends_a_run_too(
    redis_client: Any, shards: int, terms: dict[str, Any], spent: tuple[float, float, float], what: str
) -> None:
    made = await timed(redis_client, shards=shards)
    run = await run_with(made, **terms)
    lease = await leased_one(made)
    await acked(made.frontier, handles([lease]))
    assert (await looked_at(made, run))[0] == []
    await made.frontier.budgets.charge({(lease.host, "s", run.generation): spent})
    [dropped], found = await looked_at(made, run)
    assert (dropped.what, found.state, found.counts.dropped_by) == (what, "finished", {"budget": 5})


async def test_a_worker_that_dies_with_a_lease_unsent_gives_it_back_before_the_rest_is_dropped(
    redis_client: Any, shards: int
) -> None:
    made = await timed(redis_client, shards=shards)
    run = await run_with(made, requests=2)
    sent_one, unsent = await leased_within(made)
    await sent(made.frontier, handles([sent_one]))
    await acked(made.frontier, handles([sent_one]))
    assert (await looked_at(made, run))[0] == []
    for _ in range(8):
        await made.pass_ms(20_000)
        await made.frontier.shards.run_all("reap")
    assert (await looked_at(made, run))[0] == [], "one more may go"
    [last] = await leased_within(made)
    assert last.token != unsent.token
    await acked(made.frontier, handles([last]))
    [dropped], found = await looked_at(made, run)
    assert (dropped.requests, found.counts.done) == (4, 2)


async def test_what_ends_unsent_makes_room_for_others_before_the_rest_is_dropped(
    redis_client: Any, shards: int
) -> None:
    """As pages that a robots.txt forbids."""
    made = await timed(redis_client, shards=shards)
    run = await run_with(made, requests=2)
    forbidden = await leased_within(made)
    await made.frontier.skip(handles(forbidden))
    assert (await looked_at(made, run))[0] == []
    fetched = await leased_within(made)
    assert (len(forbidden), len(fetched)) == (2, 2)
    await sent(made.frontier, handles(fetched))
    await acked(made.frontier, handles(fetched))
    [dropped], found = await looked_at(made, run)
    assert (dropped.requests, found.counts.done) == (2, 4)


async def test_what_a_run_has_spent_is_told_with_what_is_under_way(redis_client: Any, shards: int) -> None:
    """At one moment of a shard, whatever was counted before: it may lease in between."""
    made = await timed(redis_client, shards=shards)
    run = await run_with(made, requests=4)
    first, *_ = await leased_within(made)
    assert await made.frontier.move(first.id, first.token, stream="s:browser")
    assert len(await made.lease(1, streams=["s:browser"])) == 1
    name, generation = f"r:s:{run.generation}", run.generation
    streams = [f"{stream}:{generation}" for stream in ("s", "s:browser")]
    told = [row for row in await made.frontier.shards.run_all("run_budget", name, *streams) if row]
    rows = [struct.unpack("<9d", row) for row in told]
    leased, requests = (sum(row[at] for row in rows) for at in (0, 1))
    assert leased == requests == (await made.frontier.runs.known(run.id)).counts.leased
    assert {row[5:] for row in rows} == {(4, 0, 0, 0)}
    assert set(await made.frontier.shards.run_all("run_budget", "r:s:1", *streams)) == {b""}


async def test_a_budget_that_renews_or_was_raised_drops_nothing(redis_client: Any, shards: int) -> None:
    made = await timed(redis_client, shards=shards)
    run = await run_with(made, requests=2)
    made.frontier.shares = Shares(made.frontier.shards, random.Random(1).random)
    await stated(made, Terms("s:s", TODAY, requests=2))
    leases = await leased_within(made, 10)
    assert len(leases) == 2
    await acked(made.frontier, handles(leases))
    await stated(made, Terms(f"r:s:{run.generation}", requests=5, lasting=True))
    dropped, found = await looked_at(made, run)
    assert (dropped, found.state, found.counts.pending) == ([], "sealed", 4)


async def test_an_open_run_drops_what_is_pushed_to_it_later_and_stays_open(redis_client: Any, shards: int) -> None:
    made = await timed(redis_client, shards=shards)
    run = await run_with(made, range(2), requests=1)
    run = await made.frontier.runs.resume(run.id)
    await acked(made.frontier, handles(await leased_within(made)))
    [dropped], found = await looked_at(made, run)
    assert (dropped.requests, found.state) == (1, "open")
    more = [message(n, generation=run.generation, **MANY) for n in range(10, 13)]
    assert await made.frontier.push(more) == [PushOutcome.ACCEPTED] * 3
    [dropped], found = await looked_at(made, run)
    assert (dropped.requests, found.counts.dropped_by) == (3, {"budget": 4})
    await made.frontier.runs.seal(run.id)
    assert (await looked_at(made, run))[1].state == "finished"


async def test_a_run_whose_sitemaps_were_dropped_is_sealed_and_one_that_is_pushed_to_is_not(
    redis_client: Any, shards: int
) -> None:
    made = await timed(redis_client, shards=shards)
    runs = [await made.frontier.runs.resume((await run_with(made, range(2), requests=1)).id)]
    run = await run_with(made, range(10, 12), requests=1)
    runs.append(await made.frontier.runs.resume(run.id))
    await made.frontier.sitemaps.add("s", run.generation, [("http://a.example/sitemap.xml", "")])
    await acked(made.frontier, handles(await leased_within(made)))
    assert sum(one.requests for one in (await looked_at(made, run))[0]) == 2
    assert (await looked_at(made, run))[1].state == "open", "more of them may be named at this moment"
    await made.pass_ms(11_000)
    await looked_at(made, run)
    states = [(await made.frontier.runs.known(one.id)).state for one in runs]
    assert states == ["open", "finished"]


async def test_a_letter_of_a_spent_run_is_retried_in_a_run_without_a_budget(redis_client: Any, shards: int) -> None:
    made = await timed(redis_client, shards=shards)
    run = await run_with(made, range(3), requests=2)
    first, second = await leased_within(made)
    await sent(made.frontier, handles([first, second]))
    assert await made.frontier.bury(first.id, first.token, reason="http_500")
    letters = await made.frontier.dead.find()
    retries = Retries(made.frontier.shards, made.frontier.runs, made.frontier.spent, made.frontier.dead)
    done, [opened] = await retries.retry(letters)
    assert (done, opened.name) == (1, f"retry of {run.id}")
    await acked(made.frontier, handles([second]))
    await looked_at(made, run)
    assert await made.fetch() == [int(first.body)]


@pytest.mark.parametrize("name", ["spent:turn", "budgets"])
async def test_one_worker_of_the_fleet_drops_at_a_time_and_damage_costs_nothing(
    redis_client: Any, shards: int, name: str
) -> None:
    made = await timed(redis_client, shards=shards)
    run = await run_with(made, requests=2)
    await acked(made.frontier, handles(await leased_within(made)))
    key = made.frontier.shards.key(0, name)
    if name == "budgets":
        await made.client.hset(key, f"r:s:{run.generation}", b"nonsense")
        await made.client.hset(key, b"r:\xff", b"nonsense")
    else:
        await made.client.set(key, "1")
    assert await dropped_now(made) == []
    assert (await made.frontier.runs.known(run.id)).counts.pending == 4


async def test_what_waits_of_a_spent_run_does_not_come_due_all_at_once(redis_client: Any, shards: int) -> None:
    """Retries of other runs stood behind it, for minutes, while its last page was under way."""
    made = await timed(redis_client, shards=shards)
    await run_with(made, range(400), requests=1)
    await leased_one(made)
    if shards > 1:
        pytest.skip("what waits for a shard's share first is put off at one moment")
    for _ in range(60):
        await made.lease(16)
    due = [at for _, at in await made.client.zrange(made.frontier.shards.key(0, "delayed"), 0, -1, withscores=True)]
    assert len(due) == 399
    assert max(due) - min(due) >= 40 * 390


async def test_another_worker_goes_on_with_the_drop_of_one_that_closes(redis_client: Any, shards: int) -> None:
    made = await timed(redis_client, shards=shards)
    run = await run_with(made, range(40), requests=2)
    await acked(made.frontier, handles(await leased_within(made)))
    await made.client.delete(made.frontier.shards.key(0, "spent:turn"))
    dropping = asyncio.create_task(dropped_now(made))
    while (await made.frontier.runs.known(run.id)).counts.dropped == 0:
        assert not dropping.done()
        await asyncio.sleep(0)
    await tasks.end(dropping)
    assert await made.client.pttl(made.frontier.shards.key(0, "spent:turn")) <= TURN_MS
    _, found = await looked_at(made, run)
    assert (found.state, found.counts.dropped) == ("finished", 38)
