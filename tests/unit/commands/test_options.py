"""What commands are asked for: hosts, numbers, times."""

from __future__ import annotations

import argparse
import contextlib
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scrapy.exceptions import UsageError

from crawler.commands.options import OneValue, host_name, integer, named, one_of, parse_since
from crawler.commands.workers import number_of_workers
from crawler.errors import ConfigError

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
    with pytest.raises(argparse.ArgumentTypeError, match=r"is invalid: expected a host name such as shop\.example"):
        host_name(wrong)


def test_an_argument_of_a_spider_has_a_name_and_a_value() -> None:
    assert named("category=a=b") == ("category", "a=b")
    with pytest.raises(argparse.ArgumentTypeError, match=r"^'category' is invalid: expected NAME=VALUE$"):
        named("category")


def test_a_long_value_is_not_repeated_whole() -> None:
    for read in (host_name, integer(1, 5), number_of_workers):
        with pytest.raises(argparse.ArgumentTypeError, match=r"x\.\.\.x+' \(10002 characters\) is invalid"):
            read("x" * 10_000)
    with pytest.raises(UsageError, match=r"x\.\.\.x+ \(10000 characters\)"):
        one_of(["x" * 10_000], ["list"])


@given(st.text())
def test_any_text_is_a_host_or_is_refused(text: str) -> None:
    with contextlib.suppress(argparse.ArgumentTypeError):
        assert host_name(text).isascii()


@pytest.mark.parametrize(
    ("words", "refused"),
    [
        ("--run a", ""),
        ("--run=", "'' is invalid"),
        ("--run a --run b", "given twice"),
        ("--most 3 --most 3", "given twice"),
    ],
)
def test_an_option_has_one_value(words: str, refused: str) -> None:
    parser = argparse.ArgumentParser(exit_on_error=False)
    parser.register("action", None, OneValue)
    parser.add_argument("--run", default="")
    parser.add_argument("--most", type=integer(1, 5))
    with pytest.raises(argparse.ArgumentError, match=refused) if refused else contextlib.nullcontext():
        parser.parse_args(words.split())


def test_an_integer_of_the_range_passes() -> None:
    assert [integer(-5, 5)(text) for text in ("-5", "0", "+5")] == [-5, 0, 5]


@pytest.mark.parametrize("wrong", ["-3", "6", "1.0", "1_0", "two", "", "٣", "9" * 5_000])
def test_anything_else_is_refused_with_the_range(wrong: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match=r"is invalid: expected an integer from 1 to 5$"):
        integer(1, 5)(wrong)


@given(st.text() | st.datetimes(timezones=st.timezones()).map(datetime.isoformat))
@example("0001-01-01T00:00+23:00")
@example("9999-12-31T23:00-23:00")
@example("999999w")
@example("٣d")
def test_any_text_is_a_time_or_is_refused(text: str) -> None:
    with contextlib.suppress(ConfigError):
        assert parse_since(text, NOW).utcoffset() == timedelta(0)
