"""When schedules tick: the same epochs for every observer, whatever the clock, the season and the pauses between."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import islice, pairwise, takewhile
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.policy import schedules
from crawler.policy.schedules import (
    LATE_S,
    MISSED,
    Cron,
    Interval,
    Missed,
    TickDecision,
    Timing,
    check_zone,
    decide,
    following,
    span,
    spoken,
    zone_of,
)

HOUR, DAY = 3_600, 86_400
ZONES = ("Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "America/Santiago", "Asia/Kolkata", "UTC")
EXPRESSIONS = (
    "30 2 * * *",
    "*/30 * * * *",
    "0 */2 * * *",
    "15 0,1,2,3 * * *",
    "*/7 1-3 * * *",
    "0 3 L * *",
    "0 2 * * 7",
)
SPRING, AUTUMN = datetime(2026, 3, 28, tzinfo=UTC), datetime(2026, 10, 24, tzinfo=UTC)

seasons = st.sampled_from([SPRING, AUTUMN, datetime(2026, 4, 4, tzinfo=UTC), datetime(2026, 6, 1, tzinfo=UTC)])
starts = st.builds(lambda season, second: int(season.timestamp()) + second, seasons, st.integers(0, 3 * DAY))
crons = st.builds(Cron, st.sampled_from(EXPRESSIONS), st.sampled_from(ZONES))
intervals = st.builds(Interval, st.integers(60, 5 * DAY), st.integers(1_700_000_000, 1_800_000_000))
timings = st.one_of(crons, intervals)


def until(timing: Timing, after: int, last: int) -> list[int]:
    return list(takewhile(lambda epoch: epoch <= last, timing.epochs(after)))


def shown(epochs: list[int], zone: str = "UTC") -> list[str]:
    return [f"{datetime.fromtimestamp(epoch, ZoneInfo(zone)):%d %H:%M}" for epoch in epochs]


@given(timings, starts, st.integers(0, 2 * DAY))
def test_the_epochs_are_the_same_wherever_one_begins_to_look(timing: Timing, start: int, later: int) -> None:
    last = start + 4 * DAY
    whole = until(timing, start, last)
    assert all(earlier < epoch for earlier, epoch in pairwise(whole))
    assert until(timing, start + later, last) == [epoch for epoch in whole if epoch > start + later]


@given(timings, st.sampled_from(MISSED), starts, st.lists(st.integers(-HOUR, 3 * HOUR), max_size=40), st.integers(1, 5))
def test_however_the_clock_goes_no_epoch_comes_twice_and_all_are_accounted_for(
    timing: Timing, missed: Missed, start: int, steps: list[int], most: int
) -> None:
    now, cursor, run, passed_over, latest = start, start, list[int](), 0, start
    for step in [*steps, 0]:
        now += step
        latest = max(latest, now)
        more = True
        while more:
            decision = decide(timing, missed, cursor, now, most)
            cursor, more = decision.cursor, decision.more
            run += decision.run
            passed_over += decision.passed_over
    expected = until(timing, start, latest)
    assert run == sorted(set(run))
    assert set(run) <= set(expected)
    assert len(run) + passed_over == len(expected)
    if missed == "all":
        assert run == expected


@given(timings, st.sampled_from(MISSED), starts, st.lists(st.integers(1, LATE_S - 1), min_size=1, max_size=200))
def test_who_looks_often_enough_misses_none(timing: Timing, missed: Missed, start: int, steps: list[int]) -> None:
    now = cursor = start
    run: list[int] = []
    for step in steps:
        now += step
        decision = decide(timing, missed, cursor, now)
        cursor = decision.cursor
        run += decision.run
    assert run == until(timing, start, now)


def test_missed_ticks_are_run_once_all_or_not_at_all() -> None:
    daily = Cron("0 3 * * *", "UTC")
    epochs = until(daily, int(SPRING.timestamp()), int(SPRING.timestamp()) + 5 * DAY)
    before, late = epochs[0] - 1, epochs[4] + LATE_S
    assert decide(daily, "all", before, late) == TickDecision(tuple(epochs), 0, epochs[4])
    assert decide(daily, "once", before, late) == TickDecision((epochs[4],), 4, epochs[4])
    assert decide(daily, "none", before, late) == TickDecision((), 5, epochs[4])
    assert decide(daily, "none", before, late - 1) == TickDecision((epochs[4],), 4, epochs[4])
    assert decide(daily, "once", before, late, most=2) == TickDecision((), 2, epochs[1], more=True)
    assert decide(daily, "all", late, late) == TickDecision((), 0, late)


@pytest.mark.parametrize(
    ("expression", "season", "expected"),
    [
        ("30 2 * * *", SPRING, ["28 02:30", "29 03:00", "30 02:30"]),
        ("30 2 * * *", AUTUMN, ["24 02:30", "25 02:30", "26 02:30"]),
        ("0 * * * *", AUTUMN.replace(hour=22), ["25 01:00", "25 02:00", "25 02:00", "25 03:00"]),
        ("0 * * * *", SPRING.replace(hour=23), ["29 01:00", "29 03:00", "29 04:00"]),
    ],
)
def test_clocks_that_are_put_forward_or_back(expression: str, season: datetime, expected: list[str]) -> None:
    timing = Cron(expression, "Europe/Berlin")
    found = list(islice(timing.epochs(int(season.timestamp())), len(expected)))
    assert shown(found, "Europe/Berlin") == expected
    assert len(set(found)) == len(found)


def test_an_interval_keeps_its_step_whatever_the_season() -> None:
    anchor = int(SPRING.timestamp())
    found = list(islice(Interval(DAY, anchor).epochs(anchor), 3))
    assert found == [anchor + DAY, anchor + 2 * DAY, anchor + 3 * DAY]
    assert following(Interval(DAY, anchor), anchor - 10 * DAY) == anchor + DAY  # nothing before it began


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        ("0 3 * *", "five fields"),
        ("0 0 3 * * *", "five fields"),
        ("@reboot", "five fields"),
        ("", "five fields"),
        ("61 3 * * *", "bad minute"),
        ("0 3 30 2 *", "bad day-of-month"),
        ("0 3 * * MOON", "bad day-of-week"),
        ("0 0 * * 1#9", "bad day-of-week"),
    ],
)
def test_a_wrong_expression_is_refused(expression: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Cron(expression, "UTC")


def test_nicknames_are_known() -> None:
    assert shown(list(islice(Cron("@Daily", "UTC").epochs(int(SPRING.timestamp())), 2))) == ["29 00:00", "30 00:00"]


@pytest.mark.parametrize("name", ["Mars/Olympus", "", "../../etc/passwd", "Europe", "Europe/Berlin\0", "CEST+1"])
def test_a_zone_that_is_none_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="time zone"):
        zone_of(name)
    with pytest.raises(ValueError, match="time zone"):
        check_zone(name)


@pytest.mark.parametrize("name", ["localtime", "posixrules", "Factory", "posix/Europe/Berlin", "right/UTC"])
def test_a_zone_of_this_machine_alone_is_refused_for_new_schedules(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schedules, "ZoneInfo", lambda name: None)  # not every machine has it
    with pytest.raises(ValueError, match="the same on every machine"):
        check_zone(name)
    check_zone("Europe/Berlin")


@pytest.mark.parametrize(("text", "seconds"), [("90s", 90), ("15m", 900), ("12h", 43_200), ("7d", 604_800 // 7 * 7)])
def test_a_span_is_read_and_said(text: str, seconds: int) -> None:
    assert span(text) == seconds
    assert span(spoken(seconds)) == seconds


@pytest.mark.parametrize("text", ["", "7", "d", "-1d", "1.5h", "1y", "12 h"])
def test_a_span_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="such as"):
        span(text)


@pytest.mark.parametrize("seconds", [0, -1, 367 * DAY])
def test_an_interval_out_of_range_is_refused(seconds: int) -> None:
    with pytest.raises(ValueError, match="interval from 1 s to 366 days"):
        Interval(seconds, 0)
