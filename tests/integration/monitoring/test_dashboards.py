"""Every expression of every dashboard, evaluated by a real Prometheus over a real crawl."""

from __future__ import annotations

import asyncio
import json
import re
import signal
import time
import uuid
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from pymongo.asynchronous.database import AsyncDatabase

from demo.state import any_port
from docs.dashboards import DASHBOARDS, DIRECTORY, Dashboard, Panel, text
from tests.crawling import Fleet, ended, open_frontier, options
from tests.integration.extensions.visiting import get
from tests.integration.monitoring.exported import names
from tests.integration.monitoring.prometheus_server import Prometheus, filled, running
from tests.prometheus import check_metrics, program
from tests.servers import ScrapyRunner
from tests.sites import Page, Site

STEP = 0.5
HOST = "127.0.0.1"


@pytest.fixture
def fleet(
    scrapy_run: ScrapyRunner, redis_url: str, mongodb_uri: str, mongo_database: AsyncDatabase[dict[str, Any]]
) -> Fleet:
    """Workers on the shared servers."""
    program("prometheus")
    scrapy_run.env.update(REDIS_URL=redis_url, MONGODB_URI=mongodb_uri, MONGODB_DATABASE=mongo_database.name)
    return Fleet(scrapy_run, redis_url, f"test-{uuid.uuid4().hex}")


def lines() -> Iterator[tuple[Dashboard, Panel, str]]:
    """Every expression, with where it stands."""
    for board in DASHBOARDS:
        for panel in board.panels:
            for expression in panel.lines.values():
                yield board, panel, expression


async def test_every_panel_shows_something_of_a_real_crawl(fleet: Fleet, tmp_path: Path) -> None:
    ports = {name: any_port() for name in ("worker", "serve", "second")}
    targets = {name: f"127.0.0.1:{ports[name]}" for name in ports}
    often = {"METRICS_QUEUE_SECONDS": 0.5, "SERVE_PORT": ports["serve"], "FLEET_WORKERS": 1, "FRONTIER_KEY": fleet.key}
    begin = time.time()
    # Prometheus first: it takes five seconds until it scrapes anything
    with Site({f"/{n}": Page() for n in range(2_000)}) as site, running(tmp_path, targets, STEP) as prometheus:
        serve = fleet.runner.fork("serve", *options(often))
        second = fleet.runner.fork("serve", *options(often | {"SERVE_PORT": ports["second"]}))
        worker = fleet.start(METRICS_PORT=ports["worker"], MAX_IDLE_TIME_BEFORE_CLOSE=0)
        async with open_frontier(fleet.redis_url, fleet.key) as frontier:
            run = await frontier.runs.open("walk", name="nightly", fresh=True)
            values = {"run": run.id, "instance": targets["worker"], "domain": HOST}
            left = {filled(expression, values, "5s") for _, panel, expression in lines() if panel.usual}
            urls = iter([site.url(path) for path in site.pages])
            while left:
                assert time.time() < begin + 90, left
                await fleet.push(*islice(urls, 5), generation=run.generation)
                await frontier.domains.add({(HOST, "ok"): 3, (HOST, "blocked"): 1})  # as other workers tell it
                await asyncio.sleep(STEP)
                shown = await asyncio.to_thread(_shown, prometheus, left, begin)
                left -= shown
        replicas = [f"http://127.0.0.1:{ports[name]}" for name in ("serve", "second")]
        exported = [get(f"{replica}/metrics")[1] for replica in replicas]
        assert sorted("shoal_fleet_leader 1.0" in text for text in exported) == [False, True]
        assert sum("shoal_fleet_requests{" in text for text in exported) == 1, "a figure has one exporter"
        check_metrics(max(exported, key=len))
        assert [get(f"{replica}/scaling")[0] for replica in replicas] == [200, 200]
        await asyncio.to_thread(_check, prometheus, values, begin)
        for process in (worker, serve, second):
            process.send_signal(signal.SIGTERM)
            assert (await ended(process))[0] == 0


def _shown(prometheus: Prometheus, queries: set[str], begin: float) -> set[str]:
    """Those that show something, or are about what has not come to pass."""
    return {
        query
        for query in queries
        if "ended" in query or "budget" in query or prometheus.series(query, begin, time.time(), STEP)
    }


def _check(prometheus: Prometheus, values: dict[str, str], begin: float) -> None:
    for _, _, expression in lines():
        prometheus.series(filled(expression, values, "5s"), begin, time.time(), STEP)  # raises for a wrong one
    targets = prometheus.ask("targets")["activeTargets"]
    assert {(target["labels"]["job"], target["health"]) for target in targets} == {
        (name, "up") for name in ("worker", "serve", "second")
    }
    asked = {"start": f"{begin}", "end": f"{time.time()}"}
    found = prometheus.ask("query_exemplars", query="shoal_first_byte_seconds_bucket", **asked)
    assert re.fullmatch(r"0:\d+", found[0]["exemplars"][0]["labels"]["request_id"]), "a slow page leads to its log"


def test_the_files_are_those_that_are_written_from_their_source() -> None:
    for board in DASHBOARDS:
        assert (DIRECTORY / f"{board.name}.json").read_text() == text(board), "run `make docs`"
        assert json.loads(text(board))["uid"] == f"shoal-{board.name}"


def test_dashboards_read_nothing_that_nobody_exports() -> None:
    read = {name for _, _, expression in lines() for name in re.findall(r"\bshoal_[a-z_0-9]+", expression)}
    assert read <= names()
    sources = {board.source for board in DASHBOARDS if board.source}
    assert sources <= names()


def test_panels_lie_beside_each_other() -> None:
    for board in DASHBOARDS:
        places = [panel["gridPos"] for panel in json.loads(text(board))["panels"]]
        assert len({(place["x"], place["y"]) for place in places}) == len(places)
        assert all(place["x"] + place["w"] <= 24 for place in places)
