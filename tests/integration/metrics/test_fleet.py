"""The figures of the whole fleet, read from a real frontier."""

from __future__ import annotations

import dataclasses
import struct
from collections import Counter
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families
from scrapy.settings import Settings

from crawler.errors import ConfigError
from crawler.frontier.errors import FrontierUnavailableError
from crawler.frontier.inspection.eligible import waiting_ms
from crawler.frontier.messages import SpiderStats
from crawler.frontier.server.wire_format import read_lease, seal
from crawler.frontier.state.budgets import Share, Terms
from crawler.frontier.state.domains import MOST_TOLD
from crawler.frontier.state.tiers import Tiers
from crawler.metrics.fleet import ScheduleFigures, render
from crawler.metrics.fleet_collector import MOST_RUNS, OLD_LOOKS, FigureSources, FleetCollector, FleetConfig
from tests.clock import Clock
from tests.integration.frontier.making import Timed, acked, answer, handles, message, reported, timed
from tests.prometheus import check_metrics
from tests.shipped import shipped

Samples = dict[tuple[str, tuple[str, ...]], float]


async def _schedules() -> list[ScheduleFigures]:
    return [ScheduleFigures("nightly", 12.5)]


async def _start_urls() -> dict[str, int]:
    return {"s": 7}


def collector(world: Timed, clock: Clock | None = None) -> FleetCollector:
    config = FleetConfig.from_settings(_settings())
    return FleetCollector(world.frontier, config, FigureSources(_schedules, _start_urls, dict), clock or Clock())


def _settings() -> Settings:
    settings = shipped().copy()
    settings.set("FLEET_WORKERS", 3, priority="cmdline")
    settings.set("TIER_DAILY_REQUESTS", {"browser": 100}, priority="cmdline")
    return settings


def read(body: bytes) -> Samples:
    return {
        (sample.name, tuple(sample.labels.values())): sample.value
        for family in text_string_to_metric_families(body.decode())
        for sample in family.samples
    }


@pytest.fixture
async def world(redis_client: Any) -> Timed:
    return await timed(redis_client)


async def test_every_family_is_told_once_and_in_good_order(world: Timed) -> None:
    frontier = world.frontier
    run = await frontier.runs.open("s", name="nightly")
    of_run = {"generation": run.generation}
    await frontier.push([message(number, f"{number % 3}.example", **of_run) for number in range(9)])
    leased = await world.lease(2)
    await reported(frontier, [answer(handle) for handle in handles(leased)])
    await acked(frontier, handles(leased)[:1])
    await frontier.bury(*handles(leased)[1], reason="spider_error")
    await frontier.workers.heartbeat("w", {"spider": "s"}, ["s"])
    await frontier.domains.add({("0.example", "ok"): 5, ("0.example", "blocked"): 2})
    await Tiers(frontier.shards, keep_ms=0).spend({"browser": 9}, {"browser": 4.5})
    body, _ = render(await collector(world).look())
    check_metrics(body)
    found = read(body)
    assert found["shoal_fleet_leader", ()] == 1
    assert found["shoal_fleet_requests", ("s", "queued")] == 7
    assert found["shoal_fleet_requests", ("s", "dead")] == 1
    assert found["shoal_fleet_done_total", ("s",)] == 1
    assert found["shoal_fleet_accepted_total", ("s",)] == 9
    assert found["shoal_fleet_tier_requests", ("s", "http")] == 7
    assert (found["shoal_fleet_eligible_hosts", ()], found["shoal_fleet_eligible_requests", ()]) == (3, 7)
    assert found["shoal_fleet_dead_letters", ()] == 1
    assert found["shoal_fleet_dead_letters_by", ("spider_error",)] == 1
    assert found["shoal_fleet_dead_letters_by", ("other",)] == 0
    assert found["shoal_fleet_workers", ("s",)] == 1
    assert found["shoal_fleet_workers_expected", ()] == 3
    assert found["shoal_domain_responses_total", ("0.example", "blocked")] == 2
    assert found["shoal_domain_responses_total", ("0.example", "host_fault")] == 0, "so that a first one is a rise"
    assert found["shoal_fleet_tier_spent_requests", ("browser",)] == 9
    assert found["shoal_fleet_tier_budget_requests", ("browser",)] == 100
    assert found["shoal_run_requests", ("nightly", run.id, "s", "queued")] == 7
    assert found["shoal_run_requests", ("nightly", run.id, "s", "done")] == 1
    assert found["shoal_run_opened_timestamp_seconds", ("nightly", run.id, "s")] == run.opened_ms / 1000
    assert found["shoal_schedule_late_seconds", ("nightly",)] == 12.5
    assert found["shoal_fleet_start_urls", ("s",)] == 7


