"""When known pages are visited again: the estimate, the value, the threshold; and a short simulation of all."""

from __future__ import annotations

import math
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks import recrawl as simulation
from crawler.policy import recrawl
from crawler.policy.recrawl import DAY_SECONDS, Estimate

RATES = st.floats(1e-9, 1e-2)
AGES = st.floats(1, 1e8)


@pytest.mark.parametrize("days", [0.3, 3.0, 30.0])
def test_the_estimate_finds_a_rate_from_changed_or_not_alone(days: float) -> None:
    """Also where a page is visited so seldom that it has changed nearly each time, and so often that it hardly has."""
    rng, rate, estimate = Random(1), 1 / (days * DAY_SECONDS), Estimate()
    for _ in range(400):
        interval = rng.uniform(0.2, 2.0) * days * DAY_SECONDS
        estimate = estimate.after(interval, changed=rng.random() < -math.expm1(-rate * interval))
    assert 0.6 * rate < estimate.rate < 1.6 * rate


def test_a_site_that_changes_its_habits_is_followed() -> None:
    estimate = Estimate()
    for _ in range(500):
        estimate = estimate.after(DAY_SECONDS, changed=True)
    busy = estimate.rate
    for _ in range(150):
        estimate = estimate.after(DAY_SECONDS, changed=False)
    assert estimate.rate < busy / 5


@given(RATES, AGES, AGES)
def test_a_visit_is_worth_more_the_longer_the_last_one_is_past(rate: float, one: float, other: float) -> None:
    low, high = sorted((one, other))
    for known in (Estimate.certain(rate), Estimate(0.5, 0.5 / rate), Estimate(1.0, 1 / rate)):
        assert 0 <= recrawl.value(known, low) <= recrawl.value(known, high) * (1 + 1e-6)
    assert recrawl.value(Estimate.certain(rate), high) <= 1.0001 / rate


@given(RATES, st.floats(1e-3, 1e9), st.floats(0.01, 100))
def test_a_page_is_due_within_bounds_and_sooner_for_more_weight(rate: float, threshold: float, weight: float) -> None:
    known = Estimate(2.0, 2 / rate)
    due = recrawl.due_after(known, threshold, weight)
    assert recrawl.SHORTEST_SECONDS <= due <= recrawl.LONGEST_SECONDS
    assert recrawl.due_after(known, threshold, 2 * weight) <= due * 1.0001


@given(st.lists(st.tuples(st.floats(1e-8, 1e-4), st.floats(0.1, 10)), min_size=20, max_size=40))
def test_the_threshold_spends_the_budget(pages: list[tuple[float, float]]) -> None:
    share = 1 / (5 * DAY_SECONDS)
    known = [(Estimate(3.0, 3 / rate), weight) for rate, weight in pages]
    threshold = recrawl.threshold_for(known, share)
    spent = sum(1 / recrawl.due_after(one, threshold, weight) for one, weight in known)
    least = len(pages) / recrawl.LONGEST_SECONDS
    assert spent <= share * len(pages) * 1.05 or spent <= least * 1.05


def test_ten_thousand_pages_in_small(monkeypatch: pytest.MonkeyPatch) -> None:
    """`make bench-recrawl` has the figures; here the order of the rules."""
    monkeypatch.setattr(simulation, "SAMPLE", 60)
    best, found = simulation.compared(150, 60, 5.0, seed=3)
    ours, nutch, storm, alike = found.values()
    assert ours > 0.93 * best
    assert ours > max(nutch, storm, alike)
    assert ours <= best * 1.03, "better than the optimum is a mistake in the simulation"
