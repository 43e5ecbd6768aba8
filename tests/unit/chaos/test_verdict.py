"""The chaos run's judge sees what is wrong, and excuses only what a freeze may cost."""

from __future__ import annotations

import signal
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any
from urllib.parse import urlsplit

import pytest

from crawler.worker.prefetch import LOST_DATA
from demo.log import Entry
from tests.chaos import report, rules, verdict
from tests.chaos.full import Fillings
from tests.chaos.plan import build
from tests.chaos.result import Options, Result
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


def test_a_worker_that_saw_redis_emptied_owes_status_1() -> None:
    assert verdict.owed(f"12:00 ERROR: {LOST_DATA}\n12:01 INFO: Spider closed\n") == {1}
    assert verdict.owed("12:01 INFO: Spider closed\n") == {0}
    assert verdict.owed("") == {0, -signal.SIGTERM}


def test_blows_are_drawn_from_the_seed_and_come_in_order() -> None:
    events = schedule(Random(1), kills=5, freezes=2, restarts=1, mongo_kills=3, olders=2)

    assert events == schedule(Random(1), kills=5, freezes=2, restarts=1, mongo_kills=3, olders=2)
    assert events == sorted(events, key=lambda event: event.share)
    blows = sorted(event.kind for event in events if event.kind != "deploy")
    assert blows == ["freeze"] * 2 + ["kill"] * 5 + ["mongo"] * 3 + ["older"] * 2 + ["restart"]
    assert isinstance(events[0], Event)


def test_stricter_rules_hold_from_the_moment_they_are_stated_until_some_seconds_after_their_worker() -> None:
    stricter = rules.Stricter(delay=1.0, began=10.0, ended=20.0)
    before = [entry(at / 10) for at in range(100)]
    during = [entry(at) for at in (12.0, 13.0, 14.1, 15.2, 19.0)]
    kept = [entry(at) for at in (20.5, 21.5, 24.0, 26.0, 29.0)]
    after = [entry(29.1 + at / 10) for at in range(100)]

    def found(entries: list[Entry]) -> list[str]:
        return rules.violations(entries, stricter, [], settled=1.0)

    assert found(before + during + kept + after) == []
    assert ["too close" in line for line in found([*before, *during, entry(18.5), *kept, *after])] == [True]
    assert found(before + kept + after) == ["no host was visited under the stricter rules"]
    assert ["the delay fell 0.6 s" in line for line in found([*during, *kept, entry(20.6), *after])] == [True]
    slow = [entry(29.0 + at) for at in range(1, 16)]
    assert ["for longer than 15 s" in line for line in found(during + kept + slow)] == [True]


@pytest.mark.parametrize(("until", "too_long"), [(45, False), (55, True)])
def test_stricter_rules_outlive_their_worker_by_a_silence_of_the_fleet(until: int, too_long: bool) -> None:
    """A busy machine stood still for 10 s; they ended 28.8 s after their worker, as they should."""
    stricter = rules.Stricter(delay=1.0, began=10.0, ended=20.0)
    entries = [entry(float(at)) for at in (12, 13, 14, 18, 20, 21, *range(31, until))]
    assert bool(rules.violations(entries, stricter, [], settled=1.0)) == too_long


def test_rules_may_fall_early_only_where_redis_lost_them_first() -> None:
    stricter = rules.Stricter(delay=1.0, began=10.0, ended=20.0)
    entries = [entry(at) for at in (12.0, 13.0, 19.0, 20.5, 20.6)]

    def found(lost: float) -> list[str]:
        return rules.violations(entries, stricter, [], settled=1.0, lost=[lost])

    assert found(20.2) == []
    assert ["the delay fell 0.6 s" in line for line in [*found(19.9), *found(20.7)]] == [True, True]


def test_a_gap_counts_from_when_redis_began_to_be_emptied() -> None:
    """The run may note seconds later that it was done: on a busy machine requests were sent before that."""
    options = Options(home=Path(), seed=1, cap=1, delay=DELAY, hosts=2, pages=3)
    seconds = 0.3 * options.lease + DELAY + verdict.THAW_SECONDS

    def short(first: float) -> bool:
        log = [entry(first, host="b"), entry(first + DELAY / 2, "/2", host="b")]
        return any(
            "too close" in line for line in report.violations(Result(options, PLAN, log=log, emptied=[(49.0, 50.0)]))
        )

    assert [short(at) for at in (48.0, 49.0, 49.9, 50.0 + seconds - DELAY, 50.1 + seconds)] == [
        True, False, False, False, True,
    ]  # fmt: skip


def test_each_part_of_the_run_has_a_verdict_that_can_fail() -> None:
    options = Options(home=Path(), seed=1, cap=1, delay=DELAY, hosts=2, pages=3, fills=1, empties=1, rules=1, old=1)
    asked = [entry(60.0, urlsplit(url).path, host=urlsplit(url).hostname or "") for url in PLAN.expected]
    again = replace(asked[1], at=70.0)
    visited = [entry(22.0, host="b"), entry(23.0, "/2", host="b"), again]
    good = Result(options, PLAN, log=[*asked, *visited], passed_on=1, emptied=[(49.5, 50.0)], restored=[(64.0, 65.0)])
    good.fillings = Fillings(count=1, waited=3)
    good.stricter = [rules.Stricter(6 * DELAY, 10.0, 30.0)]
    assert report.parts(good) == {part: [] for part in report.parts(good)}
    faults: dict[str, dict[str, Any]] = {
        "memory full": {"fillings": Fillings(count=1)},
        "Redis emptied, and filled again": {"log": [*asked[1:], *visited]},
        "Redis set back, and filled again": {"log": [*asked, *visited[:-1]]},
        "an old and a new release": {"passed_on": 0},
        "rules changed": {"log": [*asked, *visited, entry(22.1, "/3", host="b")]},
    }
    for part, fault in faults.items():
        spoiled = report.parts(replace(good, **fault))
        assert [name for name, lines in spoiled.items() if lines] == [part]
        assert spoiled[part][0] in report.violations(replace(good, **fault))