async def test_the_fields_of_a_run_are_set_beside_those_of_the_run_before(world: Timed) -> None:
    frontier = world.frontier
    for present in (30, 18, 6):
        run = await frontier.runs.open("s", name="nightly", fresh=True)
        counts = {(run.generation, "present", "price"): present, (run.generation, "missing", "price"): 30 - present}
        await frontier.coverage.add("s", {**counts, (run.generation, "present", "rare"): 3, ("0", "present", "x"): 50})
        await frontier.runs.seal(run.id)
        await frontier.runs.settle()
    found = read(render(await collector(world).look())[0])
    coverage = {labels: value for (name, labels), value in found.items() if name == "shoal_run_field_coverage_ratio"}
    assert coverage == {("price", "nightly", "newest", "s"): 0.2, ("price", "nightly", "before", "s"): 0.6}


async def test_a_run_has_a_bounded_number_of_fields(world: Timed) -> None:
    run = await world.frontier.runs.open("s", name="nightly", fresh=True)
    await world.frontier.coverage.add("s", {(run.generation, "present", f"f{n}"): 30 for n in range(1_000)})
    key = f"{{shoal:0}}:fields:s:{run.generation}"
    assert await world.client.hlen(key) == 300
    await world.frontier.coverage.add(
        "s", {(run.generation, "present", "f0"): 4, (run.generation, "present", "new"): 9}
    )
    assert (await world.client.hget(key, "present:f0"), await world.client.hlen(key)) == (b"34", 300)
    assert await world.client.pttl(key) > 86_400_000, "forgotten some day"
    found = read(render(await collector(world).look())[0])
    assert sum(name == "shoal_run_field_coverage_ratio" for name, _ in found) == 40


async def test_budgets_are_told_with_how_much_of_their_day_is_over(world: Timed) -> None:
    now, day = world.now, 86_400_000
    begin = now - day // 4
    terms = [
        Terms("d:a.example", (begin, begin + day), requests=4, size=100),
        Terms("s:s", (begin, begin + day), requests=8),
        Terms("*", (begin, begin + day), requests=8),
    ]
    await world.frontier.budgets.state(terms)
    await world.frontier.push([message(n, "a.example", cap=3) for n in range(3)])
    await world.frontier.start(handles(await world.lease(3)))
    body, _ = render(await collector(world).look())
    check_metrics(body)
    found = read(body)
    assert found["shoal_budget_spent_ratio", ("d:a.example", "requests")] == 0.75
    assert found["shoal_budget_spent_ratio", ("d:a.example", "bytes")] == 0
    assert found["shoal_budget_spent_ratio", ("s:s", "requests")] == 0.375
    assert found["shoal_budget_day_ratio", ("d:a.example",)] == 0.25
    assert found["shoal_budget_spent_ratio", ("tier browser", "requests")] == 0
    await world.client.hset("{shoal:0}:budgets", "d:odd", b"short")
    assert len((await collector(world).look()).shares) == 4
    await world.client.delete("{shoal:0}:budgets")
    await world.client.set("{shoal:0}:budgets", "of another type")
    assert [one.name for one in (await collector(world).look()).shares] == ["tier browser"]


async def test_counts_go_on_rising_when_a_generation_expires(world: Timed) -> None:
    fleet = collector(world)
    for generation in ("0", "1"):
        await world.frontier.push([message(n, generation=generation) for n in range(3)])
    first = await fleet.look()
    assert first.counts["s", "accepted"] == 6
    stats = first.stats
    later = dataclasses.replace(
        stats, generations={key: one for key, one in stats.generations.items() if key[1] == "1"}
    )
    assert fleet._rising.take(later)["s", "accepted"] == 6
    assert fleet._rising.take(stats)["s", "accepted"] == 9, "one that begins anew counts from 0"
    fewer = dict.fromkeys(stats.generations, SpiderStats(accepted=1))
    assert fleet._rising.take(dataclasses.replace(stats, generations=fewer))["s", "accepted"] == 9, "counts were lost"


