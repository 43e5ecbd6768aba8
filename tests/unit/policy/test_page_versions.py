"""Conditions that would hold whatever the page is are none."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from crawler.policy import page_versions

FETCHED = datetime(2026, 11, 24, 12, tzinfo=UTC)


@pytest.mark.parametrize("told", ['"a"', 'W/"a"', '""', '"a, b * \xe9"', "abc", "W/abc", "5f-3*"])
def test_a_single_tag_may_be_repeated(told: str) -> None:
    assert page_versions.etag(told) == told


@pytest.mark.parametrize("told", ["", "*", "**", '"a", "b"', "a,b", '"a', "a b", 'w/"a" x'])
def test_what_is_no_single_tag_may_not(told: str) -> None:
    assert page_versions.etag(told) == ""


@pytest.mark.parametrize(
    "told",
    [
        "Sun, 06 Nov 1994 08:49:37 GMT",
        "Thu, 01 Jan 1601 00:00:00 GMT",
        "Sunday, 06-Nov-94 08:49:37 GMT",
        "Sun Nov  6 08:49:37 1994",
        "Wed, 25 Nov 2026 11:00:00 GMT",  # a clock or a zone that is off
        "Tue, 24 Nov 2026 12:00:00 +0100",
    ],
)
def test_a_date_before_the_page_came_may_be_repeated(told: str) -> None:
    assert page_versions.modified(told, FETCHED) == told


@pytest.mark.parametrize(
    "told",
    [
        *("", "yesterday", "0", "-1", "\xe9", "Fri, 31 Dec 9999 23:59:59 GMT", "Thu, 26 Nov 2026 12:00:00 GMT"),
        *("Sun, 99 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 99999999 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 +99999999"),
    ],
)
def test_what_is_no_date_or_a_later_one_may_not(told: str) -> None:
    assert page_versions.modified(told, FETCHED) == ""
