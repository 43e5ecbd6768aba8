"""Prometheus metrics and probes of one worker: `/metrics`, `/healthz` and `/readyz` on METRICS_PORT.

Counters are read from Scrapy's stats when somebody scrapes, so a page costs no more than its entries in five
histograms. It exports itself only, so that figures may be summed over workers: those of the whole fleet come from the
leader of `scrapy serve`. No label is a host; a family has no more series than
metrics/stat_families.py says, whatever is crawled.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import time
from collections.abc import Iterator, Sized
from dataclasses import dataclass
from time import monotonic
from typing import Self

from prometheus_client import CollectorRegistry, ProcessCollector
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector
from scrapy import Request, Spider, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.settings import BaseSettings

from crawler import config, scrapy_hooks
from crawler.counting.timings import timings_of
from crawler.errors import ConfigError
from crawler.extensions.endpoint import ProbeAnswer, ProbeServer, Routes
from crawler.extensions.health import WorkerHealth
from crawler.metrics import text
from crawler.metrics.stat_families import read
from crawler.utils import tasks
from crawler.worker.leases.lease_book import LeaseBook

logger = logging.getLogger(__name__)

BEAT_SECONDS = 0.25  # well below the least HEALTH_MAX_LAG_SECONDS, 1
_OF_PORTS = (errno.EADDRINUSE, errno.EACCES)


@dataclass(frozen=True, slots=True)
class MetricsConfig:
    """Where to serve, and for how long the event loop may be stuck."""

    host: str
    port: int  # 0 = chosen by the system, -1 = off
    max_lag_seconds: float
    callback_seconds: float  # the same while a callback runs

    @classmethod
    def from_settings(cls, settings: BaseSettings) -> MetricsConfig:
        """Raises ConfigError when a value is out of range."""
        return cls(
            host=config.text(settings, "METRICS_HOST"),
            port=config.integer(settings, "METRICS_PORT"),
            max_lag_seconds=config.number(settings, "HEALTH_MAX_LAG_SECONDS"),
            callback_seconds=config.number(settings, "FRONTIER_HARD_CAP_SECONDS"),
        )

    def serve(self, routes: Routes) -> ProbeServer:
        """Listen there; raises ConfigError if that fails."""
        try:
            return ProbeServer(self.host, self.port, routes)
        except OSError as error:
            if error.errno not in _OF_PORTS:
                allowed = f"an address or a name of this machine ({error.strerror})"
                raise ConfigError("METRICS_HOST", self.host, allowed) from None
            allowed = f"a free port, 0 to let the system choose one, -1 for none ({error.strerror})"
            raise ConfigError("METRICS_PORT", self.port, allowed) from None


class WorkerMetrics(Collector):
    """Reads the worker on each scrape, from the endpoint's thread; copies before it iterates."""

    def __init__(self, crawler: Crawler, health: WorkerHealth) -> None:
        self._crawler = crawler
        self._health = health
        self._timings = timings_of(crawler)
        self._progress = monotonic()
        self.book: LeaseBook | None = None  # of a worker of the fleet, once its spider is open

    def downloaded(self, request: Request) -> None:
        """Count one response; without a measured latency it only counts as progress."""
        self._progress = now = monotonic()
        meta = request.meta
        if (latency := meta.get("download_latency")) is None:
            return
        request_id = meta.get("request_id", "")
        self._timings.first_byte.observe(latency, request_id)
        if self.book is None or (held := self.book.of(request)) is None or (sent := held.slot.started_at) is None:
            return
        self._timings.body.observe(now - sent - latency, request_id)
        if not held.answered:
            held.answered = True
            if not held.lease.deliveries:
                waited = held.lease.waited_ms / 1000 + sent - held.leased_at
                self._timings.queue_wait.observe(waited, request_id)

    def collect(self) -> Iterator[Metric]:
        """All families but those of the process."""
        progress = time.time() - (monotonic() - self._progress)
        for family in read(self._crawler.stats.get_stats().copy()):
            kind = text.gauges if family.is_gauge else text.counters
            counts: text.Labelled = {(value,) if family.label else (): n for value, n in family.counts.items()}
            yield kind(family.metric.removeprefix("shoal_"), family.help, family.label or (), counts)
        yield from self._histograms()
        yield text.gauge("last_progress_timestamp_seconds", "When the last response came in", progress)
        yield text.gauge("event_loop_lag_seconds", "Seconds since the event loop last ran", self._health.lag)
        yield text.gauges("worker_requests", "Requests in this worker", "state", self._in_worker())
        yield from self._of_the_frontier()

    def _histograms(self) -> Iterator[Metric]:
        known = self._timings
        wait = "From being queued to the wire, of first deliveries"
        yield text.histogram("queue_wait_seconds", wait, known.queue_wait)
        yield text.histogram("first_byte_seconds", "From sending a request to the head of its answer", known.first_byte)
        yield text.histogram("body_seconds", "From the head of an answer to the end of its body", known.body)
        yield text.histogram(
            "parse_seconds", "From handing a page to its callback to the end of its output", known.parse
        )
        yield text.histogram("store_seconds", "From handing an item to the storage until it is durable", known.store)

    def _of_the_frontier(self) -> Iterator[Metric]:
        """Of this worker's share of it."""
        if (worker := self._health.worker) is None:
            return
        yield text.gauge("worker_leases", "Leases in flight in this worker", len(worker.book) + len(worker.queue))
        yield text.gauge("worker_outbox", "Messages that this worker has not sent to Redis yet", len(worker.outbox))
        yield text.gauge("frontier_away", "1 while Redis does not answer this worker", worker.outage.on)
        paused = {"paused": bool(worker.pauses.reason), "slowed": bool(worker.pauses.slowed)}
        yield text.gauges("worker_held_up", "1 while this worker leases less than it could", "how", paused)

    def _in_worker(self) -> dict[str, float]:
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
        self._health = WorkerHealth(crawler, settings.max_lag_seconds, settings.callback_seconds)
        self._metrics = WorkerMetrics(crawler, self._health)
        self._beating: asyncio.Task[None] | None = None
        self._registry = CollectorRegistry()
        self._registry.register(self._metrics)
        ProcessCollector(registry=self._registry)
        routes = {"/metrics": self._render, "/healthz": self._alive, "/readyz": self._ready}
        self._endpoint = settings.serve({**routes, "/readyz?verbose": self._told})

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Only under `scrapy crawl` and `runspider`: a shell or a `fetch` opens no port."""
        settings = MetricsConfig.from_settings(crawler.settings)
        if settings.port < 0 or not crawler.settings.getbool("FRONTIER_ENABLED"):
            raise NotConfigured
        extension = cls(crawler, settings)
        crawler.signals.connect(extension._metrics.downloaded, signals.response_downloaded)
        crawler.signals.connect(extension._opened, signals.spider_opened)
        crawler.signals.connect(extension._stopped, signals.engine_stopped)
        return extension

    @property
    def url(self) -> str:
        """The URL it listens on, without a path."""
        return self._endpoint.url

    def _opened(self, spider: Spider) -> None:
        self._health.opened()
        if (worker := self._health.worker) is not None:
            self._metrics.book = worker.book
        self._beating = asyncio.get_running_loop().create_task(self._beat())
        logger.info("Metrics and probes: %s/metrics, /healthz, /readyz", self._endpoint.url)

    async def _stopped(self) -> None:
        if self._beating is not None:
            await tasks.end(self._beating)
        await asyncio.to_thread(self._endpoint.close)

    async def _beat(self) -> None:
        while True:
            self._health.beat()
            await asyncio.sleep(BEAT_SECONDS)

    def _render(self, accept: str) -> ProbeAnswer:
        body, content_type = text.encoded(self._registry, accept)
        return ProbeAnswer(200, body, content_type)

    def _alive(self, accept: str) -> ProbeAnswer:
        return ProbeAnswer.unless(self._health.stuck())

    def _ready(self, accept: str) -> ProbeAnswer:
        return ProbeAnswer.unless(self._health.unready())

    def _told(self, accept: str) -> ProbeAnswer:
        return ProbeAnswer.of(self._health.told())