async def test_how_long_a_due_host_waits_does_not_depend_on_its_priority(world: Timed) -> None:
    await world.frontier.push([message(1, "a.example"), message(2, "b.example", priority=50)])
    await world.pass_ms(7_000)
    look = await collector(world).look()
    assert look.eligible.late_ms == 7_000
    await world.lease(2)
    look = await collector(world).look()
    assert (look.eligible.hosts, look.eligible.late_ms) == (0, 0)


async def test_hosts_that_wait_for_a_short_delay_count_and_those_that_rest_for_long_do_not(world: Timed) -> None:
    await world.frontier.push([message(n, f"{n % 2}.example", delay_ms=1_000, cap=2) for n in range(10)])
    for lease in await world.lease(2):
        status, wait = (503, 600_000) if lease.host == "1.example" else (200, 0)
        await reported(world.frontier, [answer((lease.id, lease.token), status, retry_after_ms=wait)])
        await acked(world.frontier, [(lease.id, lease.token)])
    look = await collector(world).look()
    assert (look.eligible.hosts, look.eligible.requests, look.eligible.slots) == (1, 4, 2)


async def test_what_no_worker_may_send_is_no_work_and_waits_for_none(world: Timed) -> None:
    frontier = world.frontier
    await frontier.push([message(n, f"{n}.example") for n in range(2)])
    await frontier.push([message(5, "5.example", "s:browser"), message(6, "6.example", "t")])
    await world.pass_ms(7_000)
    ready = await collector(world).look()
    assert (ready.eligible.hosts, waiting_ms(ready.queues)) == (4, {"s": 7_000, "t": 7_000})
    await frontier.control.say("pause", "host 6.example")
    ready = await collector(world).look()
    assert (ready.eligible.hosts, waiting_ms(ready.queues)) == (3, {"s": 7_000, "t": 0})
    await Tiers(frontier.shards, keep_ms=0).spend({"browser": 100}, {})
    assert (await collector(world).look()).eligible.hosts == 2
    await frontier.control.say("pause", "spider s")
    ready = await collector(world).look()
    assert (ready.eligible.requests, waiting_ms(ready.queues)) == (0, {"t": 0})


async def test_a_frontier_that_redis_loses_is_another_one(world: Timed) -> None:
    born = ("shoal_fleet_born_timestamp_seconds", ("0",))
    fleet = collector(world)
    assert born not in read(render(await fleet.look())[0]), "before anything is there"
    await world.frontier.push([message(1)])
    await world.pass_ms(7_000)
    before = read(render(await fleet.look())[0])[born]
    await world.pass_ms(7_000)
    assert read(render(await fleet.look())[0])[born] == before
    await world.client.flushall()
    await world.be_silent(0)  # the clock of the test is a key, too
    await world.frontier.push([message(1)])
    await world.pass_ms(7_000)
    assert read(render(await fleet.look())[0])[born] > before


async def test_the_busiest_domains_are_kept_and_the_others_make_room(world: Timed) -> None:
    domains = world.frontier.domains
    for turn in range(12):
        await domains.add(
            {("big.example", "ok"): 50} | {(f"{turn}-{n}.example", "ok"): 1 for n in range(MOST_TOLD - 1)}
        )
    top = await domains.top(3)
    assert next(iter(top.items())) == ("big.example", {"ok": 600})
    await domains.add({("less.example", "ok"): 45, ("more.example", "ok"): 49})
    assert list(await domains.top(3)) == ["big.example", "more.example", "less.example"]
    assert await world.client.zcard("{shoal:0}:domains:busy") == await world.client.hlen("{shoal:0}:domains") == 1_000
    await world.pass_ms(3_600_000)
    await domains.add({("new.example", "ok"): 20})
    assert next(iter(await domains.top(1))) == "new.example", "what was busy an hour ago is not"
    for n in range(MOST_TOLD):
        await domains.add({(f"{n}.late", "ok"): 1} | {(f"{n}-{m}.late", "ok"): 1 for m in range(60)})
    assert await world.client.hlen("{shoal:0}:domains") == 1_000


