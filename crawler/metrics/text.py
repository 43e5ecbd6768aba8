"""Metric families and their text in Prometheus' formats."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from itertools import accumulate
from typing import Any, Final

from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.exposition import choose_encoder
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector
from prometheus_client.samples import Exemplar

from crawler.counting.timings import Histogram
from crawler.metrics.label_values import fitted

MAX_EXAMPLE: Final = 64  # characters: OpenMetrics allows 128 with the label's name

_ODD: Final = re.compile(r"[^A-Za-z0-9:._-]")  # characters that our ids do not have and some scrapers cannot read

Labelled = Mapping[Any, float]  # label value, or tuple of several label values -> value


class _Given(Collector):
    def __init__(self, metrics: Iterable[Metric]) -> None:
        self._metrics = list(metrics)

    def collect(self) -> Iterable[Metric]:
        """The families it was given."""
        return self._metrics


def render(metrics: Iterable[Metric], accept: str = "") -> tuple[bytes, str]:
    """The text of *metrics* and its type: OpenMetrics, which has exemplars, if the scraper accepts it."""
    registry = CollectorRegistry()
    registry.register(_Given(metrics))
    return encoded(registry, accept)


def encoded(registry: Collector, accept: str = "") -> tuple[bytes, str]:
    """The same for a registry."""
    try:
        encode, content_type = choose_encoder(accept)
    except (TypeError, ValueError):  # a header that makes no sense, such as version=x
        encode, content_type = choose_encoder("")
    return encode(registry), content_type


def gauge(name: str, words: str, value: float) -> Metric:
    """A value that may go down."""
    return GaugeMetricFamily(f"shoal_{name}", words, value=value)


def gauges(name: str, words: str, labels: str | tuple[str, ...], values: Labelled) -> Metric:
    """Values that may go down, by one label or several."""
    return _filled(GaugeMetricFamily(f"shoal_{name}", words, labels=_names(labels)), values)


def counters(name: str, words: str, labels: str | tuple[str, ...], values: Labelled) -> Metric:
    """Counts that never go down, by one label or several; *name* is without `_total`."""
    return _filled(CounterMetricFamily(f"shoal_{name}", words, labels=_names(labels)), values)


def counter(name: str, words: str, value: float) -> Metric:
    """A count that never goes down; *name* is without `_total`."""
    return CounterMetricFamily(f"shoal_{name}", words, value=value)


def histogram(name: str, words: str, seen: Histogram) -> Metric:
    """Cumulative buckets; each has the last counted request as its exemplar."""
    counts = accumulate(list(seen.counts))
    bounds = [*map(str, seen.bounds), "+Inf"]
    buckets = [
        (bound, count, Exemplar({"request_id": _ODD.sub("_", str(example[0])[:MAX_EXAMPLE])}, example[1]))
        if example
        else (bound, count)
        for bound, count, example in zip(bounds, counts, seen.examples, strict=True)
    ]
    return HistogramMetricFamily(f"shoal_{name}", words, buckets=buckets, sum_value=seen.total)


def _names(labels: str | tuple[str, ...]) -> tuple[str, ...]:
    return (labels,) if isinstance(labels, str) else labels


def _filled(
    family: GaugeMetricFamily | CounterMetricFamily, values: Labelled
) -> GaugeMetricFamily | CounterMetricFamily:
    """The family with one sample per value."""
    for key, value in values.items():
        family.add_metric([fitted(part) for part in ((key,) if isinstance(key, str) else key)], value)
    return family
