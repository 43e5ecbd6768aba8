"""Budgets: what they hold back, that they hold nothing else back, and that they renew."""

from __future__ import annotations

import math
import struct
from functools import partial
from typing import Any

import pytest

from crawler.frontier.state.budgets import Terms
from crawler.frontier.state.robots import CachedRobots
from crawler.policy.robots.responses import RobotsVerdict
from tests.integration.frontier.making import START_MS, Timed, acked, handles, message, sent, spent_of, timed

DAY = 86_400_000
HOUR = 3_600_000
TODAY = (START_MS - START_MS % DAY, START_MS - START_MS % DAY + DAY)
MANY: dict[str, Any] = {"cap": 100}


async def rest(made: Timed, ms: int) -> None:
    """Time passes and workers live: budgets are stated again every minute."""
    await made.pass_ms(ms)


async def state(made: Timed, *terms: Terms) -> None:
    await made.frontier.budgets.state(terms)


async def test_a_domain_spends_its_requests_and_no_other_waits(redis_client: Any) -> None:
    made = await timed(redis_client)
    budget = Terms("d:a.example", TODAY, requests=3)
    await state(made, budget)
    for at, host in enumerate(("a.example", "shop.a.example", "b.example")):
        await made.frontier.push([message(10 * at + n, host, **MANY) for n in range(4)])
    leased = await made.lease()
    hosts = [lease.host for lease in leased]
    assert len(hosts) == 7
    assert hosts.count("b.example") == 4
    [closed] = await made.frontier.budgets.closed(made.now)
    assert (closed.name, closed.what, closed.until_ms) == ("d:a.example", "requests", TODAY[1] - made.now)
    assert closed.told == "the budget of a.example is spent (requests)"
    await acked(made.frontier, handles(leased))
    while made.now < TODAY[1]:
        assert await made.lease() == []
        await rest(made, min(3_600_000, TODAY[1] - made.now))
        await state(made, budget)
    assert len(await made.lease()) == 3
    assert [one.until_ms for one in await made.frontier.budgets.closed(made.now)] == [DAY]


async def test_each_other_host_has_the_default_by_itself(redis_client: Any) -> None:
    made = await timed(redis_client)
    await state(made, Terms("*", TODAY, requests=2), Terms("d:c.example", TODAY, requests=1))
    for at, host in enumerate(("a.example", "b.example", "c.example")):
        await made.frontier.push([message(10 * at + n, host, **MANY) for n in range(4)])
    hosts = [lease.host for lease in await made.lease()]
    assert sorted(hosts) == ["a.example", "a.example", "b.example", "b.example", "c.example"]


async def test_a_request_that_was_not_sent_is_given_back_and_a_retry_is_not(redis_client: Any) -> None:
    made = await timed(redis_client)
    await state(made, Terms("d:a.example", TODAY, requests=2))
    await made.frontier.push([message(n, **MANY) for n in range(4)])
    for _ in range(5):
        leases = await made.lease(2)
        assert len(leases) == 2
        await made.frontier.give_back(handles(leases[1:]))
        assert await made.frontier.move(leases[0].id, leases[0].token, stream="s")
    [one, other] = await made.lease(2)
    await made.frontier.nack(one.id, one.token, delay_ms=0)  # postponed, not sent
    await sent(made.frontier, handles([other]))
    await made.frontier.nack(other.id, other.token, delay_ms=0)
    assert len(await made.lease(2)) == 1
    assert await made.lease(2) == []
    used = await spent_of(made.frontier, "d:a.example", TODAY[0])
    assert used[0] == 2


@pytest.mark.parametrize("end", ["bury", "skip"])
async def test_what_ends_unsent_spends_nothing(redis_client: Any, end: str) -> None:
    made = await timed(redis_client)
    await state(made, Terms("d:a.example", TODAY, requests=2))
    await made.frontier.push([message(n, **MANY) for n in range(6)])

    async def ended() -> bool:
        [lease] = await made.lease(1)
        if end == "bury":
            return await made.frontier.bury(lease.id, lease.token, reason="robots_unreachable")
        return (await made.frontier.skip(handles([lease, lease]))) == [True, False]

    assert [await ended() for _ in range(4)] == [True] * 4
    assert (await spent_of(made.frontier, "d:a.example", TODAY[0]))[0] == 0
    [started] = await made.lease(1)
    await sent(made.frontier, handles([started]))
    assert await made.frontier.bury(started.id, started.token, reason="http_500")
    assert (await spent_of(made.frontier, "d:a.example", TODAY[0]))[0] == 1


async def test_what_was_leased_yesterday_gives_nothing_back_to_today(redis_client: Any) -> None:
    made = await timed(redis_client)
    tomorrow = (TODAY[1], TODAY[1] + DAY)
    await made.pass_ms(TODAY[1] - START_MS - 1_000)
    await state(made, Terms("d:a.example", TODAY, requests=5))
    await made.frontier.push([message(n, **MANY) for n in range(2)])
    before = handles(await made.lease(1))
    await made.pass_ms(1_000)
    await state(made, Terms("d:a.example", tomorrow, requests=5))
    assert len(await made.lease(1)) == 1
    await made.frontier.give_back(before)
    assert (await spent_of(made.frontier, "d:a.example", tomorrow[0]))[0] == 1