async def test_a_worker_tells_of_its_busiest_domains_only(world: Timed) -> None:
    answers = Counter({(f"{n}.example", "ok"): n + 1 for n in range(500)})
    await world.frontier.domains.add(answers)
    top = await world.frontier.domains.top(500)
    assert len(top) == MOST_TOLD
    assert min(counts["ok"] for counts in top.values()) == 401


async def test_damage_costs_a_figure_and_no_scrape(world: Timed) -> None:
    frontier, client = world.frontier, world.client
    await frontier.push([message(n, f"{n}.example") for n in range(3)])
    await frontier.domains.add({("0.example", "ok"): 1, ("1.example", "ok"): 1})
    await frontier.dead.bury_seed(b"x", spider="s", reason="bad_seed")
    await client.hset("{shoal:0}:domains", "0.example", b"\xc1")
    await client.hset("{shoal:0}:hosts", "1.example", b"short")
    (number,) = await client.hkeys("{shoal:0}:dead")
    await client.hset("{shoal:0}:dead", number, b"\xc1\xff")
    await client.hset("{shoal:0}:gen:s:0", "dead:odd", "many")
    body, _ = render(await collector(world).look())
    found = read(body)
    assert found["shoal_fleet_dead_letters", ()] == 1
    assert found["shoal_domain_responses_total", ("1.example", "ok")] == 1
    assert found["shoal_fleet_eligible_hosts", ()] == 3
    for number, damaged in enumerate((b"\xc1", b"\x07")):  # no msgpack, and no table
        await client.hset("{shoal:0}:domains", "0.example", damaged)
        await frontier.domains.add({("0.example", "ok"): 4})
        assert (await frontier.domains.top())["0.example"] == {"ok": 4}, number
        await client.hdel("{shoal:0}:domains", "0.example")
    assert await client.hget("{shoal:0}:damaged", "{shoal:0}:domains 0.example") == b"\xc1", "the first is kept"
    await frontier.domains.add({("0.example", "ok"): 4})
    assert (await frontier.domains.top())["0.example"] == {"ok": 4}
    run = await frontier.runs.open("s", name="nightly", fresh=True)
    for key in ("domains", "domains:busy", f"fields:s:{run.generation}"):
        await client.delete("{shoal:0}:" + key)
        await client.set("{shoal:0}:" + key, "of another type")
    assert read(render(await collector(world).look())[0])["shoal_fleet_leader", ()] == 1
    await frontier.coverage.add("s", {(run.generation, "present", "price"): 30})
    assert (await frontier.coverage.of(run))["price"] == 1
    await frontier.domains.add({("0.example", "ok"): 2})
    assert (await frontier.domains.top())["0.example"] == {"ok": 2}


async def test_budgets_and_reasons_are_bounded(world: Timed) -> None:
    look = await collector(world).look()
    shares = [Share(f"d:{number}.example", "requests", 0.5, 0.5) for number in range(101)]
    stats = dataclasses.replace(look.stats, dead_by={f"http_{status}": 2 for status in range(300, 400)})
    found = read(render(dataclasses.replace(look, shares=shares, stats=stats, dead_letters=3))[0])
    told = Counter(name for name, _ in found)
    assert (told["shoal_budget_spent_ratio"], told["shoal_budget_day_ratio"]) == (100, 100)
    assert told["shoal_fleet_dead_letters_by"] == 41
    assert found["shoal_fleet_dead_letters_by", ("other",)] == 0, "letters were dropped between the two counts"


async def test_start_urls_that_no_worker_takes_are_work_that_waits(world: Timed) -> None:
    waiting = {"s": 7, "paused": 3, "none": 0}

    async def start_urls() -> dict[str, int]:
        return dict(waiting)

    fleet = collector(world)
    fleet._others = dataclasses.replace(fleet._others, start_urls=start_urls)
    await world.frontier.control.say("pause", "spider paused")
    told = list[dict[str, float]]()
    for left, ms in ((7, 0), (9, 400_000), (8, 60_000), (8, 20_000), (0, 1_000), (2, 5_000)):
        await world.pass_ms(ms)
        waiting["s"] = left
        found = read(render(await fleet.look())[0])
        told.append(
            {labels[0]: n for (name, labels), n in found.items() if name == "shoal_fleet_oldest_waiting_seconds"}
        )
    assert told == [{"s": 0}, {"s": 400}, {"s": 0}, {"s": 20}, {}, {"s": 0}]


