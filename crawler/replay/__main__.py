"""One worker of `scrapy reparse`: reads its job as JSON from standard input, writes progress and report as JSON lines.

{"spider": "products", "selection": {...}, "dry_run": false, "settings": {...}}
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Mapping
from typing import Any, Final

from scrapy import signals
from scrapy.crawler import AsyncCrawlerProcess, Crawler
from scrapy.exceptions import DropItem
from scrapy.settings import SETTINGS_PRIORITIES, BaseSettings
from scrapy.utils.project import get_project_settings

from crawler import components
from crawler.errors import UnstoredItem
from crawler.replay import counts
from crawler.replay.differences import DifferencesPipeline
from crawler.replay.scheduler import FAILED

DIFFERENCES: Final = "crawler.replay.differences.DifferencesPipeline"
RESTATE: Final = "crawler.replay.differences.RestatePipeline"
LAST: Final = 900
ABOUT_REQUESTS: Final = (  # Scrapy's spider middlewares that do nothing without requests
    "scrapy.spidermiddlewares.start.StartSpiderMiddleware",
    "scrapy.spidermiddlewares.referer.RefererMiddleware",
    "scrapy.spidermiddlewares.urllength.UrlLengthMiddleware",
    "scrapy.spidermiddlewares.depth.DepthMiddleware",
    "scrapy.spidermiddlewares.metacopy.MetaCopyDetectionMiddleware",
)
GATE: Final = 60  # its position in a crawl
PROGRESS_SECONDS: Final = 0.3
ABOVE_ALL: Final = SETTINGS_PRIORITIES["cmdline"] + 1  # else Scrapy applies the command line's settings again
# Switches off everything but parsing and storing.
OFF: Final = {
    "METRICS_PORT": -1,
    "ARCHIVE_PAGES": "none",
    "LOGSTATS_INTERVAL": 0,
    "SPOOL_DIR": "",
    "CLOSESPIDER_PAGECOUNT": 0,
    "WARN_ON_GENERATOR_RETURN_VALUE": False,  # the crawl warns already; checking on each page costs 2 %
}


def main() -> int:
    """Run the job; 1 when the archive or the store failed."""
    job = json.load(sys.stdin)
    settings = get_project_settings()
    settings.setdict(job["settings"] | {"FRONTIER_ENABLED": True}, priority="cmdline")
    process = AsyncCrawlerProcess(settings)
    crawler = process.create_crawler(job["spider"])
    reporter = Reporter(crawler)
    process.crawl(crawler)  # starts with the event loop; from here on Scrapy changes no setting
    crawler.addons.load_settings(crawler.settings)
    prepare(crawler.settings, job)
    process.start()
    return reporter.report()


def prepare(settings: BaseSettings, job: Mapping[str, Any]) -> None:
    """Turn a crawl's settings into those of a re-parse, overriding the spider's own."""
    pipelines = {**settings.getwithbase("ITEM_PIPELINES")}
    order = max((pipelines.pop(one) for one in components.storing(settings)), default=None)
    pipelines[DIFFERENCES if order is None or job["dry_run"] else RESTATE] = LAST if order is None else order
    middlewares = dict.fromkeys(ABOUT_REQUESTS) | {
        "crawler.replay.middleware.ReplayMiddleware": 1_000_000,
        "crawler.replay.middleware.ReplayGate": GATE,
    }
    changed = OFF | {
        "SCHEDULER": "crawler.replay.scheduler.ReplayScheduler",
        "DOWNLOADER": "crawler.replay.downloader.ReplayDownloader",
        "ITEM_PIPELINES": pipelines,
        "SPIDER_MIDDLEWARES": {**settings.getwithbase("SPIDER_MIDDLEWARES"), **middlewares},
        "ADDONS": {},  # they have run already
        "REPLAY_SELECTION": job["selection"],
        "STORAGE_RESTATE": True,
    }
    if job["dry_run"]:
        changed["LINK_DUPLICATES_OF"] = []
    for name, value in changed.items():
        settings.set(name, value, priority=ABOVE_ALL)


class Reporter:
    """Prints progress while the re-parse runs, and its report at the end."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._task: asyncio.Task[None] | None = None
        self._examples: dict[str, Any] = {}
        crawler.signals.connect(self._opened, signals.spider_opened)
        crawler.signals.connect(self._closed, signals.spider_closed)
        crawler.signals.connect(self._failed, signals.item_error)
        crawler.signals.connect(self._dropped, signals.item_dropped)

    def report(self) -> int:
        """Print the report; returns the exit status."""
        values = self._crawler.stats.get_stats()
        numbers = {name: value for name, value in values.items() if isinstance(value, int)}
        finished = values.get("finish_reason") not in (None, FAILED)
        _print({"report": {"stats": numbers, "examples": self._examples, "reason": values.get("finish_reason")}})
        return 0 if finished else 1

    def _opened(self) -> None:
        self._task = asyncio.get_running_loop().create_task(self._progress())

    def _closed(self) -> None:
        if self._task is not None:
            self._task.cancel()
        self._print_done()
        for pipeline in self._crawler.engine.scraper.itemproc.middlewares:
            if isinstance(pipeline, DifferencesPipeline):
                self._examples = pipeline.examples

    def _failed(self) -> None:
        self._crawler.stats.inc_value(counts.FAILED)

    def _dropped(self, exception: DropItem) -> None:
        if isinstance(exception, UnstoredItem):
            self._failed()

    async def _progress(self) -> None:
        while True:
            self._print_done()
            await asyncio.sleep(PROGRESS_SECONDS)

    def _print_done(self) -> None:
        _print({"done": self._crawler.stats.get_value(counts.PAGES, 0)})


def _print(line: Mapping[str, Any]) -> None:
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
