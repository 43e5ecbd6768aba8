"""The names of all that workers and the leader export, without running either."""

from __future__ import annotations

from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any, cast

from prometheus_client.metrics_core import Metric
from scrapy.crawler import Crawler

from crawler.extensions.health import WorkerHealth
from crawler.extensions.metrics import WorkerMetrics
from crawler.frontier.inspection.eligible import Eligible
from crawler.frontier.inspection.inspection import FrontierStats
from crawler.frontier.messages import SpiderStats
from crawler.frontier.state.tiers import Spent
from crawler.metrics.fleet import FleetFigures, families
from crawler.policy.tiers import TierBudgets
from crawler.worker.worker import Worker

SUFFIXES = {"counter": ("_total",), "histogram": ("_bucket", "_count", "_sum"), "gauge": ("",)}


class Idle:
    """A crawler without an engine."""

    _engine = None
    stats = SimpleNamespace(get_stats=dict)


class Busy(WorkerHealth):
    """Of a worker with a share of the frontier."""

    @property
    def worker(self) -> Worker:
        """One that holds nothing."""
        pauses = SimpleNamespace(reason="", slowed="")
        held: Any = SimpleNamespace(book=[], queue=[], outbox=[], outage=SimpleNamespace(on=False), pauses=pauses)
        return cast("Worker", held)


def names() -> set[str]:
    """Every series that there may be, by its whole name."""
    crawler = cast("Crawler", Idle())
    exported = [*WorkerMetrics(crawler, Busy(crawler, 30, 900)).collect(), *families(_figures())]
    supervisor = {"shoal_worker_up", "shoal_worker_restarts_total"}  # of `scrapy crawl --workers`
    others = {"up", "process_resident_memory_bytes", "process_cpu_seconds_total"}
    return {*supervisor, *others, *_whole(exported)}


def _whole(exported: Iterable[Metric]) -> set[str]:
    return {family.name + suffix for family in exported for suffix in SUFFIXES[family.type]}


def _figures() -> FleetFigures:
    stats = FrontierStats({"s": SpiderStats()}, {}, {}, 0, 0, 0, 0, 0, {}, (), born_ms=(1,))
    nothing: Any = {}
    return FleetFigures(
        0,
        stats,
        {},
        {("s", "http"): Eligible()},
        {},
        {},
        [],
        0,
        0,
        0,
        0,
        Spent(nothing, nothing),
        TierBudgets(nothing, nothing),
    )
