"""Reports this worker's progress to the supervisor of `scrapy crawl --workers`, through a pipe; a thread tells when
the event loop is stuck."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import threading
from collections.abc import Mapping
from contextlib import suppress
from typing import Final, Self

from scrapy import Spider, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured

from crawler import config
from crawler import stats as names
from crawler.errors import ConfigError
from crawler.extensions.health import WorkerHealth
from crawler.extensions.metrics import MetricsConfig, MetricsExtension
from crawler.utils import tasks

EVERY_SECONDS: Final = 1.0
GONE: Final = "supervisor_gone"  # finish reason of a worker whose supervisor is gone
COUNTS: Final[Mapping[str, str]] = {
    "pages": names.ACKED,  # robots.txt is none
    "items": "item_scraped_count",
    "errors": "log_count/ERROR",
}

logger = logging.getLogger(__name__)


class ReportsExtension:
    """Writes one line of JSON per second, short enough for an atomic write to a pipe; skipped when the pipe is full."""

    def __init__(self, crawler: Crawler, pipe: int, limits: MetricsConfig) -> None:
        self._crawler = crawler
        self._pipe = pipe
        self._task: asyncio.Task[None] | None = None
        self._health = WorkerHealth(crawler, limits.max_lag_seconds, limits.callback_seconds)
        self._silence = max(limits.callback_seconds, limits.max_lag_seconds) + 5 * EVERY_SECONDS
        self._ended = threading.Event()
        os.set_blocking(pipe, False)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Only in a supervised worker."""
        told = config.mapping(crawler.settings, "WORKER_PROCESS")
        if not told:
            raise NotConfigured
        try:
            extension = cls(crawler, int(told["reports"]), MetricsConfig.from_settings(crawler.settings))
        except (KeyError, TypeError, ValueError, OSError):
            raise ConfigError("WORKER_PROCESS", told, "empty: `scrapy crawl --workers` sets it") from None
        crawler.signals.connect(extension._opened, signals.spider_opened)
        crawler.signals.connect(extension._closed, signals.spider_closed)
        return extension

    def _opened(self) -> None:
        self._task = asyncio.get_running_loop().create_task(self._run())
        threading.Thread(target=self._watch, name="reports", daemon=True).start()

    def _watch(self) -> None:
        """Tell when the event loop is stuck, in a thread. A C call that holds the GIL keeps this quiet as well: the
        supervisor also ends a worker that tells nothing at all for as long as a callback may block it."""
        while not self._ended.wait(EVERY_SECONDS):
            if words := self._health.stuck():
                with suppress(OSError):
                    os.write(self._pipe, json.dumps({"stuck": words}).encode() + b"\n")

    async def _closed(self, spider: Spider, reason: str) -> None:  # signature of the signal
        self._ended.set()
        if self._task is not None:
            await tasks.end(self._task)
        with suppress(OSError):
            self._write(reason)

    async def _run(self) -> None:
        while True:
            self._health.beat()
            try:
                self._write("")
            except BlockingIOError:  # the supervisor is suspended and will read later
                logger.debug("No room for a report to the supervisor")
            except OSError:  # it ended, on a system that does not end children with their parent
                logger.error("The supervisor of this worker is gone: closing")
                self._closing = asyncio.ensure_future(self._crawler.engine.close_spider_async(reason=GONE))
                return
            await asyncio.sleep(EVERY_SECONDS)

    def _write(self, reason: str) -> None:
        stats = self._crawler.stats
        report = {
            "counts": {name: stats.get_value(stat, 0) for name, stat in COUNTS.items()},
            "endpoint": self._endpoint(),
            "reason": reason,
            "silence": self._silence,
        }
        os.write(self._pipe, json.dumps(report).encode() + b"\n")

    def _endpoint(self) -> str:
        metrics = self._crawler.get_extension(MetricsExtension)
        return metrics.url if metrics is not None else ""
