"""From good over suspect to quarantined, and back by way of a trial."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.policy.proxies.health import Health, HealthPolicy, State

POLICY = HealthPolicy(failures=3, quarantine_ms=1_000, quarantine_max_ms=10_000, trial_ms=500)


def state(health: Health, now: int) -> State:
    return POLICY.state(health, now)


def failed(health: Health, now: int, times: int = 1) -> Health:
    for _ in range(times):
        health = POLICY.failed(health, now, trial=state(health, now) is State.DUE)
    return health


def test_a_proxy_is_suspect_then_left_alone_then_on_trial_then_good() -> None:
    health = failed(Health(), 0)
    assert state(health, 0) is State.SUSPECT
    assert POLICY.succeeded(health) == Health()
    health = failed(health, 10, times=2)
    assert (state(health, 10), state(health, 1_009), state(health, 1_010)) == (
        State.QUARANTINED, State.QUARANTINED, State.DUE,
    )  # fmt: skip
    assert state(POLICY.succeeded(health), 1_010) is State.GOOD


def test_only_one_request_is_on_trial_until_its_time_is_over() -> None:
    health = failed(Health(), 0, times=3)
    trial = POLICY.claimed(health, 1_000)
    assert POLICY.claimed(trial, 1_001) == trial
    assert state(trial, 1_499) is State.QUARANTINED
    assert POLICY.claimed(trial, 1_500) != trial, "its worker died"


def test_the_outcome_of_a_trial_is_looked_for_soon() -> None:
    health = failed(Health(), 0, times=3)
    assert POLICY.wait_ms(health, 100) == 900
    trial = POLICY.claimed(health, 1_000)
    assert (POLICY.wait_ms(trial, 1_000), POLICY.wait_ms(trial, 1_400), POLICY.wait_ms(trial, 9_999)) == (250, 100, 0)
    assert POLICY.wait_ms(POLICY.failed(trial, 1_010, trial=True), 1_010) == 2_000
    assert not POLICY.succeeded(trial).trial


def test_quarantines_grow_up_to_their_limit() -> None:
    health, now, lengths = failed(Health(), 0, times=3), 0, []
    for _ in range(6):
        lengths.append(health.until_ms - now)
        now = health.until_ms
        health = POLICY.failed(health, now, trial=True)
    assert lengths == [1_000, 2_000, 4_000, 8_000, 10_000, 10_000]


def test_a_proxy_that_comes_and_goes_is_remembered_and_forgiven_after_as_long() -> None:
    second = POLICY.failed(failed(Health(), 0, times=3), 1_000, trial=True)
    good = POLICY.succeeded(second)
    assert failed(good, 3_000, times=3).level == 3
    assert failed(good, 5_001, times=3).level == 1


def test_what_was_on_its_way_when_the_quarantine_began_changes_nothing_but_a_success_counts() -> None:
    health = failed(Health(), 0, times=3)
    assert POLICY.failed(health, 100) == health
    assert state(POLICY.succeeded(health), 100) is State.GOOD


def test_one_dead_host_makes_a_proxy_suspect_and_never_more() -> None:
    health = Health()
    for _ in range(20):
        health = POLICY.failed(health, 0, "dead.example")
    assert state(health, 0) is State.SUSPECT
    for host in ("b.example", "c.example"):
        health = POLICY.failed(health, 0, host)
    assert state(health, 0) is State.QUARANTINED


def test_a_quarantine_longer_than_any_is_over_and_damage_is_said() -> None:
    """A clock that was wrong has written it."""
    ahead = Health(3, 1, until_ms=10**15)
    assert state(ahead, 0) is State.DUE
    assert POLICY.wait_ms(ahead, 0) == 0
    assert POLICY.claimed(ahead, 0).until_ms == 500
    for damaged in ("3 33 5 0 a", "-1 0 5 0 a", "3 -1 5 0 a", "3 1 5", "x 1 5 0 a", "3 1 5 2 a"):
        with pytest.raises(ValueError, match=r"."):
            Health.decode(damaged)


HOSTS = st.sampled_from(("", "a.example", "b.example"))
STEPS = st.lists(st.tuples(st.sampled_from(("fail", "succeed", "claim", "wait")), HOSTS, st.integers(0, 30_000)))


@given(STEPS)
def test_whatever_happens_a_proxy_is_never_lost_and_its_record_survives(steps: list[tuple[str, str, int]]) -> None:
    health, now = Health(), 0
    for step, host, wait in steps:
        before = state(health, now)
        if step == "fail":
            health = POLICY.failed(health, now, host)
            assert before is not State.GOOD or state(health, now) is State.SUSPECT
        elif step == "succeed":
            health = POLICY.succeeded(health)
            assert state(health, now) is State.GOOD
        elif step == "claim":
            assert (POLICY.claimed(health, now) != health) == (before is State.DUE)
            health = POLICY.claimed(health, now)
        else:
            now += wait
        assert Health.decode(health.encode()) == health
        assert health.until_ms - now <= POLICY.quarantine_max_ms, "it comes back"
