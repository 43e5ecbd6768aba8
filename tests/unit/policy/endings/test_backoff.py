"""Waits before a retry."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy.http import Headers

from crawler.policy.endings.backoff import MAX_RETRY_AFTER_SECONDS, full_jitter, retry_after

NOW = datetime(2027, 1, 31, 6, tzinfo=UTC)


@given(st.integers(0, 10_000), st.floats(0, 100), st.floats(0, 1000), st.floats(0, 1))
def test_the_wait_stays_within_its_cap_and_its_doubling(attempt: int, base: float, cap: float, luck: float) -> None:
    wait = full_jitter(attempt, base, cap, lambda low, high: low + luck * (high - low))
    assert 0 <= wait <= cap
    assert wait <= base * 2.0 ** max(attempt - 1, 0) if attempt < 50 else True


def test_the_window_doubles_with_each_attempt() -> None:
    assert [full_jitter(n, 1, 60, lambda low, high: high) for n in (1, 2, 3, 4, 9)] == [1, 2, 4, 8, 60]


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("", 0),
        ("120", 120),
        (" 5 ", 5),
        ("-5", 0),
        ("soon", 0),
        ("2.0", 2),
        ("1.5", 1.5),
        ("1.", 0),
        ("9" * 400, MAX_RETRY_AFTER_SECONDS),
        (format_datetime(NOW + timedelta(minutes=2), usegmt=True), 120),
        (format_datetime(NOW - timedelta(minutes=2), usegmt=True), 0),
        (format_datetime(NOW + timedelta(days=30), usegmt=True), MAX_RETRY_AFTER_SECONDS),
        ("Sun, 31 Jan 2027 06:01:00", 60),
        ("Mon, 01 Jan 2024 00:00:00 +99999999999999", 0),
        ("Mon, 01 Jan 99999999999999999 00:00:00 GMT", 0),
        ("Mon, 99999999999999999999999 Jan 2024 00:00:00 GMT", 0),
        ("²", 0),
    ],
)
def test_retry_after_is_read_in_both_forms(value: str, seconds: float) -> None:
    assert retry_after({"Retry-After": value}, NOW) == seconds


def test_of_several_the_longest_counts() -> None:
    assert retry_after(Headers({"Retry-After": ["soon", "120", "5"]}), NOW) == 120
    assert retry_after(Headers(), NOW) == 0


@given(st.binary())
def test_no_header_breaks_it(value: bytes) -> None:
    assert 0 <= retry_after(Headers({"Retry-After": value}), NOW) <= MAX_RETRY_AFTER_SECONDS
