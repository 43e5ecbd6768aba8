"""Gaps and violations are counted per host, in any order of arrival."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from demo.log import Entry, HostManners, from_json, manners, to_json


def entry(at: float, host: str = "127.0.0.2", path: str = "/") -> Entry:
    return Entry(at, host, path, 200, "test")


def test_the_smallest_gap_is_taken_within_a_host() -> None:
    rows = manners([entry(1.0), entry(1.01, "127.0.0.3"), entry(1.25), entry(1.4), entry(9.0, "127.0.0.3")])

    assert [row.host for row in rows] == ["127.0.0.2", "127.0.0.3"]
    assert rows[0].smallest_gap == pytest.approx(0.15)
    assert rows[1].smallest_gap == pytest.approx(7.99)


def test_gaps_below_the_delay_are_counted_less_the_error_of_the_measurement() -> None:
    row = manners([entry(0.0), entry(0.096), entry(0.150), entry(0.400)])[0]
    assert row.too_close == 1


def test_one_request_has_no_gap() -> None:
    assert manners([entry(1.0)]) == [HostManners("127.0.0.2", 1, None, 0, 0)]


def test_what_robots_txt_forbids_is_a_violation() -> None:
    row = manners([entry(0, path="/private/deals"), entry(1, path="/cart?x=1"), entry(2, path="/privately")])[0]
    assert row.violations == 2


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=30), st.randoms())
def test_the_order_in_the_log_does_not_matter(times: list[float], rng: object) -> None:
    entries = [entry(at) for at in times]
    shuffled = sorted(entries, key=lambda _: rng.random())  # type: ignore[attr-defined]
    assert manners(entries) == manners(shuffled)


def test_the_log_survives_json() -> None:
    entries = [entry(1.5), entry(2.5, "127.0.0.3", "/a?b=1")]
    assert from_json(to_json(entries)) == entries
