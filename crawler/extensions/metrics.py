"""Prometheus metrics and probes of one worker: `/metrics`, `/healthz` and `/readyz` on METRICS_PORT.

Counters are read from Scrapy's stats on each scrape, so a page costs only one observation in the latency histogram. No
label's values are chosen by crawled sites.
"""

from __future__ import annotations

import asyncio
import logging
import time
from bisect import bisect_left
from collections.abc import Coroutine, Iterator, Mapping, Sized
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, Final, Self

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, ProcessCollector, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector
from scrapy import Request, Spider, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.settings import BaseSettings

from crawler import config, scrapy_hooks, tasks
from crawler.errors import ConfigError
from crawler.extensions.endpoint import ProbeAnswer, ProbeServer, Routes
from crawler.extensions.health import WorkerHealth
from crawler.extensions.sources import read
from crawler.worker.queue_size import QueueSize

logger = logging.getLogger(__name__)

BEAT_SECONDS = 1.0
LATENCY_BUCKETS: Final = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)  # seconds, up to DOWNLOAD_TIMEOUT


@dataclass(frozen=True, slots=True)
class MetricsConfig:
    """Where to serve, and how old the figures may be."""

    host: str
    port: int  # 0 = chosen by the system, -1 = off
    queue_seconds: float
    max_lag_seconds: float
    callback_seconds: float  # the same while a callback runs

    @classmethod
    def from_settings(cls, settings: BaseSettings) -> MetricsConfig:
        """Raises ConfigError when a value is out of range."""
        return cls(
            host=settings["METRICS_HOST"],
            port=config.integer(settings, "METRICS_PORT", -1, 65_535),
            queue_seconds=config.number(settings, "METRICS_QUEUE_SECONDS", 0.1, 3_600),
            max_lag_seconds=config.number(settings, "HEALTH_MAX_LAG_SECONDS", 1, 3_600),
            callback_seconds=config.number(settings, "FRONTIER_HARD_CAP_SECONDS", 1, 86_400),
        )

    def serve(self, routes: Routes) -> ProbeServer:
        """Listen there; raises ConfigError if that fails."""
        try:
            return ProbeServer(self.host, self.port, routes)
        except OSError as error:
            where = f"{error.strerror}: METRICS_HOST = {self.host}"
            allowed = f"a free port, 0 to let the system choose one, -1 for none ({where})"
            raise ConfigError("METRICS_PORT", self.port, allowed) from None


class WorkerMetrics(Collector):
    """Reads the worker on each scrape, from the endpoint's thread; copies before it iterates."""

    def __init__(self, crawler: Crawler, health: WorkerHealth) -> None:
        self._crawler = crawler
        self._health = health
        self._latencies = [0] * (len(LATENCY_BUCKETS) + 1)
        self._latency_sum = 0.0
        self._progress = time.time()
        self.queue: QueueSize | None = None

    def downloaded(self, request: Request) -> None:
        """Count one response; without a measured latency it only counts as progress."""
        self._progress = time.time()
        if (latency := request.meta.get("download_latency")) is not None:
            self._latencies[bisect_left(LATENCY_BUCKETS, latency)] += 1
            self._latency_sum += latency

    def collect(self) -> Iterator[Metric]:
        """All metric families but those of the process."""
        yield from _counters(self._crawler.stats.get_stats().copy())
        yield self._latency()
        yield _gauge("last_progress_timestamp_seconds", "When the last response came in", self._progress)
        yield _gauge("event_loop_lag_seconds", "Seconds since the event loop last ran", self._health.lag)
        yield _gauges("worker_requests", "Requests in this worker", "state", self._in_worker())
        if (worker := self._health.worker) is not None:
            yield _gauge("worker_leases", "Leases in flight in this worker", len(worker.book) + len(worker.queue))
        if self.queue and (counted := self.queue.latest):
            states = {name: getattr(counted.total, name) for name in ("queued", "leased", "delayed", "dead")}
            hosts = {"eligible": counted.eligible_hosts, "waiting": counted.waiting_hosts}
            yield _gauges("frontier_requests", "Requests of this spider in the whole frontier", "state", states)
            queued: dict[str, float] = {
                tier: counters.backlog + counters.leased for (_, tier), counters in counted.tiers.items()
            }
            yield _gauges(
                "frontier_tier_requests", "Requests of this spider that are not done, by tier", "tier", queued
            )
            evicted = "Dead letters of all spiders evicted for want of room (FRONTIER_DEAD_LIMIT)"
            yield CounterMetricFamily("shoal_frontier_dead_evicted", evicted, value=counted.evicted)
            yield _gauges("frontier_hosts", "Hosts with queued requests, by whether they are due", "state", hosts)

    def _latency(self) -> Metric:
        counts = list(accumulate(self._latencies))
        bounds = [*map(str, LATENCY_BUCKETS), "+Inf"]
        return HistogramMetricFamily(
            "shoal_request_duration_seconds",
            "From sending a request to the head of its response",
            buckets=list(zip(bounds, counts, strict=True)),
            sum_value=self._latency_sum,
        )

    def _in_worker(self) -> dict[str, int]:
        engine = scrapy_hooks.engine_of(self._crawler)
        if engine is None or engine.scraper.slot is None:
            return {}
        return {
            "buffered": len(engine.scheduler) if isinstance(engine.scheduler, Sized) else 0,
            "downloading": len(engine.downloader.active),
            "parsing": len(engine.scraper.slot.active),
        }