@pytest.mark.parametrize(
    ("terms", "spent", "what"),
    [
        ({"size": 1_000}, (400, 0, 0), "bytes"),
        ({"browser_ms": 2_000}, (0, 700, 0), "browser"),
        ({"cost": 0.01}, (0, 0, 0.004), "cost"),
    ],
)
async def test_bytes_time_and_cost_settle_with_answers(
    redis_client: Any, terms: dict[str, float], spent: tuple[float, float, float], what: str
) -> None:
    made = await timed(redis_client)
    await state(made, Terms("d:a.example", TODAY, **terms))  # type: ignore[arg-type]
    await made.frontier.push([message(n, **MANY) for n in range(9)])
    for _ in range(3):
        assert len(await made.lease(1)) == 1
        await made.frontier.budgets.charge({("a.example", "s", "0"): spent})
    assert await made.lease(1) == []
    assert [one.what for one in await made.frontier.budgets.closed(made.now)] == [what]


async def test_a_spiders_budget_holds_that_spider_back_alone(redis_client: Any) -> None:
    made = await timed(redis_client)
    await state(made, Terms("s:s", TODAY, requests=4))
    await made.frontier.push([message(n, f"{n}.example", **MANY) for n in range(1)])
    for n in range(1, 9):
        await made.frontier.push([message(n, "a.example", **MANY)])
        await made.frontier.push([message(n, "a.example", stream="t", **MANY)])
    assert len(await made.lease(100, ("s",))) <= 4 + 1
    assert len(await made.lease(100, ("t",))) == 8


@pytest.mark.one_server("each shard has its share")
async def test_a_runs_budget_holds_that_run_back_alone_and_may_last(redis_client: Any) -> None:
    made = await timed(redis_client)
    await state(made, Terms("r:s:7", requests=2, lasting=True))
    for n in range(6):
        await made.frontier.push([message(n, generation="7", **MANY)])
        await made.frontier.push([message(10 + n, generation="8", **MANY)])
    leases = [*await made.lease(), *await made.lease()]
    assert sorted(lease.generation for lease in leases) == ["7"] * 2 + ["8"] * 6
    total = (await made.frontier.inspection.stats("s")).total
    assert (total.queued, total.delayed, total.leased) == (0, 4, 8)
    await acked(made.frontier, handles(leases))
    for _ in range(3):
        await rest(made, 1_000_000)
        assert await made.lease() == []
    assert (await made.frontier.inspection.stats("s")).total.delayed == 4
    assert (await made.frontier.budgets.closed(made.now))[0].name == "r:s:7"


async def test_hours_open_and_close(redis_client: Any) -> None:
    made = await timed(redis_client)
    opens, closes = made.now + 90_000, made.now + 300_000
    terms = Terms("d:a.example", TODAY, windows=((opens, closes), (opens + DAY, closes + DAY)))
    await state(made, terms)
    await made.frontier.push([message(n, **MANY) for n in range(3)])
    assert await made.lease() == []
    [closed] = await made.frontier.budgets.closed(made.now)
    assert (closed.what, closed.until_ms) == ("hours", 90_000)
    await rest(made, 91_000)
    assert len(await made.lease(1)) == 1
    await rest(made, 210_000)
    await state(made, terms)
    assert await made.lease(1) == []
    await rest(made, DAY - 210_000)
    await state(made, terms)
    assert len(await made.lease(1)) == 1


async def test_what_nobody_states_any_more_is_over_and_damage_costs_a_budget_alone(redis_client: Any) -> None:
    made = await timed(redis_client)
    await state(made, Terms("d:a.example", TODAY, requests=1), Terms("d:b.example", TODAY, requests=1))
    for at, host in enumerate(("a.example", "b.example")):
        await made.frontier.push([message(10 * at + n, host, **MANY) for n in range(3)])
    shard = made.frontier.shards.of_host("a.example")
    await made.client.hset(made.frontier.shards.key(shard, "budgets"), "d:a.example", b"nonsense")
    await made.client.hset(made.frontier.shards.key(shard, f"used:{TODAY[0]}"), "d:b.example", b"x")
    leases = await made.lease()
    assert len(leases) == 4
    await acked(made.frontier, handles(leases))
    await rest(made, 310_000)
    assert len(await made.lease()) == 2


@pytest.mark.parametrize("key", ["limited", "budgets", "closed", "used", "pages"])
async def test_a_key_of_another_type_is_set_aside_and_requests_go_on(redis_client: Any, key: str) -> None:
    made = await timed(redis_client)
    await state(made, Terms("d:a.example", TODAY, requests=1))
    await made.frontier.push([message(n, pages_per_host=5, **MANY) for n in range(4)])
    assert len(await made.lease()) == 1
    assert await made.lease() == []
    name = {"used": f"used:{TODAY[0]}", "pages": "pages:s:0"}.get(key, key)
    full = made.frontier.shards.key(made.frontier.shards.of_host("a.example"), name)
    await made.client.delete(full)
    await made.client.rpush(full, "x")
    await state(made, Terms("d:a.example", TODAY, requests=50))
    await rest(made, 61_000)
    await made.frontier.push([message(9, pages_per_host=5, **MANY)])
    assert 1 <= len(await made.lease()) <= 4


