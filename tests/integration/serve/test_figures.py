"""The figures that `scrapy serve` gives, and what a fleet makes of its scaling signal."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest
from scrapy.settings import Settings
from starlette.requests import Request

from crawler.errors import ConfigError
from crawler.frontier.errors import FrontierUnavailableError
from crawler.frontier.run_record import Overlap
from crawler.frontier.state.leader import Lead
from crawler.frontier.state.schedules import Tick, Timetable
from crawler.policy.scaling import Demand
from crawler.policy.schedules import Interval
from crawler.producers.schedule import Schedule, ScheduleSource
from crawler.serve.figures import FleetFiguresPart
from crawler.serve.lateness import Lateness
from crawler.serve.scaling import Scaling, ScalingConfig
from tests.integration.frontier.making import Timed, acked, answer, handles, message, reported, timed
from tests.prometheus import check_metrics
from tests.shipped import shipped

PER_WORKER = 10
MOST = 6


def settings(**given: Any) -> Settings:
    made = shipped().copy()
    for name, value in ({"SCALING_REQUESTS_PER_WORKER": PER_WORKER, "SCALING_HOLD_SECONDS": 0} | given).items():
        made.set(name, value, priority="cmdline")
    return made


def request(query: str = "") -> Request:
    return Request({"type": "http", "headers": [], "query_string": query.encode()})


@pytest.fixture
async def world(redis_client: Any) -> Timed:
    return await timed(redis_client)


def part_of(world: Timed, **given: Any) -> FleetFiguresPart:
    return FleetFiguresPart(world.frontier, settings(**given), {"s": "s:start_urls", "plain": ""})


async def scaled(part: FleetFiguresPart, query: str = "") -> tuple[int, Any]:
    await part.look_for_scaling()
    response = part.scale(request(query))
    return response.status_code, json.loads(bytes(response.body))


# --- the scaling signal


async def test_nobody_is_wanted_where_nothing_is_to_be_done_and_start_urls_call_one(world: Timed) -> None:
    part = part_of(world)
    assert (await scaled(part))[1]["workers"] == 0
    await world.client.rpush("s:start_urls", "http://a.example/")
    assert (await scaled(part))[1]["workers"] == 1
    await world.client.delete("s:start_urls")
    assert (await scaled(part))[1]["workers"] == 0


async def test_a_key_of_start_urls_that_cannot_be_read_costs_no_more_than_itself(world: Timed) -> None:
    await world.frontier.push([message(1)])
    await world.client.set("s:start_urls", "no list")
    assert (await scaled(part_of(world)))[1]["workers"] == 1
    await world.client.execute_command("ACL", "SETUSER", "default", "resetkeys", "~{shoal:*")
    try:
        assert (await scaled(part_of(world)))[1]["workers"] == 1
    finally:
        await world.client.execute_command("ACL", "SETUSER", "default", "allkeys")


async def test_what_is_paused_is_work_for_nobody(world: Timed) -> None:
    part = part_of(world)
    await world.frontier.push([message(n, f"{n}.example") for n in range(30)])
    await world.frontier.control.say("pause", "spider s")
    assert (await scaled(part))[1]["workers"] == 0
    await world.frontier.control.say("resume", "spider s")
    assert (await scaled(part))[1]["workers"] > 0


async def test_a_long_queue_of_one_host_is_work_for_one(world: Timed) -> None:
    part = part_of(world)
    await world.frontier.push([message(n, "one.example", delay_ms=1_000) for n in range(3_000)])
    assert (await scaled(part))[1]["workers"] == 1
    for _ in range(5):
        leased = await world.lease(50)
        assert (await scaled(part))[1]["workers"] == 1, "while its request is on the wire, too"
        await reported(world.frontier, [answer(handle) for handle in handles(leased)])
        await acked(world.frontier, handles(leased))
        await world.pass_ms(500)
        assert (await scaled(part))[1]["workers"] == 1, "and between two turns"


async def test_many_hosts_are_work_for_many(world: Timed) -> None:
    await world.frontier.push([message(n, f"{n % 500}.example", delay_ms=1_000) for n in range(1_500)])
    status, told = await scaled(part_of(world))
    assert status == 200
    assert told["workers"] == 150 >= MOST
    assert told["eligible_slots"] == 500


async def test_a_pool_of_workers_is_told_of_its_own_queue(world: Timed) -> None:
    part = part_of(world)
    await world.frontier.push([message(n, f"{n}.example") for n in range(30)])
    await world.frontier.push([message(n, f"{n}.example", "s:browser") for n in range(100, 150)])
    await world.frontier.push([message(n, f"{n}.example", "t") for n in range(200, 270)])
    told = {
        query: (await scaled(part, query))[1]["workers"]
        for query in ("", "spider=s", "tier=http", "tier=browser", "spider=s&tier=http", "tier=api", "spider=t")
    }
    assert list(told.values()) == [15, 8, 10, 5, 3, 0, 7]
    assert (await scaled(part, "tier=brwoser"))[0] == 400
    assert (await scaled(part, "spider=nobody"))[0] == 400
    assert (await scaled(part, "spider=s&tier=api"))[0] == 200
    assert (await scaled(part, "spider=plain"))[1]["workers"] == 0, "known, and nothing was ever pushed to it"


async def test_hosts_whose_delay_is_long_are_work_for_few(world: Timed) -> None:
    await world.frontier.push([message(n, f"{n % 50}.example", delay_ms=3_600_000) for n in range(500)])
    part = part_of(world)
    assert (await scaled(part))[1]["workers"] == 50
    leased = await world.lease(50)
    await world.frontier.start(handles(leased))
    await reported(world.frontier, [answer(handle) for handle in handles(leased)])
    await acked(world.frontier, handles(leased))
    assert (await scaled(part))[1]["workers"] == 0, "their next turn comes in an hour"


async def test_hosts_that_rest_for_long_are_work_for_nobody(world: Timed) -> None:
    part = part_of(world)
    await world.frontier.push([message(n, f"{n % 20}.example", delay_ms=1_000) for n in range(400)])
    for lease in await world.lease(20):
        await reported(world.frontier, [answer((lease.id, lease.token), 503, retry_after_ms=3_600_000)])
        await world.frontier.nack(lease.id, lease.token, delay_ms=3_600_000)
    assert (await scaled(part))[1]["workers"] == 0
    await world.pass_ms(3_600_000 + 400_000)
    assert (await scaled(part))[1]["workers"] > 1, "back from zero"


async def test_a_crawl_scales_up_once_and_down_once(world: Timed) -> None:
    """A fleet of as many workers as are wanted, at most MOST, each of which does one request a second."""
    part, wanted = part_of(world, SCALING_HOLD_SECONDS=60), list[int]()
    clock = iter(range(10_000))
    part.scaling = Scaling(part.scaling._config, lambda: next(clock) * 10.0)
    await world.frontier.push([message(n, f"{n % 40}.example", delay_ms=1_000) for n in range(400)])
    for _ in range(20):
        wanted.append(min(MOST, (await scaled(part))[1]["workers"]))
        for _ in range(4):
            leased = await world.lease(10 * wanted[-1])
            await reported(world.frontier, [answer(handle) for handle in handles(leased)])
            await acked(world.frontier, handles(leased))
            await world.pass_ms(2_500)
    steps = [after - before for before, after in itertools.pairwise(wanted)]
    assert wanted[0] == MOST
    assert wanted[-1] == 0
    assert all(step <= 0 for step in steps), wanted


async def test_what_is_not_known_is_503_and_never_0(world: Timed, monkeypatch: pytest.MonkeyPatch) -> None:
    part = part_of(world)
    assert part.scale(request()).status_code == 503, "before the first look"
    await world.frontier.push([message(1)])
    assert (await scaled(part))[0] == 200

    async def away(*_: Any) -> Any:
        raise FrontierUnavailableError("away")

    monkeypatch.setattr(world.frontier.shards, "run", away)
    status, told = await scaled(part)
    assert (status, "workers" in told) == (503, False)


def test_an_old_answer_is_none() -> None:
    now = [0.0]
    scaling = Scaling(ScalingConfig(every_seconds=10, per_worker=1, hold_seconds=0), lambda: now[0])
    scaling.take({("s", "http"): Demand(5, 5)})
    now[0] = 31
    assert scaling.answer() is not None
    now[0] = 32
    assert scaling.answer() is None


def test_a_peak_is_held_where_its_queue_is_gone_since() -> None:
    now = [0.0]
    scaling = Scaling(ScalingConfig(every_seconds=10, per_worker=1, hold_seconds=60), lambda: now[0])
    scaling.take({("s", "http"): Demand(5, 5)})
    for now[0], workers in ((59, 5), (61, 0)):
        scaling.take({})
        for asked in ((None, None), ("s", None), (None, "http"), ("s", "http")):
            answer = scaling.answer(*asked)
            assert answer is not None
            assert (answer["workers"], answer["wanted_now"]) == (workers, 0), asked


@pytest.mark.parametrize(
    ("name", "bad"), [("SCALING_REQUESTS_PER_WORKER", 0), ("SCALING_HOLD_SECONDS", -1), ("SCALING_HOLD_SECONDS", "x")]
)
def test_ranges(name: str, bad: Any) -> None:
    with pytest.raises(ConfigError, match=name):
        ScalingConfig.from_settings(settings(**{name: bad}))


# --- the figures


async def test_the_leader_exports_the_fleet_and_the_others_do_not(world: Timed) -> None:
    part, leads = part_of(world), True
    await world.frontier.push([message(1)])
    await part.look(Lead(1, lambda: leads))
    assert b"shoal_fleet_workers_wanted{" not in bytes(part.metrics(request()).body), "not known yet, and never 0 then"
    await part.look_for_scaling()
    await part.look(Lead(1, lambda: leads))
    body = bytes(part.metrics(request()).body)
    check_metrics(body)
    assert b'shoal_fleet_requests{spider="s",state="queued"} 1.0' in body
    for tier, wanted in (("http", b"1.0"), ("browser", b"0.0"), ("api", b"0.0")):
        assert b'shoal_fleet_workers_wanted{tier="%b"} %b' % (tier.encode(), wanted) in body
    leads = False
    assert b"shoal_fleet_requests" not in bytes(part.metrics(request()).body)


def test_how_late_schedules_are() -> None:
    source = ScheduleSource("urls", ("https://a.example/",))

    def text(**given: Any) -> str:
        return Schedule("x", "s", source, Interval(600, 0), **given).text()

    definitions = {name: text() for name in ("late", "waits", "in-time", "by-hand")}
    definitions |= {"paused": text(paused=True), "broken": "{"}
    cursors = dict.fromkeys(("waits", "in-time", "by-hand"), "2400")
    cursors |= {"late": "1200", "paused": "600", "broken": "1800"}
    ticks = [Tick("waits", "2400"), Tick("gone", "600"), Tick("by-hand", "now-2300999")]
    seen = Timetable(2_500_000, "r", definitions, cursors, {}, {}, ticks)
    assert {one.name: one.late_seconds for one in Lateness().of(seen, ())} == {
        "late": 700,
        "waits": 100,
        "in-time": 0,
        "by-hand": 200,
        "paused": 0,
        "broken": 700,
    }


def _late(now_s: int, state: str, overlap: Overlap = "allow", *, lateness: Lateness, in_the_way: bool = False) -> float:
    """How late a schedule is whose only tick, due at 1000, has come to *state*."""
    text = Schedule(
        "big", "s", ScheduleSource("urls", ("https://a.example/",)), Interval(86_400, 0), overlap=overlap
    ).text()
    seen = Timetable(now_s * 1000, "r", {"big": text}, {"big": "1000"}, {}, {}, [Tick("big", "1000", state)])
    (figures,) = lateness.of(seen, {("s", "big")} if in_the_way else ())
    return figures.late_seconds


def test_a_tick_is_late_since_it_got_further_last() -> None:
    lateness = Lateness()
    assert _late(1_010, "{}", lateness=lateness) == 10
    for now, position in ((1_020, "1"), (4_000, "2"), (9_000, "3")):
        assert _late(now, json.dumps({"run": "20261122-1", "position": position}), lateness=lateness) == 0
    state = json.dumps({"run": "20261122-1", "position": "3", "error": "Redis is full"})
    assert _late(10_000, state, lateness=lateness) == 1_000, "to be tried again is not to get further"
    assert _late(10_000, state, lateness=Lateness()) == 9_000, "a new leader has not seen it move"


@pytest.mark.parametrize(("overlap", "seconds"), [("queue", 0), ("skip", 0), ("replace", 4_000), ("allow", 4_000)])
def test_a_tick_that_waits_for_the_run_before_as_told_is_not_late(overlap: Overlap, seconds: int) -> None:
    assert _late(5_000, "{}", overlap, lateness=Lateness(), in_the_way=True) == seconds
    assert _late(5_000, "{}", overlap, lateness=Lateness()) == 4_000
