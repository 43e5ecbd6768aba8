"""Budgets and waits by class of failure."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy.settings import Settings

from crawler.errors import ConfigError
from crawler.policy.endings.failures import FailureClass, classify
from crawler.policy.endings.retries import RETRIED, RetryBudget, RetryPolicy
from tests.unit.test_settings import base

PROJECT = RetryPolicy.from_settings(base())

statuses = st.integers(100, 999)
budgets = st.builds(
    RetryBudget, times=st.integers(0, 1_000), base_seconds=st.floats(0, 3_600), cap_seconds=st.floats(0, 86_400)
)


def policy(**settings: Any) -> RetryPolicy:
    made = Settings()
    made.setdict({"RETRY_BASE_SECONDS": 1, "RETRY_CAP_SECONDS": 300, **settings}, priority="project")
    return RetryPolicy.from_settings(made)


@given(budgets, st.integers(1, 10_000), st.floats(0, 1))
def test_no_wait_is_longer_than_its_cap(budget: RetryBudget, attempt: int, luck: float) -> None:
    wait = budget.wait_seconds(attempt, lambda low, high: low + luck * (high - low))
    assert 0 <= wait <= budget.cap_seconds


@given(budgets, st.integers(1, 40))
def test_the_longest_wait_never_shrinks(budget: RetryBudget, attempt: int) -> None:
    sooner, later = (budget.wait_seconds(n, lambda low, high: high) for n in (attempt, attempt + 1))
    assert sooner <= later


@given(statuses, st.frozensets(statuses, max_size=5))
def test_what_the_settings_name_is_tried_again_and_the_rest_keeps_its_class(status: int, named: frozenset[int]) -> None:
    kind = policy(RETRY_HTTP_CODES=sorted(named)).failure(status)
    assert kind in RETRIED if status in named else kind is classify(status)


@given(statuses)
def test_a_block_is_a_block_at_any_status(status: int) -> None:
    assert PROJECT.failure(status, blocked=True) is FailureClass.BLOCKED


@pytest.mark.parametrize("kind", RETRIED)
def test_the_project_is_patient_within_reason(kind: FailureClass) -> None:
    budget = PROJECT.budget(kind)
    assert budget.times is None or 1 <= budget.times <= 10
    assert 0 < budget.base_seconds <= budget.cap_seconds <= 3_600


def test_a_class_without_a_row_is_as_all_are() -> None:
    assert policy().budget(FailureClass.BLOCKED) == policy().default == RetryBudget(None, 1, 300)
    assert policy().budget(None) == policy().default


def test_rows_may_come_as_text_from_the_command_line() -> None:
    rows = '{"transient": {"times": 7, "cap_seconds": 9}}'
    assert policy(RETRY_CLASSES=rows).budget(FailureClass.TRANSIENT) == RetryBudget(7, 1, 9)


@pytest.mark.parametrize(("priority", "expected"), [("default", 7), ("project", 7), ("spider", 1), ("cmdline", 1)])
def test_the_nearer_setting_wins(priority: str, expected: int) -> None:
    settings = base()
    settings.set("RETRY_CLASSES", {"transient": {"times": 7}}, priority="project")
    settings.attributes.pop("RETRY_TIMES")
    settings.set("RETRY_TIMES", 1, priority=priority)
    times = RetryPolicy.from_settings(settings).budget(FailureClass.TRANSIENT).times
    assert times == (None if expected == 1 else expected)


@pytest.mark.parametrize("codes", ["abc", [503, None], "5xx,429"])
def test_codes_that_are_no_numbers_are_named(codes: object) -> None:
    with pytest.raises(ConfigError, match=r"RETRY_HTTP_CODES = .*status codes such as 503"):
        policy(RETRY_HTTP_CODES=codes)
