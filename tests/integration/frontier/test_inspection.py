"""What `scrapy status` tells."""

from __future__ import annotations

import logging
from types import SimpleNamespace
from typing import Any

import pytest

from crawler.commands.views import status_snapshot
from crawler.commands.views.status_snapshot import take_snapshot
from crawler.extensions.idle import IdleExtension, leased_elsewhere
from crawler.frontier.inspection.waiting import WaitingHost, last_lease_ms
from crawler.frontier.messages import SpiderStats
from crawler.worker.pauses import Pauses
from tests.integration.frontier.making import answer, handles, message, reported, timed


async def test_counters_are_kept_per_spider_and_generation(redis_client: Any) -> None:
    world = await timed(redis_client)
    inspection = world.frontier.inspection
    await world.frontier.push([message(number, stream="s") for number in range(3)])
    await world.frontier.push([message(4, stream="s:browser"), message(5, stream="t", generation="2")])
    await world.fetch(1)
    stats = await inspection.stats()
    assert stats.spiders["s"] == SpiderStats(queued=3, done=1, accepted=4, seen=4)
    assert stats.tiers["s", "http"] == SpiderStats(queued=2, done=1, accepted=3, seen=4)
    assert stats.tiers["s", "browser"] == SpiderStats(queued=1, accepted=1)
    assert stats.generations["t", "2"] == SpiderStats(queued=1, accepted=1, seen=1)
    assert stats.total == stats.spiders["s"] + stats.spiders["t"]
    assert (await inspection.stats("t")).total.accepted == 1
    assert (await inspection.stats("nobody")).total == SpiderStats()