async def test_the_hours_of_a_robots_txt_hold_its_host_and_no_other(redis_client: Any) -> None:
    made = await timed(redis_client)
    now = made.now
    hours = Terms("v:a.example", windows=((now + HOUR, now + 2 * HOUR),), holds_ms=DAY)
    file = CachedRobots(RobotsVerdict.RULES, 200, fresh_ms=0)
    keep = partial(made.frontier.robots.keep, "a.example", "http://a.example", "w", file, keep_ms=DAY)
    await keep(hours=hours)
    await made.frontier.push([message(number, **MANY) for number in range(4)])
    await made.frontier.push([message(9, "b.example", **MANY)])
    leases = await made.lease()
    assert [lease.host for lease in leases] == ["b.example"]
    await acked(made.frontier, handles(leases))
    [closed] = await made.frontier.budgets.closed(now)
    assert (closed.what, closed.until_ms) == ("hours", HOUR)
    assert closed.governs("a.example", "s")
    assert not closed.governs("b.example", "s")
    assert closed.told == "the robots.txt of a.example names the hours in which it may be visited"
    await rest(made, HOUR)
    assert len(await made.fetch(2)) == 2
    await rest(made, HOUR)
    assert await made.lease(1) == []
    assert await spent_of(made.frontier, "v:a.example", 0) == (0, 0, 0, 0)
    await rest(made, DAY)  # the file is out of date, and its hours with it
    assert len(await made.lease(1)) == 1
    await keep(hours=hours)
    await made.frontier.robots.claim("a.example", "http://a.example", "w")
    await keep()  # it names none any more
    assert len(await made.lease(1)) == 1


async def test_a_budget_that_is_changed_in_mid_day_is_shown_as_it_is_now(redis_client: Any) -> None:
    made = await timed(redis_client)
    await state(made, Terms("d:a.example", TODAY, requests=2), Terms("*", TODAY, requests=1))
    await made.frontier.push([message(number, **MANY) for number in range(9)])
    await made.frontier.push([message(20 + number, "b.example", **MANY) for number in range(3)])
    assert len(await made.fetch()) == 3
    await rest(made, 60_000)
    assert await made.fetch() == []
    assert {one.name for one in await made.frontier.budgets.closed(made.now)} == {"d:a.example", "*:b.example"}
    await state(made, Terms("d:a.example", TODAY, requests=5), Terms("*", TODAY, requests=1))
    assert [one.name for one in await made.frontier.budgets.closed(made.now)] == ["*:b.example"]
    await rest(made, 60_000)
    assert len(await made.fetch()) == 3
    await state(made, Terms("d:a.example", TODAY), Terms("*", TODAY))
    await rest(made, 60_000)
    assert len(await made.fetch()) == 6
    assert await made.frontier.budgets.closed(made.now) == []


async def test_a_clock_that_jumps_ahead_lifts_no_budget(redis_client: Any) -> None:
    made = await timed(redis_client)
    await state(made, Terms("d:a.example", TODAY, requests=3))
    await made.frontier.push([message(number, **MANY) for number in range(20)])
    assert len(await made.fetch()) == 3
    await made.be_silent(DAY)
    assert len(await made.fetch()) == 3  # of the new day
    await state(made)
    await rest(made, 60_000)
    assert await made.fetch() == []


@pytest.mark.parametrize("raw", [b"", b"x" * 56, struct.pack("<7d", 0, *[math.nan] * 3, 1, 0, 0), b"\0" * 55])
async def test_damaged_terms_stop_nobody(redis_client: Any, raw: bytes) -> None:
    made = await timed(redis_client)
    await made.frontier.push([message(number, **MANY) for number in range(4)])
    await made.client.hset(made.frontier.shards.key(0, "budgets"), "d:a.example", raw)
    assert len(await made.fetch(2)) == 2
    await state(made, Terms("d:a.example", TODAY, requests=1))
    await made.fetch(1)
    assert await made.fetch(1) == []
    assert await made.frontier.budgets.shares(made.now)


async def test_what_is_spent_of_a_budget_without_an_end_is_told_until_it_renews(redis_client: Any) -> None:
    made = await timed(redis_client)
    run = "r:s:20231114000001"
    await state(made, Terms(run, requests=10, lasting=True), Terms("d:a.example", TODAY, requests=1))
    await made.frontier.push([message(n, **MANY, generation="20231114000001") for n in range(2)])
    await made.fetch()
    shares = {(one.name, one.what): (one.spent, one.day) for one in await made.frontier.budgets.shares(made.now)}
    past = (made.now - TODAY[0]) / DAY
    assert shares == {(run, "requests"): (0.1, 1.0), ("d:a.example", "requests"): (1.0, past)}
    assert await made.lease() == []
    for at, names in ((TODAY[1] - 1, ["d:a.example"]), (TODAY[1], [])):
        assert [one.name for one in await made.frontier.budgets.closed(at)] == names
