"""Reports this worker's progress to the supervisor of `scrapy crawl --workers`, through a pipe."""

from __future__ import annotations

import asyncio
import json
import logging
import os
from collections.abc import Mapping
from contextlib import suppress
from typing import Final, Self

from scrapy import Spider, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured

from crawler import config, tasks
from crawler import stats as names
from crawler.errors import ConfigError
from crawler.extensions.metrics import MetricsExtension

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

    def __init__(self, crawler: Crawler, pipe: int) -> None:
        self._crawler = crawler
        self._pipe = pipe
        self._task: asyncio.Task[None] | None = None
        os.set_blocking(pipe, False)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Only in a supervised worker."""
        told = config.mapping(crawler.settings, "WORKER_PROCESS")
        if not told:
            raise NotConfigured
        try:
            extension = cls(crawler, int(told["reports"]))
        except (KeyError, TypeError, ValueError, OSError):
            raise ConfigError("WORKER_PROCESS", told, "empty: `scrapy crawl --workers` sets it") from None
        crawler.signals.connect(extension._opened, signals.spider_opened)
        crawler.signals.connect(extension._closed, signals.spider_closed)
        return extension

    def _opened(self) -> None:
        self._task = asyncio.get_running_loop().create_task(self._run())

    async def _closed(self, spider: Spider, reason: str) -> None:  # signature of the signal
        if self._task is not None:
            await tasks.end(self._task)
        with suppress(OSError):
            self._write(reason)

    async def _run(self) -> None:
        while True:
            try:
                self._write("")
            except BlockingIOError:  # the supervisor is suspended and will read later
                logger.debug("No room for a report to the supervisor")
            except OSError:  # it ended, on a system that does not end children with their parent
                logger.error("The supervisor of this worker is gone: closing")
                assert self._crawler.engine is not None
                self._closing = asyncio.ensure_future(self._crawler.engine.close_spider_async(reason=GONE))
                return
            await asyncio.sleep(EVERY_SECONDS)

    def _write(self, reason: str) -> None:
        stats = self._crawler.stats
        assert stats is not None
        report = {
            "counts": {name: stats.get_value(stat, 0) for name, stat in COUNTS.items()},
            "endpoint": self._endpoint(),
            "reason": reason,
        }
        os.write(self._pipe, json.dumps(report).encode() + b"\n")

    def _endpoint(self) -> str:
        metrics = self._crawler.get_extension(MetricsExtension)
        return metrics.url if metrics is not None else ""
