"""Settings are read with their range, and a bad one says what is expected."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy.settings import Settings

from crawler import config
from crawler.errors import ConfigError, clipped
from crawler.policy.endings.retries import RetryPolicy
from crawler.proxies.pools import ProxyConfig
from crawler.worker.upkeep.tier_tracker import TierConfig
from tests.shipped import shipped

READERS: dict[str, Callable[[Any], object]] = {
    "RETRY_CLASSES": RetryPolicy.from_settings,
    "PROXY_POOLS": ProxyConfig.from_settings,
    "TIER_DAILY_COST": TierConfig.from_settings,
}


@given(st.integers(1, 99))
def test_a_number_in_range_is_read_from_any_spelling(value: int) -> None:
    assert config.integer({"N": value}, "N", 1, 99) == value
    assert config.integer({"N": str(value)}, "N", 1, 99) == value
    assert config.number({"N": f"{value}.0"}, "N", 1, 99) == value


@pytest.mark.parametrize("value", [0, 100, "x", None, True, [], "1.5", 1.5, float("nan"), float("inf"), "1e999"])
def test_a_whole_number_out_of_range_names_setting_value_and_range(value: Any) -> None:
    with pytest.raises(ConfigError, match=r"^N = .* is invalid: expected an integer from 1 to 99$"):
        config.integer({"N": value}, "N", 1, 99)


@pytest.mark.parametrize("value", [float("nan"), "nan", -0.1, "inf"])
def test_a_number_that_is_none_is_refused(value: Any) -> None:
    with pytest.raises(ConfigError, match="a number from 0 to 9"):
        config.number({"N": value}, "N", 0, 9)


@pytest.mark.parametrize(
    ("value", "expected"), [("1", True), (True, True), ("false", False), (0, False), (None, False)]
)
def test_a_switch_takes_scrapys_spellings(value: Any, expected: bool) -> None:
    assert config.boolean({"B": value}, "B") is expected


def test_a_switch_that_is_neither_is_refused() -> None:
    with pytest.raises(ConfigError, match="B = 'maybe' is invalid: expected True or False"):
        config.boolean({"B": "maybe"}, "B")


def test_a_choice_lists_what_is_allowed() -> None:
    assert config.choice({"C": "a"}, "C", ("a", "b")) == "a"
    with pytest.raises(ConfigError, match="one of a, b"):
        config.choice({"C": "c"}, "C", ("a", "b"))


def test_a_map_may_come_as_json_and_is_never_shown() -> None:
    assert config.mapping(Settings({"REDIS_PARAMS": '{"password": "x"}'}), "REDIS_PARAMS") == {"password": "x"}
    for wrong in ('{"password": "secret"', "5", 5):
        with pytest.raises(ConfigError, match=r"REDIS_PARAMS = .* a dict, or a JSON object") as error:
            config.mapping(Settings({"REDIS_PARAMS": wrong}), "REDIS_PARAMS")
        assert "secret" not in str(error.value)


@pytest.mark.parametrize(
    ("uri", "shown"),
    [
        ("redis://127.0.0.1:6379/0", "redis://127.0.0.1:6379/0"),
        ("mongodb://u:s3cr/et@a:1,b:2/db?w=1", "mongodb://***@a:1,b:2/db"),
        ("redis://u:s3cr?et@host", "redis://***@host"),
        ("u:s3cr://et@host", "***@host"),
        ("u:s3cr@host", "***@host"),
        ("redis://host/0?password=s3cret", "redis://host/0"),
        ("s3://key:s3cr/et@bucket/items.csv", "s3://***@bucket/items.csv"),
        ("unix:///run/redis.sock?db=1", "unix:///run/redis.sock"),
        ("items.csv", "items.csv"),
        ("", ""),
    ],
)
def test_the_uri_of_a_server_is_shown_without_secrets(uri: str, shown: str) -> None:
    assert config.shown_uri(uri) == shown


@pytest.mark.parametrize("value", [3, math.nan, [1], {"a": 1}, b"x", "a\0b", "a\nb", "\ud800"], ids=repr)
def test_a_text_is_printable_text(value: Any) -> None:
    with pytest.raises(ConfigError, match=r"^T = .* is invalid: expected text"):
        config.text({"T": value}, "T")
    with pytest.raises(ConfigError, match=r"^T = .* is invalid: expected text"):
        config.text_file("T", value)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("redis://:s3cret@host:6379/0\n", "'redis://***@host:6379/0\\n'"),
        (["redis://:s3cret@host"], "'...' is invalid: expected text, not a list"),
    ],
)
def test_a_text_that_is_none_shows_no_password(value: Any, shown: str) -> None:
    with pytest.raises(ConfigError) as error:
        config.text({"REDIS_URL": value}, "REDIS_URL")
    assert "s3cret" not in str(error.value)
    assert shown in str(error.value)


def test_a_text_may_be_missing_or_a_path() -> None:
    assert [config.text({"T": value}, "T") for value in (None, "", "a b", Path("a/b"))] == ["", "", "a b", "a/b"]


@pytest.mark.parametrize("value", [3, math.inf, {"a": 1}, b"x", True], ids=repr)
def test_a_list_of_texts_is_a_list_or_text(value: Any) -> None:
    with pytest.raises(
        ConfigError, match=r"^RETRY_HTTP_CODES = .* is invalid: expected a list, or names separated by commas"
    ):
        config.texts(Settings({"RETRY_HTTP_CODES": value}), "RETRY_HTTP_CODES")


@pytest.mark.parametrize(("value", "found"), [(None, []), ("a, b", ["a", "b"]), ([503, "x "], ["503", "x"])])
def test_a_list_of_texts_may_be_one_text(value: Any, found: list[str]) -> None:
    assert config.texts(Settings({"RETRY_HTTP_CODES": value}), "RETRY_HTTP_CODES") == found


@pytest.mark.parametrize("value", ["x", "{", 3, math.nan, "[1]"], ids=repr)
@pytest.mark.parametrize("name", ["RETRY_CLASSES", "PROXY_POOLS", "TIER_DAILY_COST"])
def test_a_dict_that_is_none_is_refused_by_name(name: str, value: Any) -> None:
    """Each ended in a traceback that named no setting."""
    settings = shipped("settings.test")
    settings.set(name, value, priority="cmdline")
    with pytest.raises(ConfigError, match=rf"^{name} = .* is invalid: expected a dict, or a JSON object"):
        READERS[name](settings)


@given(st.text())
def test_a_long_text_keeps_its_beginning_and_its_end(text: str) -> None:
    path = f"/{text}/{'directory/' * 50}urls-{text[:9]}.txt"
    found = clipped(path)
    assert len(found) < 350
    assert found.startswith(path[:200])
    assert found.endswith(f"urls-{text[:9]}.txt ({len(path)} characters)")
    assert clipped(path[:300]) == path[:300]
