"""What commands are asked for: hosts, numbers, times."""

from __future__ import annotations

import argparse
import contextlib
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scrapy.exceptions import UsageError

from crawler.commands.options import host_name, in_range, parse_since
from crawler.errors import ShoalError

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("given_host", "stored"),
    [
        ("Shop.Example.", "shop.example"),
        ("BÜCHER.example", "xn--bcher-kva.example"),
        ("", ""),
        ("127.0.0.1", "127.0.0.1"),
        ("[::1]", "::1"),
        ("a_b.example", "a_b.example"),
    ],
)
def test_a_host_is_looked_for_as_it_is_stored(given_host: str, stored: str) -> None:
    assert host_name(given_host) == stored


@pytest.mark.parametrize("wrong", ["https://shop.example", "shop.example:8000", "shop.example/p", "a b", "\udcff"])
def test_what_is_no_host_is_named(wrong: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match=r"is no host name: write shop\.example"):
        host_name(wrong)


@given(st.text())
def test_any_text_is_a_host_or_is_refused(text: str) -> None:
    with contextlib.suppress(argparse.ArgumentTypeError):
        assert host_name(text).isascii()


def test_a_number_out_of_range_is_named_with_its_range() -> None:
    in_range("--limit", 1, 1, 5)
    with pytest.raises(UsageError, match=r"--limit -3 is out of range: 1 to 5"):
        in_range("--limit", -3, 1, 5)


@given(st.text() | st.datetimes(timezones=st.timezones()).map(datetime.isoformat))
@example("0001-01-01T00:00+23:00")
@example("9999-12-31T23:00-23:00")
@example("999999w")
@example("٣d")
def test_any_text_is_a_time_or_is_refused(text: str) -> None:
    with contextlib.suppress(ShoalError):
        assert parse_since(text, NOW).utcoffset() == timedelta(0)
