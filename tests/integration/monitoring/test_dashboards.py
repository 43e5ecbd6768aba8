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
from typing import Any, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field
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


# Of Grafana's units, those that a panel here may have: short, requests/s, seconds, bytes/s, bytes, share of 1.
UNITS = {"short", "reqps", "s", "Bps", "bytes", "percentunit"}


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class _Source(_Strict):
    type: Literal["prometheus"]
    uid: Literal["${datasource}"]


class _Place(_Strict):
    x: int = Field(ge=0)
    y: int = Field(ge=0)
    w: int = Field(gt=0, le=24)
    h: int = Field(gt=0)


class _Target(_Strict):
    refId: str = Field(pattern=r"^[A-Z]$")
    expr: str = Field(min_length=1)
    legendFormat: str = Field(min_length=1)


class _Panel(_Strict):
    id: int = Field(gt=0)
    type: Literal["timeseries"]
    title: str = Field(min_length=1)
    description: str
    datasource: _Source
    gridPos: _Place
    targets: list[_Target] = Field(min_length=1)
    fieldConfig: dict[str, Any]


class _Values(_Strict):
    query: str = Field(pattern=r"^label_values\(shoal_[a-z_]+, [a-z]+\)$")
    refId: str


class _Variable(_Strict):
    name: str = Field(pattern=r"^\w+$")
    type: Literal["datasource", "query"]
    query: Literal["prometheus"] | _Values
    label: str = ""
    datasource: _Source | None = None
    refresh: Literal[0, 1, 2] = 0  # never, on load, when the time range changes
    sort: int = Field(default=0, ge=0, le=8)


class _Templating(_Strict):
    list: list[_Variable]


class _Board(_Strict):
    """Grafana's classic dashboard, as far as these use it."""

    uid: str = Field(pattern=r"^[A-Za-z0-9_-]{1,40}$")
    title: str = Field(min_length=1)
    tags: list[str]
    schemaVersion: int = Field(ge=36, le=42)
    editable: bool
    time: dict[Literal["from", "to"], str]
    refresh: str = Field(pattern=r"^\d+[smh]$")
    templating: _Templating
    links: list[dict[str, Any]]
    panels: list[_Panel]


@pytest.mark.parametrize("board", DASHBOARDS, ids=lambda board: board.name)
def test_a_dashboard_is_one_that_grafana_takes(board: Dashboard) -> None:
    read = _Board.model_validate(json.loads(text(board)))
    variables = {variable.name for variable in read.templating.list} | {"__rate_interval"}
    assert len(variables) == len(read.templating.list) + 1
    assert len({panel.id for panel in read.panels}) == len({panel.title for panel in read.panels}) == len(read.panels)
    for panel in read.panels:
        assert panel.fieldConfig["defaults"]["unit"] in UNITS
        assert len({target.refId for target in panel.targets}) == len(panel.targets)
        for target in panel.targets:
            assert set(re.findall(r"\$(\w+)", target.expr)) <= variables
            kept = re.search(r"\bby \(([\w, ]+)\)", target.expr)
            named = set(re.findall(r"{{(\w+)}}", target.legendFormat))
            assert not kept or named <= set(kept[1].split(", ")), "a legend names what the expression keeps"


def test_no_two_panels_of_a_dashboard_overlap() -> None:
    for board in DASHBOARDS:
        cells: list[tuple[int, int]] = []
        for panel in json.loads(text(board))["panels"]:
            x, y, w, h = (panel["gridPos"][name] for name in "xywh")
            cells += [(across, down) for across in range(x, x + w) for down in range(y, y + h)]
            assert x + w <= 24
        assert len(set(cells)) == len(cells)


def test_no_two_dashboards_share_an_address_or_a_name() -> None:
    boards = [json.loads(text(board)) for board in DASHBOARDS]
    assert len({board["uid"] for board in boards}) == len({board["title"] for board in boards}) == len(boards)
