"""Budgets of a day and opening hours, in the time of the site."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.errors import ConfigError
from crawler.policy.budgets import Budget, read_budget
from crawler.policy.rules.domains import parse_rules
from crawler.policy.toml_values import BadValueError

HOUR = 3_600_000
ZONES = ("UTC", "Europe/Berlin", "America/New_York", "Asia/Kathmandu", "Pacific/Apia", "Australia/Lord_Howe")
BERLIN = ZoneInfo("Europe/Berlin")


def ms(*parts: int, zone: Any = UTC) -> int:
    return round(datetime(*parts, tzinfo=zone).timestamp() * 1000)  # type: ignore[misc, arg-type]


def test_a_day_is_the_sites_own_and_may_have_23_or_25_hours() -> None:
    budget = Budget(time_zone="Europe/Berlin")
    for day, hours in ((28, 24), (29, 23)):
        begin, end = budget.day(ms(2026, 3, day, 12, zone=BERLIN))
        assert (begin, end - begin) == (ms(2026, 3, day, zone=BERLIN), hours * HOUR)
    begin, end = budget.day(ms(2026, 10, 25, 12, zone=BERLIN))
    assert end - begin == 25 * HOUR
    assert Budget().day(ms(2026, 11, 22, 23, 59)) == (ms(2026, 11, 22), ms(2026, 11, 23))


def test_hours_may_go_beyond_midnight() -> None:
    budget = read_budget({"hours": "22:00-06:00", "time_zone": "Europe/Berlin"})
    spans = budget.windows(ms(2026, 11, 22, 2, zone=BERLIN))
    assert (ms(2026, 11, 21, 22, zone=BERLIN), ms(2026, 11, 22, 6, zone=BERLIN)) in spans
    assert (ms(2026, 11, 22, 22, zone=BERLIN), ms(2026, 11, 23, 6, zone=BERLIN)) in spans


@given(st.integers(0, 4_000_000_000_000), st.sampled_from(ZONES))
def test_every_moment_is_in_its_day_and_a_window_of_all_day_is_always_open(now: int, zone: str) -> None:
    budget = Budget(time_zone=zone, hours=((0, 1440),))
    begin, end = budget.day(now)
    assert begin <= now < end
    assert 22 * HOUR <= end - begin <= 26 * HOUR
    assert any(opens <= now < closes for opens, closes in budget.windows(now))
    assert all(opens < closes for opens, closes in budget.windows(now))


@pytest.mark.parametrize(
    ("raw", "path"),
    [
        ({"requests": -1}, ("requests",)),
        ({"requests": 1.5}, ("requests",)),
        ({"mb": "much"}, ("mb",)),
        ({"cost": float("nan")}, ("cost",)),
        ({"hours": "6-22"}, ("hours",)),
        ({"hours": "06:00-06:00"}, ("hours",)),
        ({"hours": ["06:00-24:30"]}, ("hours",)),
        ({"hours": 5}, ("hours",)),
        ({"time_zone": "Berlin"}, ("time_zone",)),
        ({"time_zone": "../etc/passwd"}, ("time_zone",)),
        ({"time_zone": ""}, ("time_zone",)),
        ({"pages": 5}, ("pages",)),
        ("many", ()),
    ],
)
def test_a_mistake_is_named(raw: Any, path: tuple[str, ...]) -> None:
    with pytest.raises(BadValueError) as error:
        read_budget(raw)
    assert error.value.path == path


def test_a_domain_has_a_budget_of_its_own_or_shares_that_around_it() -> None:
    rules = parse_rules("""
[default.budget]
requests = 5
["example.com".budget]
mb = 1
["shop.example.com"]
delay_seconds = 1
["b.example.com".budget]
cost = 2
""")
    shop, b = rules.by_host["shop.example.com"], rules.by_host["b.example.com"]
    assert shop.budget is rules.around("shop.example.com").budget
    assert b.budget is not rules.around("b.example.com").budget
    assert rules.around("example.com") is rules.default
    with pytest.raises(ConfigError, match=r"line 2: \[a.example\] budget.hours = 'x'"):
        parse_rules('["a.example".budget]\nhours = "x"')
