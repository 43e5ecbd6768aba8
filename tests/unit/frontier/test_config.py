"""The frontier's settings: each has a range, and the project's own values are within it."""

from __future__ import annotations

import re
from typing import Any

import pytest
from scrapy.settings import BaseSettings

from crawler.errors import ConfigError
from crawler.frontier.config import REMOVED, FrontierConfig
from crawler.frontier.script_constants import MOST_BUCKETS
from tests.shipped import shipped


def project_settings(**values: Any) -> BaseSettings:
    return shipped(**values)


def test_the_projects_settings_are_the_defaults() -> None:
    assert FrontierConfig.from_settings(project_settings(AUTOTHROTTLE_ENABLED=False)) == FrontierConfig()
    assert FrontierConfig.from_settings(project_settings()).throttle


@pytest.mark.parametrize("name", REMOVED)
def test_a_setting_that_is_gone_is_named(name: str, caplog: pytest.LogCaptureFixture) -> None:
    FrontierConfig.from_settings(project_settings(**{name: 1}))
    assert name in caplog.text


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("FRONTIER_DEDUPE", "none"),
        ("FRONTIER_DEDUPE", ""),
        ("FRONTIER_KEY", ""),
        ("FRONTIER_KEY", "a{b"),
    ],
)
def test_a_value_out_of_range_is_refused_by_name(name: str, value: Any) -> None:
    with pytest.raises(ConfigError, match=name):
        FrontierConfig.from_settings(project_settings(**{name: value}))


def test_limits_are_shared_out_among_the_shards() -> None:
    constants = FrontierConfig(shards=4, queue_limit=100, dead_limit=10).constants()
    assert (constants["QUEUE_LIMIT"], constants["DEAD_LIMIT"]) == (25, 2)


def test_a_lease_outlives_the_time_to_start() -> None:
    with pytest.raises(ConfigError, match="FRONTIER_START_WITHIN_SECONDS"):
        FrontierConfig.from_settings(project_settings(FRONTIER_LEASE_SECONDS=10, FRONTIER_START_WITHIN_SECONDS=11))


def test_high_water_marks_come_before_the_limits() -> None:
    with pytest.raises(ConfigError, match="FRONTIER_QUEUE_HIGH_WATER"):
        FrontierConfig.from_settings(project_settings(FRONTIER_QUEUE_LIMIT=10, FRONTIER_QUEUE_HIGH_WATER=11))
    with pytest.raises(ConfigError, match="FRONTIER_MEMORY_HIGH_WATER"):
        FrontierConfig.from_settings(project_settings(FRONTIER_MEMORY_LIMIT=0.5, FRONTIER_MEMORY_HIGH_WATER=0.6))


def test_a_bloom_filter_has_no_more_pages_than_the_scripts_take() -> None:
    """They set a larger one aside on each call, so that every URL was new."""
    given = {"FRONTIER_DEDUPE": "bloom", "FRONTIER_BLOOM_CAPACITY": 10**11}
    with pytest.raises(ConfigError, match=r"FRONTIER_BLOOM_CAPACITY = 100000000000 .* at most ([\d,]+) with") as raised:
        FrontierConfig.from_settings(project_settings(**given))
    most = int(re.search(r"at most ([\d,]+)", str(raised.value))[1].replace(",", ""))  # type: ignore[index]
    made = FrontierConfig.from_settings(project_settings(**given | {"FRONTIER_BLOOM_CAPACITY": most}))
    assert made.constants()["BLOOM_PAGES"] == MOST_BUCKETS
    FrontierConfig.from_settings(project_settings(**given, FRONTIER_SHARDS=2))
    FrontierConfig.from_settings(project_settings(**given | {"FRONTIER_DEDUPE": "exact"}))


def test_a_bloom_filter_has_the_textbooks_size() -> None:
    constants = FrontierConfig(dedupe="bloom", bloom_capacity=1_000_000, bloom_error=0.01).constants()
    assert constants["BLOOM_PAGES"] == 293  # 9.585 bits a URL in pages of 32,768
    assert constants["BLOOM_HASHES"] == 7
