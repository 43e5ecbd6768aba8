"""Moves between the queues of tiers, what is learned of hosts, and what is spent: on a real server."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from crawler.frontier.config import FrontierConfig
from crawler.frontier.server.shards import Shards
from crawler.frontier.state.tiers import PAGE, SERVED_MS, Tiers, read_learned
from crawler.policy.tiers import UNKNOWN, LearnedTier
from tests.integration.frontier.making import START_MS, Timed, answer, handles, message, reported, timed

DAY_MS = 86_400_000


@pytest.fixture
async def frontier(redis_client: Any) -> Timed:
    return await timed(redis_client)


@pytest.fixture
def tiers(frontier: Timed) -> Tiers:
    return Tiers(frontier.frontier.shards, keep_ms=1_000)


def stored(tier: Any = "browser", **fields: int) -> LearnedTier:
    return LearnedTier(tier, **fields)


# --- moves -----------------------------------------------------------------------------------------------


async def test_a_moved_request_waits_in_the_other_queue_under_its_id_uncharged(frontier: Timed) -> None:
    await frontier.frontier.push([message(1)])
    (lease,) = await frontier.lease()
    await frontier.frontier.start(handles([lease]))
    assert await frontier.frontier.move(lease.id, lease.token, stream="s:browser")
    assert await frontier.lease() == []
    (again,) = await frontier.lease(streams=("s:browser",))
    assert (again.id, again.body, again.deliveries, again.stream) == (lease.id, b"1", 0, "s:browser")
    assert not await frontier.frontier.move(lease.id, lease.token, stream="s")  # a stale token
    counts = (await frontier.frontier.inspection.stats("s")).total
    assert (counts.accepted, counts.leased, counts.queued) == (1, 1, 0)


async def test_a_move_may_wait_and_bring_another_body(frontier: Timed) -> None:
    await frontier.frontier.push([message(1), message(2)])
    (lease, *_) = await frontier.lease(1)
    await frontier.frontier.move(lease.id, lease.token, stream="s:api", delay_ms=1_000, body=b"9", priority=3)
    assert await frontier.bodies(streams=("s:api",)) == []
    await frontier.pass_ms(1_000)
    (again,) = await frontier.lease(streams=("s:api",))
    assert (again.id, again.body, again.priority) == (lease.id, b"9", 3)


async def test_a_move_keeps_its_place_in_time(frontier: Timed) -> None:
    await frontier.frontier.push([message(1, cap=8)])
    (first,) = await frontier.lease()
    await frontier.pass_ms(10)
    await frontier.frontier.push([message(2, stream="s:browser", cap=8)])
    await frontier.frontier.move(first.id, first.token, stream="s:browser")
    assert await frontier.bodies(streams=("s:browser",)) == [1, 2]


async def test_a_block_page_slows_the_host_down_for_the_whole_fleet(frontier: Timed) -> None:
    await frontier.frontier.push([message(1, delay_ms=2_000), message(2, delay_ms=2_000)])
    leases = await frontier.lease()
    await reported(frontier.frontier, [answer(handle, 200) for handle in handles(leases)])
    assert await frontier.frontier.back_off("a.example", elapsed_ms=0) == 2_000
    await frontier.pass_ms(1_900)
    assert await frontier.lease() == []
    await frontier.pass_ms(101)
    assert len(await frontier.lease()) == 1


async def test_a_block_page_now_and_then_costs_no_pace_but_many_do(frontier: Timed) -> None:
    await frontier.frontier.push([message(number, delay_ms=2_000) for number in range(20)])
    delays = []
    for _ in range(12):
        await frontier.pass_ms(60_000)
        leases = await frontier.lease()
        await reported(frontier.frontier, [answer(handle, 200) for handle in handles(leases)])
        await frontier.frontier.back_off("a.example", elapsed_ms=0)
        delays.append((await frontier.frontier.inspection.hosts("s"))[0].delay_ms)
    assert delays[0] == 2_000
    assert (await frontier.frontier.inspection.hosts("s"))[0].success == 0.0


async def known(world: Timed, host: str) -> LearnedTier:
    """What is stored of *host*."""
    return read_learned(await world.client.hget(world.frontier.shards.key(0, "tiers"), host))


# --- what is learned -------------------------------------------------------------------------------------


async def test_what_one_worker_learns_all_others_are_told_once(frontier: Timed, tiers: Tiers) -> None:
    lesson = stored(until_ms=START_MS + 5, term_ms=5, failed=2, ok=1, trial=1)
    assert await tiers.learn("a.example", lambda _: lesson) == lesson
    assert await known(frontier, "a.example") == lesson
    assert await known(frontier, "b.example") == UNKNOWN
    other = Tiers(frontier.frontier.shards, keep_ms=1_000)
    assert await other.changes() == {"a.example": lesson}
    assert other.now_ms == frontier.now
    assert await other.changes() == {}
    await tiers.learn("b.example", lambda _: stored("api"))
    assert [*await other.changes()] == ["b.example"]


async def test_lessons_at_the_same_time_all_count(frontier: Timed, tiers: Tiers) -> None:
    def more(known: LearnedTier) -> LearnedTier:
        return LearnedTier(known.tier, failed=known.failed + 1)

    await asyncio.gather(*(tiers.learn("a.example", more) for _ in range(20)))
    assert (await known(frontier, "a.example")).failed == 20


@pytest.mark.one_server("a matter of size")
async def test_many_hosts_are_told_page_by_page(redis_client: Any) -> None:
    frontier = await timed(redis_client, shards=2)
    tiers = Tiers(frontier.frontier.shards, keep_ms=1_000)
    hosts = [f"h{number}.example" for number in range(2 * PAGE + 3)]
    for at in range(0, len(hosts), 100):
        await asyncio.gather(*(tiers.learn(host, lambda _: stored()) for host in hosts[at : at + 100]))
    assert sorted(await Tiers(frontier.frontier.shards, keep_ms=1_000).changes()) == sorted(hosts)


async def test_what_has_not_changed_for_long_is_forgotten(frontier: Timed, tiers: Tiers) -> None:
    await tiers.learn("old.example", lambda _: stored())
    await frontier.pass_ms(1_100)
    await tiers.learn("new.example", lambda _: stored())
    assert [*await tiers.changes()] == ["new.example"]
    assert await known(frontier, "old.example") == UNKNOWN


async def test_there_are_never_more_than_so_many_hosts(
    frontier: Timed, tiers: Tiers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("crawler.frontier.state.tiers.MOST_HOSTS", 3)
    for number in range(6):
        await tiers.learn(f"h{number}.example", lambda _: stored())
    assert sorted(await tiers.changes()) == ["h3.example", "h4.example", "h5.example"]
    assert await frontier.client.hlen(frontier.frontier.shards.key(0, "tiers")) == 3


# --- who serves, what is spent ---------------------------------------------------------------------------


async def test_a_tier_is_served_while_a_worker_of_it_was_heard_of(frontier: Timed, tiers: Tiers) -> None:
    workers = frontier.frontier.workers
    await workers.heartbeat("w1", {}, ["s", "s:browser"])
    await workers.heartbeat("w2", {}, ["other:api"])
    await tiers.changes()
    assert await tiers.served("s") == {"http", "browser"}
    assert await tiers.served("other") == {"api"}
    await frontier.pass_ms(SERVED_MS - 1_000)
    await workers.heartbeat("w1", {}, ["s"])
    await frontier.pass_ms(2_000)
    await tiers.changes()
    assert await tiers.served("s") == {"http"}


async def test_what_is_spent_is_counted_by_day_for_the_whole_fleet(frontier: Timed, tiers: Tiers) -> None:
    await tiers.spend({"browser": 3, "api": 1}, {"api": 2.5})
    other = Tiers(Shards(frontier.client, FrontierConfig(), {}), keep_ms=1)
    await frontier.pass_ms(1)
    spent = await tiers.spend({"browser": 1}, {"api": 0.5})
    assert (spent.requests["browser"], spent.requests["api"], spent.cost["api"]) == (4, 1, 3.0)
    assert (await tiers.spend({}, {})).requests["http"] == 0
    await frontier.be_silent(DAY_MS)
    assert (await tiers.spend({}, {})).requests["browser"] == 0
    assert other.now_ms == 0


async def test_status_shows_the_tier_that_a_hosts_requests_are_queued_for(frontier: Timed) -> None:
    """A host's learned tier is not the one that fetches it if no worker serves that tier."""
    await frontier.frontier.push([message(1), message(2), message(3, stream="s:browser")])
    (host,) = await frontier.frontier.inspection.hosts("s")
    assert host.tier == "http"
    await frontier.frontier.push([message(number, stream="s:browser") for number in (4, 5)])
    (host,) = await frontier.frontier.inspection.hosts("s")
    assert host.tier == "browser"