async def test_a_run_that_is_not_over_is_shown_however_many_came_after_it(
    redis_client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(status_snapshot, "MOST_RUNS", 3)
    world = await timed(redis_client)
    runs = world.frontier.runs
    opened = []
    for _ in range(5):
        opened.append((await runs.open("s", fresh=True)).id)
        await world.pass_ms(1)
    for one in opened[1:]:
        await runs.seal(one)
    await runs.settle()
    shown = (await take_snapshot(world.frontier, None)).runs
    assert [(run.id, run.state) for run in shown] == [
        *((one, "finished") for one in opened[:1:-1]),
        (opened[0], "open"),
    ]
    assert (await take_snapshot(world.frontier, "t")).runs == []

    for _ in range(4):
        await runs.open("s", fresh=True)
    seen = await take_snapshot(world.frontier, None)
    assert (sum(not run.is_over for run in seen.runs), seen.more_runs) == (3, 2)


async def test_eligible_hosts_are_those_that_could_be_visited_now(redis_client: Any) -> None:
    world = await timed(redis_client)
    for number in range(8):
        await world.frontier.push([message(number, f"{number % 4}.example", delay_ms=1_000)])
    await world.fetch(3)
    stats = await world.frontier.inspection.stats()
    assert (stats.eligible_hosts, stats.waiting_hosts) == (1, 3)
    await world.pass_ms(1_000)
    stats = await world.frontier.inspection.stats()
    assert (stats.eligible_hosts, stats.waiting_hosts) == (4, 0)


async def test_how_long_a_request_has_waited_is_told_of_the_spider_that_is_asked_about(redis_client: Any) -> None:
    """On call, somebody looks for what holds up one crawl: another's old queue is no answer."""
    world = await timed(redis_client)
    await world.frontier.push([message(1, "a.example", stream="old")])
    await world.pass_ms(600_000)
    await world.frontier.push([message(2, "b.example", stream="new")])
    await world.pass_ms(1_000)
    told = {
        spider: (await take_snapshot(world.frontier, spider)).oldest_ms for spider in ("new", "old", "nobody", None)
    }
    assert told == {"new": 1_000, "old": 601_000, "nobody": 0, None: 601_000}


async def test_the_busiest_hosts_are_listed_with_their_state(redis_client: Any) -> None:
    world = await timed(redis_client)
    for host in range(30):
        await world.frontier.push([message(100 * host + n, f"{host}.example", cap=2) for n in range(host + 1)])
    [lease] = await world.lease(1, exclude_hosts=[f"{host}.example" for host in range(29)])
    await reported(world.frontier, [answer(handles([lease])[0], 429, latency_ms=120, retry_after_ms=9_000)])
    states = await world.frontier.inspection.hosts(top=3)
    assert [(state.host, state.queued) for state in states] == [
        ("28.example", 29),
        ("29.example", 29),
        ("27.example", 28),
    ]
    assert (states[1].blocked_ms, states[1].latency_ms, states[1].success) == (9_000, 120, 0.0)
    assert (states[0].in_flight, states[0].cap, states[0].success) == (0, 2, None)
    assert await world.frontier.inspection.hosts("nobody") == []


async def test_empty_means_nothing_queued_leased_delayed_or_in_an_outbox(redis_client: Any) -> None:
    world = await timed(redis_client)
    inspection = world.frontier.inspection
    assert await inspection.empty("s")
    await world.frontier.push([message(1), message(2, stream="t")])
    assert not await inspection.empty("s")
    [lease] = await world.lease()
    assert not await inspection.empty("s"), "leased"
    await world.frontier.nack(lease.id, lease.token, delay_ms=100)
    assert not await inspection.empty("s"), "delayed"
    await world.pass_ms(100)
    await world.fetch()
    assert await inspection.empty("s")
    assert not await inspection.empty(), "the other spider has work"
    await world.frontier.workers.heartbeat("w", {"outbox": 3})
    assert not await inspection.empty("s"), "children may be on their way"


async def test_workers_are_alive_while_they_say_so(redis_client: Any) -> None:
    world = await timed(redis_client)
    workers = world.frontier.workers
    assert await workers.heartbeat("one", {"leases": 3, "host": "pod-1"}) == world.now
    await world.pass_ms(30_000)
    await workers.heartbeat("two", {"leases": 0})
    [one, two] = [worker for worker in await workers.alive(60_000) if worker.name != "fleet"]
    assert (one.name, one.seen_ms_ago, one.info) == ("one", 30_000, {"leases": 3, "host": "pod-1"})
    assert (two.name, two.seen_ms_ago) == ("two", 0)
    await world.pass_ms(31_000)
    await workers.leave("two")
    assert [worker.name for worker in await workers.alive(60_000)] == ["fleet"]


async def test_bytes_per_url_are_measured_on_a_sample(redis_client: Any) -> None:
    world = await timed(redis_client)
    assert await world.frontier.inspection.sizes() == (None, None)
    many = [message(number * 7_919_000_001, f"{number % 50}.example", body=b"x" * 100) for number in range(3_000)]
    await world.frontier.push(many)
    per_queued, per_seen = await world.frontier.inspection.sizes()
    assert per_queued is not None
    assert per_seen is not None
    assert 100 < per_queued < 250
    assert 8 < per_seen < 13


async def test_hosts_are_forgotten_as_fast_as_new_ones_come(redis_client: Any) -> None:
    """A tidy worker takes slice after slice until nothing is overdue."""
    world = await timed(redis_client, quiet_ms=60_000)
    hosts = world.frontier.shards.key(0, "hosts")
    await world.frontier.push([message(number, f"{number}.example") for number in range(3_000)])
    while await world.fetch(1_000):
        pass
    assert await redis_client.hlen(hosts) == 3_000
    await world.pass_ms(60_000)
    await world.frontier.generations.tidy()
    assert (await redis_client.hlen(hosts), await redis_client.zcard(world.frontier.shards.key(0, "idle"))) == (0, 0)


async def test_leases_of_a_killed_worker_come_back_at_a_time_that_is_told(redis_client: Any) -> None:
    world = await timed(redis_client, lease_ms=120_000)
    frontier = world.frontier
    assert await leased_elsewhere(frontier, "s") == []
    await frontier.push([message(number, f"{number}.example") for number in range(2)])
    await world.lease(1)
    await world.pass_ms(20_000)
    await frontier.workers.heartbeat("me", {"spider": "s"})
    assert await leased_elsewhere(frontier, "s") == [
        "a page that another worker has leased (0 live); what a killed one had comes back in 100 s at the latest"
    ]
    await world.lease(1)
    await frontier.workers.heartbeat("other", {"spider": "s"})
    [told] = await leased_elsewhere(frontier, "s")
    assert told.startswith(
        "2 pages that other workers have leased (1 live); what a killed one had comes back in 120 s at"
    )
    assert await leased_elsewhere(frontier, "t") == []


@pytest.mark.parametrize(("held", "ending"), [(0, 0), (1, 0), (0, 1)], ids=["elsewhere", "leased meanwhile", "ending"])
async def test_what_an_idle_worker_itself_has_leased_is_not_another_ones(
    redis_client: Any, held: int, ending: int, caplog: pytest.LogCaptureFixture
) -> None:
    world = await timed(redis_client, lease_ms=120_000)
    await world.frontier.push([message(1)])
    [lease] = await world.lease(1)
    worker: Any = SimpleNamespace(
        frontier=world.frontier,
        pauses=Pauses(),
        book=SimpleNamespace(in_hand=lambda: held * [lease]),
        outbox=SimpleNamespace(ending=lambda: ending * handles([lease])),
    )
    extension = IdleExtension(SimpleNamespace(engine=None), 0)  # type: ignore[arg-type]
    extension._looks = 0
    with caplog.at_level(logging.INFO):
        await extension._tell(worker, "s")
    assert ("another worker" in caplog.text) is (held == ending == 0), caplog.text


async def test_after_a_silence_of_the_fleet_leases_come_back_a_lease_later(redis_client: Any) -> None:
    world = await timed(redis_client, lease_ms=120_000)
    await world.frontier.push([message(1)])
    await world.lease(1)
    await world.be_silent(100_000)
    assert await world.lease(1) == []
    now = (await world.frontier.inspection.stats()).now_ms
    assert await last_lease_ms(world.frontier.shards, now) == 120_000


@pytest.mark.one_server("the first shard has it all")
async def test_what_a_site_asks_for_is_told_unless_it_is_over_at_once(redis_client: Any) -> None:
    world = await timed(redis_client)
    inspection = world.frontier.inspection
    await world.frontier.push([message(number, f"{number % 2}.example") for number in range(4)])
    leases = await world.lease()
    for lease, asked_ms in zip(leases, (4_000, 60_000), strict=True):
        await reported(world.frontier, [answer((lease.id, lease.token), 429, retry_after_ms=asked_ms)])
    paused = WaitingHost(leases[1].host, 1, "the site asked for a pause", 60_000)
    assert await inspection.waiting("s") == [paused]
    await world.frontier.nack(leases[0].id, leases[0].token, delay_ms=2_000, reason="http_429")
    assert await inspection.waiting("s") == [WaitingHost(leases[0].host, 1, "delayed (http_429)", 2_000), paused]
    assert await inspection.waiting("s", top=1) == [WaitingHost(leases[0].host, 1, "delayed (http_429)", 2_000)]


@pytest.mark.one_server("the first shard has it all")
@pytest.mark.parametrize(("since", "ends"), [(-1_000, 59_000), (5, 60_000), (10**20, 60_000)])
async def test_a_host_that_went_down_after_its_time_was_asked_for_has_its_whole_term(
    redis_client: Any, since: int, ends: int
) -> None:
    world = await timed(redis_client, breaker_faults=1, give_up_ms=60_000)
    await world.frontier.push([message(1), message(2)])
    [lease] = await world.lease(1)
    await reported(world.frontier, [answer((lease.id, lease.token), 0, fault=True)])
    await redis_client.set(world.frontier.shards.key(0, "down:a.example"), world.now + since)
    [told] = await world.frontier.inspection.waiting("s")
    assert (told.why, told.given_up_ms) == ("circuit breaker opened (1 in a row), then one probe", ends)
