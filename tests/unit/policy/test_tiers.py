"""What failures and good pages teach, and where requests go."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.errors import ConfigError
from crawler.policy.tiers import (
    REMEMBERED_PAGES,
    TIERS,
    UNKNOWN,
    LearnedTier,
    TierBudgets,
    TierPolicy,
    after_failure,
    after_success,
    choose,
    dearest,
    listed,
    rank,
    step_up,
)

POLICY = TierPolicy(failures=3, share=0.2, trial_pages=2, term_ms=1_000, term_max_ms=3_000)
tiers = st.sampled_from(TIERS)
some = st.frozensets(tiers)
events = st.lists(st.tuples(st.sampled_from(("fail", "good", "wait")), tiers, st.integers(1, 2_000)), max_size=40)


def failing(times: int, known: LearnedTier = UNKNOWN, now: int = 0, at: Any = "http", **rules: Any) -> LearnedTier:
    for _ in range(times):
        known = after_failure(known, at, rules.get("base", "http"), rules.get("most", "api"), now, POLICY)
    return known


def test_enough_failures_lift_a_host_for_a_term() -> None:
    assert failing(2).in_force("http", 0) == "http"
    lifted = failing(3)
    assert lifted == LearnedTier("browser", until_ms=1_000, term_ms=1_000)
    assert [lifted.in_force("http", now) for now in (999, 1_000)] == ["browser", "http"]


def test_a_few_failures_among_many_good_pages_do_not() -> None:
    known = after_success(UNKNOWN, "http", 20, "http", 0, POLICY)
    assert failing(4, known).in_force("http", 0) == "http"
    assert failing(5, known).in_force("http", 0) == "browser"  # 5 of 25


def test_a_browser_that_fails_too_lifts_it_on() -> None:
    lifted = failing(3, failing(3), at="browser")
    assert (lifted.tier, lifted.in_force("http", 0)) == ("api", "api")
    assert failing(9, lifted, at="api").tier == "api"


def test_a_failure_at_another_tier_than_the_one_in_force_teaches_nothing() -> None:
    lifted = failing(3)
    assert failing(9, lifted, at="http") == lifted  # sent before the host was lifted
    assert failing(9, at="browser") == UNKNOWN  # a request of its own wish


def test_nothing_is_learned_beyond_the_maximum() -> None:
    assert failing(9, most="http").in_force("http", 0) == "http"
    assert failing(9, failing(3, most="browser"), at="browser", most="browser").tier == "browser"


def test_a_trial_that_goes_well_brings_the_host_down_a_tier() -> None:
    known = failing(3, failing(3), at="browser")  # api until 1,000
    one = after_success(known, "browser", 1, "http", 1_000, POLICY)
    assert one.in_force("http", 1_000) == "browser"
    assert one.on_trial("http", 1_000)
    two = after_success(one, "browser", 1, "http", 1_001, POLICY)
    assert (two.tier, two.until_ms) == ("browser", 2_001)  # for a term of its own
    assert after_success(two, "http", 5, "http", 2_001, POLICY).tier == "http"


def test_a_trial_that_fails_doubles_the_term_up_to_the_longest() -> None:
    known, terms, now = failing(3), [], 1_000
    for _ in range(4):
        known = failing(1, known, now)
        terms.append(known.term_ms)
        now = known.until_ms
    assert terms == [2_000, 3_000, 3_000, 3_000]


def test_the_tier_of_the_rules_is_the_floor_of_all_that_is_learned() -> None:
    assert UNKNOWN.in_force("browser", 0) == "browser"
    lifted = failing(3, at="browser", base="browser")
    assert [lifted.in_force("browser", now) for now in (0, 10**9)] == ["api", "browser"]
    assert not LearnedTier("browser").on_trial("browser", 10**9)


@given(events, tiers, tiers)
def test_a_host_moves_one_tier_at_a_time_within_its_bounds(happened: Any, base: Any, most: Any) -> None:
    most = dearest(base, most)
    known, now = UNKNOWN, 0
    for what, at, number in happened:
        before = known.in_force(base, now)
        if what == "fail":
            known = after_failure(known, at, base, most, now, POLICY)
        elif what == "good":
            known = after_success(known, at, number, base, now, POLICY)
        else:
            now += number
        after = known.in_force(base, now)
        assert rank(base) <= rank(after) <= rank(most)
        assert abs(rank(after) - rank(before)) <= 1
        if rank(after) > rank(before):
            assert what == "fail"
        assert known.failed + known.ok <= REMEMBERED_PAGES
        assert known.term_ms <= POLICY.term_max_ms


@given(tiers, tiers, tiers, some)
def test_a_request_goes_no_higher_than_the_maximum_and_no_lower_than_it_asks(
    learned: Any, asked: Any, most: Any, served: Any
) -> None:
    chosen = choose(dearest(learned, asked), asked, most, served)
    assert rank(chosen) <= rank(most)
    assert rank(chosen) >= min(rank(asked), rank(most))
    if served and rank(asked) == 0 and any(rank(tier) <= rank(most) for tier in served):
        assert chosen in served  # a tier that was only learned waits for no worker


@pytest.mark.parametrize(
    ("learned", "asked", "most", "served", "chosen"),
    [
        ("http", "http", "api", {"http"}, "http"),
        ("browser", "http", "api", {"http", "browser"}, "browser"),
        ("browser", "http", "api", {"http"}, "http"),  # no worker would fetch it
        ("browser", "http", "api", set(), "http"),
        ("browser", "http", "http", {"http", "browser"}, "http"),
        ("browser", "browser", "api", {"http"}, "browser"),  # asked for: it waits
        ("api", "browser", "api", {"browser"}, "browser"),
        ("http", "http", "api", {"browser"}, "browser"),  # a fleet of browsers
        ("http", "http", "http", {"browser"}, "http"),
        ("browser", "http", "api", {"api"}, "api"),
    ],
)
def test_choices(learned: Any, asked: Any, most: Any, served: Any, chosen: str) -> None:
    assert choose(learned, asked, most, served) == chosen


@pytest.mark.parametrize(
    ("at", "most", "served", "spent", "expected"),
    [
        ("http", "api", {"browser", "api"}, set(), ("browser", "")),
        ("http", "api", {"api"}, set(), ("api", "")),
        ("http", "api", {"browser", "api"}, {"browser"}, ("api", "")),
        ("browser", "api", {"browser", "api"}, set(), ("api", "")),
        ("http", "http", {"browser"}, set(), (None, "max_tier is http")),
        ("http", "browser", {"api"}, set(), (None, "no worker serves browser")),
        ("http", "api", {"browser"}, {"browser"}, (None, "the daily budget of browser is spent")),
        ("api", "api", {"api"}, set(), (None, "api is the highest tier")),
    ],
)
def test_steps_up(at: Any, most: Any, served: Any, spent: Any, expected: Any) -> None:
    assert step_up(at, most, served, spent) == expected


def test_budgets_are_of_requests_and_of_cost() -> None:
    budgets = TierBudgets(requests={"browser": 10}, cost={"api": 2.5})
    assert budgets.spent({}, {}) == frozenset()
    assert budgets.spent({"browser": 9, "api": 10**9}, {"api": 2.4, "browser": 99}) == frozenset()
    assert budgets.spent({"browser": 10}, {"api": 2.5}) == {"browser", "api"}
    assert TierBudgets({"browser": 0}, {}).spent({}, {}) == {"browser"}


def test_lists_of_tiers() -> None:
    assert listed({"TIER": "browser, http"}, "TIER") == ("http", "browser")
    assert listed({"TIER": ["api"]}, "TIER") == ("api",)
    assert listed({"TIER": ""}, "TIER") == ()
    with pytest.raises(ConfigError, match="TIER"):
        listed({"TIER": "telnet"}, "TIER")
