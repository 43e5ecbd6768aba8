"""How many workers there is work for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.policy.scaling import Demand, Hold, workers_wanted

COUNTS = st.integers(min_value=0, max_value=1_000_000)


@pytest.mark.parametrize(
    ("demand", "wanted"),
    [
        (Demand(100_000, 1), 1),  # one host that takes one request at a time
        (Demand(100_000, 1, leased=1), 1),
        (Demand(100_000, 8), 8),  # one that takes eight
        (Demand(50_000, 500), 100),
        (Demand(499, 400), 1),
        (Demand(501, 400), 2),
        (Demand(499, 400, leased=2), 2),
        (Demand(0, 0), 0),
        (Demand(0, 0, leased=3), 1),  # somebody finishes them, or takes them over from the dead
        (Demand(0, 0, soon=1), 1),  # start URLs, or a retry that is due
        (Demand(3, 0), 1),
    ],
)
def test_it_is_the_smaller_of_what_waits_and_of_what_hosts_take(demand: Demand, wanted: int) -> None:
    assert workers_wanted(demand, 500) == wanted


@given(COUNTS, COUNTS, COUNTS, COUNTS, st.integers(min_value=1, max_value=10_000))
def test_it_is_0_only_when_nothing_is_to_be_done(requests: int, slots: int, leased: int, soon: int, each: int) -> None:
    wanted = workers_wanted(Demand(requests, slots, leased, soon), each)
    assert (wanted == 0) is (requests + leased + soon == 0)
    assert wanted <= max(1, slots, leased)
    assert workers_wanted(Demand(requests + 1, slots + 1, leased, soon), each) >= wanted


def test_a_peak_counts_for_a_while() -> None:
    hold = Hold(60)
    asked = [(0, 2), (10, 9), (20, 3), (69, 1), (71, 1), (79, 1), (81, 0), (200, 0)]
    assert [hold.held(wanted, now) for now, wanted in asked] == [2, 9, 9, 9, 3, 3, 1, 0]


@given(st.lists(st.tuples(st.floats(0, 50), st.integers(0, 20)), max_size=60))
def test_it_is_the_most_of_the_last_seconds(steps: list[tuple[float, int]]) -> None:
    hold, now, seen = Hold(100), 0.0, list[tuple[float, int]]()
    for wait, wanted in steps:
        now += wait
        seen.append((now, wanted))
        assert hold.held(wanted, now) == max(count for at, count in seen if at > now - 100)
