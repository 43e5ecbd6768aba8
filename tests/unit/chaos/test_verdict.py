"""The chaos run's judge sees what is wrong, and excuses only what a freeze may cost."""

from __future__ import annotations

from random import Random
from typing import Any

from demo.log import Entry
from tests.chaos import verdict
from tests.chaos.plan import build
from tests.chaos.trouble import Event, Freeze, schedule

DELAY = 0.1
PLAN = build(1, port=8000, hosts=2, pages=3)


def entry(at: float, path: str = "/", agent: str = "worker-1", host: str = "a", status: int = 200) -> Entry:
    return Entry(at, host, path, status, agent)


def document(url: str, version: int = 1) -> dict[str, Any]:
    return {"url": url, "version": version}


def test_gaps_are_measured_per_host() -> None:
    seen = verdict.wire([entry(1.0), entry(1.01, host="b"), entry(1.15, "/2")], DELAY, [])

    assert seen.requests == 3
    assert round(seen.smallest, 3) == 0.15
    assert not seen.too_short


def test_a_gap_below_the_delay_is_a_violation() -> None:
    seen = verdict.wire([entry(1.0), entry(1.09, "/2")], DELAY, [])

    assert [round(gap.seconds, 3) for gap in seen.too_short] == [0.09]


def test_a_freeze_costs_one_gap_of_its_worker_right_after_it_and_no_more() -> None:
    freeze = Freeze("worker-2", began=1.0, ended=5.0)
    late = [entry(4.99), entry(5.01, "/2", "worker-2"), entry(5.2, "/3")]

    assert len(verdict.wire(late, DELAY, [freeze]).by_freezes) == 1
    assert len(verdict.wire(late, DELAY, []).too_short) == 1
    again = [*late, entry(7.0), entry(7.01, "/4", "worker-2")]
    assert len(verdict.wire(again, DELAY, [freeze]).too_short) == 1
    twice = [*late, *(entry(one.at, one.path, one.agent, "b") for one in late)]
    assert len(verdict.wire(twice, DELAY, [freeze]).too_short) == 1


def test_redeliveries_are_good_answers_beyond_the_first() -> None:
    entries = [entry(1, "/p"), entry(2, "/p"), entry(3, "/q", status=503), entry(4, "/q"), entry(5, "/robots.txt")]

    assert verdict.wire([*entries, entry(6, "/robots.txt")], DELAY, []).redeliveries == 1


def test_lost_and_duplicated_pages_are_named() -> None:
    first, *rest = sorted(PLAN.expected)
    stored = verdict.stored(PLAN, [document(url) for url in rest])
    assert (stored.lost, stored.duplicated) == ([first], [])

    rewritten = verdict.stored(PLAN, [document(first, version=2), *(document(url) for url in rest)])
    assert (rewritten.lost, rewritten.duplicated) == ([], [first])

    foreign = verdict.stored(PLAN, [document(url) for url in [*PLAN.expected, "http://elsewhere/"]])
    assert foreign.duplicated == ["http://elsewhere/"]


def test_dead_letters_must_be_those_that_were_meant() -> None:
    assert not list(verdict.unexpected_dead(PLAN, PLAN.dead))

    url, reason = next(iter(PLAN.dead.items()))
    assert list(verdict.unexpected_dead(PLAN, {**PLAN.dead, url: "deliveries"})) == [f"{url}: deliveries, not {reason}"]
    assert len(list(verdict.unexpected_dead(PLAN, {}))) == len(PLAN.dead)


def test_blows_are_drawn_from_the_seed_and_come_in_order() -> None:
    events = schedule(Random(1), kills=5, freezes=2, restarts=1, mongo_kills=3)

    assert events == schedule(Random(1), kills=5, freezes=2, restarts=1, mongo_kills=3)
    assert events == sorted(events, key=lambda event: event.share)
    blows = sorted(event.kind for event in events if event.kind != "deploy")
    assert blows == ["freeze"] * 2 + ["kill"] * 5 + ["mongo"] * 3 + ["restart"]
    assert isinstance(events[0], Event)
