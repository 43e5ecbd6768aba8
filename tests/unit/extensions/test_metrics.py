"""The settings of the metrics, and the latency histogram."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.settings import Settings

from crawler.errors import ConfigError
from crawler.extensions.health import WorkerHealth
from crawler.extensions.metrics import LATENCY_BUCKETS, MetricsConfig, WorkerMetrics
from tests.shipped import shipped

GOOD = {
    "METRICS_HOST": "127.0.0.1",
    "METRICS_PORT": "0",
    "METRICS_QUEUE_SECONDS": 15,
    "HEALTH_MAX_LAG_SECONDS": 60,
    "FRONTIER_HARD_CAP_SECONDS": 900,
}


def test_the_settings_of_the_project_are_in_range() -> None:
    settings = shipped()
    assert MetricsConfig.from_settings(settings).port == 0


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("METRICS_PORT", ["-1", "0", 65_535], ["-2", 65_536, "http", None]),
        ("METRICS_QUEUE_SECONDS", [0.1, "3600"], [0, 3_601, "often"]),
        ("HEALTH_MAX_LAG_SECONDS", [1, 3_600], [0.5, 3_601, "long"]),
    ],
)
def test_ranges(name: str, good: list[Any], bad: list[Any]) -> None:
    for value in good:
        assert MetricsConfig.from_settings(Settings(GOOD | {name: value}))
    for value in bad:
        with pytest.raises(ConfigError, match=name):
            MetricsConfig.from_settings(Settings(GOOD | {name: value}))


@given(st.lists(st.floats(min_value=0, max_value=200)))
def test_the_histogram_counts_every_latency_once_and_never_falls(latencies: list[float]) -> None:
    engine_less = SimpleNamespace(stats=SimpleNamespace(get_stats=dict), _engine=None)
    crawler = cast("Crawler", engine_less)
    metrics = WorkerMetrics(crawler, WorkerHealth(crawler, 30, 900))
    for latency in latencies:
        metrics.downloaded(Request("http://example.com", meta={"download_latency": latency}))
    metrics.downloaded(Request("http://example.com"))  # a handler that does not measure
    family = next(found for found in metrics.collect() if found.name == "shoal_request_duration_seconds")
    samples = {sample.labels.get("le", sample.name.rpartition("_")[2]): sample.value for sample in family.samples}
    assert samples.pop("count") == len(latencies)
    assert math.isclose(samples.pop("sum"), sum(latencies))
    assert list(samples.values()) == sorted(samples.values())
    for bound in LATENCY_BUCKETS:
        assert samples[str(bound)] == sum(latency <= bound for latency in latencies)
