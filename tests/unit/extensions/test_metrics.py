"""The settings of the metrics, and what a scrape may cost."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest
from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.settings import Settings

from crawler.counting.timings import timings_of
from crawler.errors import ConfigError
from crawler.extensions.health import WorkerHealth
from crawler.extensions.metrics import MetricsConfig, WorkerMetrics
from crawler.metrics import text
from crawler.metrics.stat_families import FAMILIES, MOST_VALUES, OTHER, read
from tests.prometheus import check_metrics
from tests.shipped import shipped

GOOD = {
    "METRICS_HOST": "127.0.0.1",
    "METRICS_PORT": "0",
    "HEALTH_MAX_LAG_SECONDS": 60,
    "FRONTIER_HARD_CAP_SECONDS": 900,
}


def test_the_settings_of_the_project_are_in_range() -> None:
    settings = shipped()
    assert MetricsConfig.from_settings(settings).port == 0


def test_a_host_that_is_not_this_machines_is_named() -> None:
    with pytest.raises(ConfigError, match=r"METRICS_HOST = '\.\.\.' is invalid: expected text"):
        MetricsConfig.from_settings(Settings(GOOD | {"METRICS_HOST": 5}))
    elsewhere = MetricsConfig.from_settings(Settings(GOOD | {"METRICS_HOST": "192.0.2.1"}))
    with pytest.raises(ConfigError, match=r"METRICS_HOST = '192\.0\.2\.1' is invalid: expected an address"):
        elsewhere.serve({})


def test_a_handler_that_measures_nothing_counts_as_progress_only() -> None:
    metrics, crawler = _metrics()
    metrics.downloaded(Request("http://example.com", meta={"download_latency": 0.2, "request_id": "0:1"}))
    metrics.downloaded(Request("http://example.com"))
    assert sum(timings_of(crawler).first_byte.counts) == 1


def _metrics(stats: dict[str, Any] | None = None) -> tuple[WorkerMetrics, Crawler]:
    crawler = cast("Crawler", Engineless(stats or {}))
    return WorkerMetrics(crawler, WorkerHealth(crawler, 30, 900)), crawler


class Engineless:
    """A crawler that has stats only."""

    _engine = None

    def __init__(self, stats: dict[str, Any]) -> None:
        self.stats = SimpleNamespace(get_stats=lambda: stats)


def _hostile_stats(values: int) -> dict[str, Any]:
    """Every family with many invented values of its label."""
    patterns = [stat for family in FAMILIES if family.label for stat in family.stats]
    named = {pattern.format(f"value {n}"): 1 for pattern in patterns for n in range(values)}
    return named | {family.stats[0]: 1 for family in FAMILIES if not family.label}


def test_whatever_is_crawled_a_worker_has_at_most_3000_series() -> None:
    metrics, _ = _metrics(_hostile_stats(1_000))
    families = list(metrics.collect())
    series = sum(len(family.samples) for family in families)
    assert series <= 3_000 - 200, "the process' own, and what else the fleet adds, have room beside them"
    body, _ = text.render(families)
    check_metrics(body)


def test_counts_beyond_the_limit_are_not_lost_and_none_ever_goes_down() -> None:
    stats = {f"items/issues/{n}": n for n in range(MOST_VALUES + 30)}
    before = next(family for family in read(stats) if family.metric == "shoal_items_issues").counts
    assert sum(before.values()) == sum(stats.values())
    assert len(before) == MOST_VALUES + 1
    after = next(
        family for family in read({**stats, "items/issues/0": 9, "items/issues/new": 7}) if family.label == "issue"
    ).counts
    assert all(after[label] >= count for label, count in before.items())
    assert after[OTHER] == before[OTHER] + 7


def test_reading_looks_at_each_stat_once() -> None:
    """A scrape has 50 ms: what it costs grows with the stats, and not with stats times families."""
    looks = []

    class Name(str):
        __slots__ = ()

        def rpartition(self, sep: str, /) -> tuple[str, str, str]:
            looks.append(self)
            return super().rpartition(sep)

    read({Name(f"items/issues/{n}"): 1 for n in range(100)})
    assert len(looks) == 100


def test_stats_of_a_spider_that_are_no_numbers_break_no_scrape() -> None:
    stats: dict[Any, Any] = {
        "items/new": "many",
        ("a", "b"): 1,
        "frontier/acked": None,
        "items/changed": 2,
        "retry/x": [],
    }
    found = {family.metric: family.counts for family in read(stats)}
    assert found["shoal_items"] == {"changed": 2}
    assert found["shoal_frontier_acked"] == {"": 0}