class MetricsExtension:
    """Serves a worker's metrics and probes while its spider is open."""

    def __init__(self, crawler: Crawler, settings: MetricsConfig) -> None:
        self._crawler = crawler
        self._config = settings
        self._health = WorkerHealth(crawler, settings.max_lag_seconds, settings.callback_seconds)
        self._metrics = WorkerMetrics(crawler, self._health)
        self._tasks: list[asyncio.Task[None]] = []
        self._registry = CollectorRegistry()
        self._registry.register(self._metrics)
        ProcessCollector(registry=self._registry)
        self._endpoint = settings.serve({"/metrics": self._render, "/healthz": self._alive, "/readyz": self._ready})

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Only under `scrapy crawl` and `runspider`: a shell or a `fetch` opens no port."""
        settings = MetricsConfig.from_settings(crawler.settings)
        if settings.port < 0 or not crawler.settings.getbool("FRONTIER_ENABLED"):
            raise NotConfigured
        extension = cls(crawler, settings)
        crawler.signals.connect(extension._downloaded, signals.response_downloaded)
        crawler.signals.connect(extension._opened, signals.spider_opened)
        crawler.signals.connect(extension._stopped, signals.engine_stopped)
        return extension

    @property
    def url(self) -> str:
        """The URL it listens on, without a path."""
        return self._endpoint.url

    def _opened(self, spider: Spider) -> None:
        self._health.opened()
        self._spawn(self._beat())
        if (worker := self._health.worker) is not None:
            self._metrics.queue = QueueSize(worker.frontier.inspection, spider.name, self._config.queue_seconds)
            self._spawn(self._metrics.queue.run())
        logger.info("Metrics and probes: %s/metrics, /healthz, /readyz", self._endpoint.url)

    def _downloaded(self, request: Request) -> None:
        self._metrics.downloaded(request)

    async def _stopped(self) -> None:
        await tasks.end(*self._tasks)
        await asyncio.to_thread(self._endpoint.close)

    async def _beat(self) -> None:
        while True:
            self._health.beat()
            await asyncio.sleep(BEAT_SECONDS)

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        self._tasks.append(asyncio.get_running_loop().create_task(work))

    def _render(self) -> ProbeAnswer:
        return ProbeAnswer(200, generate_latest(self._registry), CONTENT_TYPE_LATEST)

    def _alive(self) -> ProbeAnswer:
        return _probe(self._health.stuck())

    def _ready(self) -> ProbeAnswer:
        return _probe(self._health.unready())


def _probe(reason: str) -> ProbeAnswer:
    return ProbeAnswer(503, f"{reason}\n".encode()) if reason else ProbeAnswer(200, b"ok\n")


def _counters(stats: Mapping[str, Any]) -> Iterator[Metric]:
    for family in read(stats):
        kind = GaugeMetricFamily if family.is_gauge else CounterMetricFamily
        metric = kind(family.metric, family.help, labels=[family.label] if family.label else ())
        for value, count in family.counts.items():
            metric.add_metric([value] if family.label else [], count)
        yield metric


def _gauge(name: str, words: str, value: float) -> Metric:
    return GaugeMetricFamily(f"shoal_{name}", words, value=value)


def _gauges(name: str, words: str, label: str, values: Mapping[str, float]) -> Metric:
    metric = GaugeMetricFamily(f"shoal_{name}", words, labels=[label])
    for key, value in values.items():
        metric.add_metric([key], value)
    return metric
