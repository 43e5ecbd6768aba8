"""`make dashboards`: pictures of the dashboards for docs/, of a crawl of two minutes, from Prometheus' own answers."""

from __future__ import annotations

import asyncio
import os
import random
import re
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from crawler.defaults import FRONTIER_ITEM_PIPELINES
from docs.dashboards import DASHBOARDS
from tests.crawling import Fleet, open_frontier, options
from tests.integration.extensions.visiting import ADDRESS, logged
from tests.integration.monitoring.prometheus_server import filled, running
from tests.integration.monitoring.svg import Chart, Lines, drawn, legends
from tests.operate.load import standalone
from tests.sites import Page, Site
from tests.zygote import PROJECT_DIR

SECONDS = float(os.environ.get("DASHBOARD_SECONDS", "120"))
STEP = 1.0
SERVES = re.compile(r"serves .*/metrics.* on (http://127\.0\.0\.1:\d+)")
HOSTS = 8
WORKERS = 2
NOTE = (
    "Drawn from a real Prometheus' answers to the dashboard's expressions over a test crawl, not a picture of Grafana."
)
TROUBLED = 3  # this host answers 503 for a while, in the middle


def site(number: int, begin: float) -> Site:
    """Pages of different size and pace; some are not there."""
    chance = random.Random(number)

    def page(size: int, delay: float, title: str) -> Page:
        time.sleep(delay)
        passed = (time.time() - begin) / SECONDS
        if number == TROUBLED and 0.4 < passed < 0.6:
            return Page("busy", 503)
        return Page(f"<html><title>{title}</title>" + "<p>text</p>" * size)

    pages: dict[str, Page] = {}
    for place in range(3_000):
        size, delay = chance.randrange(20, 4_000), chance.uniform(0.005, 0.03 * number + 0.01)
        title = f"Page {place}" if chance.random() < 0.8 else ""
        pages[f"/{place}"] = lambda given=(size, delay, title): page(*given)  # type: ignore[assignment]
    return Site(pages, host=f"127.0.0.{number + 2}")


async def record(fleet: Fleet, directory: Path, stack: ExitStack) -> None:
    """Crawl, then draw each dashboard."""
    begin = time.time()
    sites = [stack.enter_context(site(number, begin)) for number in range(HOSTS)]
    often = {"METRICS_QUEUE_SECONDS": 1, "SERVE_PORT": 0, "FLEET_WORKERS": WORKERS, "FRONTIER_KEY": fleet.key}
    serve = fleet.runner.fork("serve", *options(often))
    paced: dict[str, Any] = {
        "METRICS_PORT": 0,
        "MAX_IDLE_TIME_BEFORE_CLOSE": 0,
        "DOWNLOAD_DELAY": 0.1,
        "CONCURRENT_REQUESTS": 16,
        "FRONTIER_ITEM_PIPELINES": FRONTIER_ITEM_PIPELINES,
        "ITEM_FATAL_ISSUES": "missing_url",
    }
    workers = [fleet.start(**paced) for _ in range(WORKERS)]
    addresses = [(await asyncio.to_thread(logged, worker, ADDRESS))[1] for worker in workers]
    service = (await asyncio.to_thread(logged, serve, SERVES))[1]
    targets = {f"worker-{number}": urlsplit(one).netloc for number, one in enumerate(addresses)}
    targets["serve"] = urlsplit(service).netloc
    async with open_frontier(fleet.redis_url, fleet.key) as frontier:
        run = await frontier.runs.open("walk", name="nightly", fresh=True)
        with running(directory, targets, STEP) as prometheus:
            for one in sites:
                paths = list(one.pages)[: int(SECONDS * 7)]
                await fleet.push(
                    *map(one.url, paths), one.url("/missing"), generation=run.generation, delay_ms=100, cap=1
                )
            await asyncio.sleep(SECONDS)
            values = {"run": run.id, "instance": targets["worker-0"], "domain": f"127.0.0.{TROUBLED + 2}"}
            end = time.time()
            for board in DASHBOARDS:
                charts = []
                for panel in board.panels:
                    lines: Lines = {}
                    for legend, expression in panel.lines.items():
                        found = prometheus.series(filled(expression, values, "15s"), begin, end, STEP)
                        lines |= legends(legend, found)
                    charts.append(Chart(panel.title, panel.unit, lines))
                path = PROJECT_DIR / f"docs/dashboard-{board.name}.svg"
                first = min(points[0][0] for chart in charts for points in chart.lines.values() if points)
                path.write_text(drawn(board.title, NOTE, charts, first, end))
    for process in (*workers, serve):
        process.kill()


def main() -> int:
    """Needs Debian's prometheus."""
    with standalone("pictures") as fleet, tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        asyncio.run(record(fleet, Path(name), stack))
    return 0


if __name__ == "__main__":
    sys.exit(main())