async def test_a_run_that_nobody_ends_is_told_however_many_come_after_it(world: Timed) -> None:
    """Whoever pushed it has died before it was sealed."""
    left = await world.frontier.runs.open("s", name="nightly", fresh=True)
    await world.frontier.push([message(1, generation=left.generation)])
    await world.pass_ms(60_000)
    for lease in await world.lease():
        await acked(world.frontier, [(lease.id, lease.token)])
    await world.pass_ms(3_600_000)
    newer = [await world.frontier.runs.open("s", name=f"{n}") for n in range(MOST_RUNS + 1)]
    await world.frontier.runs.seal(newer[-1].id)
    await world.frontier.runs.settle()
    found = read(render(await collector(world).look())[0])
    quiet = {labels: value for (name, labels), value in found.items() if name == "shoal_run_quiet_seconds"}
    assert quiet["nightly", left.id, "s"] == 3_600
    assert quiet[f"{MOST_RUNS}", newer[-1].id, "s"] == 0
    assert len(quiet) == MOST_RUNS + 2


async def test_while_redis_is_away_there_are_no_figures(world: Timed, monkeypatch: pytest.MonkeyPatch) -> None:
    async def away() -> None:
        raise FrontierUnavailableError("away")

    fleet = collector(world)
    await fleet.refresh(lambda: True)
    monkeypatch.setattr(world.frontier.domains, "top", away)
    with pytest.raises(FrontierUnavailableError):
        await fleet.refresh(lambda: True)
    assert fleet.latest is None


async def test_who_does_not_lead_exports_no_figures(world: Timed) -> None:
    clock = Clock()
    fleet = collector(world, clock)
    assert read(fleet.text()[0]) == {("shoal_fleet_leader", ()): 0}
    leads = True
    await fleet.refresh(lambda: leads)
    assert read(fleet.text()[0])["shoal_fleet_leader", ()] == 1
    leads = False
    assert read(fleet.text()[0]) == {("shoal_fleet_leader", ()): 0}, "the next one exports it now"
    leads = True
    clock.now += OLD_LOOKS * fleet._config.every_seconds + 1
    assert read(fleet.text()[0]) == {("shoal_fleet_leader", ()): 0}, (
        "an old figure looks like a fleet that stands still"
    )


async def test_a_fleet_of_a_thousand_runs_and_domains_stays_small(world: Timed) -> None:
    await world.frontier.push([message(n, f"{n}.example") for n in range(400)])
    for start in range(0, 400, 100):
        await world.frontier.domains.add({(f"{n}.example", "ok"): 1 for n in range(start, start + 100)})
    body, _ = render(await collector(world).look())
    assert len(read(body)) < 3_000


@pytest.mark.parametrize(
    ("name", "bad"),
    [
        ("FLEET_WORKERS", -1),
        ("FLEET_WORKERS", "many"),
        ("METRICS_QUEUE_SECONDS", 0),
        ("TIER_DAILY_COST", {"api": "x"}),
        ("TIER_DAILY_COST", {"api": -1}),
        ("TIER_DAILY_REQUESTS", {"http": 5}),
    ],
)
def test_ranges(name: str, bad: Any) -> None:
    settings = _settings()
    settings.set(name, bad, priority="cmdline")
    with pytest.raises(ConfigError, match=name):
        FleetConfig.from_settings(settings)


async def test_a_lease_says_for_how_long_it_was_queued_whatever_its_priority(world: Timed) -> None:
    await world.frontier.push([message(1, "a.example"), message(2, "b.example", priority=7)])
    await world.pass_ms(5_000)
    assert {int(lease.body): lease.waited_ms for lease in await world.lease(2)} == {1: 5_000, 2: 5_000}


@pytest.mark.parametrize("score", [float("nan"), float("inf"), -1e300, 1e18])
def test_a_damaged_place_in_the_queue_costs_that_figure_alone(score: float) -> None:
    record = struct.pack("<dddddBBH", 1, score, 0, 0, 0, 0, 0, 0) + b"\x01a\x01s\x010\x01w"
    assert read_lease(0, 1_000, 7, record, seal(message(1)), 1_000, 60_000).waited_ms == 0
