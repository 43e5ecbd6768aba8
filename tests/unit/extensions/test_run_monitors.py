"""Spidermon's closing suites, judged once per run: the real Spidermon."""

from __future__ import annotations

import logging
from types import SimpleNamespace
from typing import Any

import pytest
from scrapy import Spider
from scrapy.utils.test import get_crawler
from spidermon import Monitor, MonitorSuite
from spidermon.contrib.scrapy.extensions import Spidermon

from crawler.extensions import run_listening, run_monitors
from crawler.extensions.run_monitors import RunMonitors
from crawler.frontier.run_record import Run
from crawler.frontier.runs.run_events import RunEvent

RUN = Run("20261122-1", "n", "judged", "20261122000001", "finished", 0, ended_ms=60_000)
told: list[dict[str, Any]] = []


class StatsMonitor(Monitor):  # type: ignore[misc]
    """Notes what it is given."""

    __test__ = False  # pytest takes it for a test of its own

    def test_stats(self) -> None:
        told.append(dict(self.data.stats))
        assert self.data.stats["items"] != 13


class Suite(MonitorSuite):  # type: ignore[misc]
    monitors = [StatsMonitor]


class JudgedSpider(Spider):
    name = "judged"


class Bench:
    """A crawler with Spidermon and a worker whose run has *totals*."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, **settings: Any) -> None:
        told.clear()
        suites = [f"{__name__}.Suite"]
        given = {"SPIDERMON_ENABLED": True, "SPIDERMON_SPIDER_CLOSE_MONITORS": suites, "TELNETCONSOLE_ENABLED": False}
        self.crawler = get_crawler(JudgedSpider, given | settings)
        self.crawler.spider = JudgedSpider.from_crawler(self.crawler)
        self.spidermon = Spidermon.from_crawler(self.crawler)
        self.crawler.extensions = SimpleNamespace(middlewares=(self.spidermon,))  # type: ignore[assignment]
        self.totals: dict[str, float] = {"items": 6}
        worker = SimpleNamespace(frontier=SimpleNamespace(totals=SimpleNamespace(complete=self._yes, of=self._of)))
        for module in (run_listening, run_monitors):
            monkeypatch.setattr(module, "worker_if_any", lambda crawler: worker)
        monkeypatch.setattr(run_listening.RunListener, "spider_opened", lambda self: None)
        self.monitors = RunMonitors.from_crawler(self.crawler)
        self.monitors.spider_opened()

    async def _yes(self, run: Run) -> bool:
        return True

    async def _of(self, run_id: str) -> dict[str, float]:
        return self.totals

    async def ends(self, event: str = "finish", run: Run = RUN) -> bool:
        return await self.monitors.tell(RunEvent("1-0", event, run, 1))


@pytest.mark.filterwarnings("ignore:Spider.log")  # Spidermon's
async def test_each_run_is_judged_over_its_own_stats_by_new_suites(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    bench = Bench(monkeypatch)
    bench.spidermon.spider_closed_suites = []
    with caplog.at_level(logging.INFO):
        assert await bench.ends()
        bench.totals = {
            "items": 13,
            "spidermon_item_scraped_count/dict": 10,
            "spidermon_item_scraped_count/dict/url": 5,
        }
        assert await bench.ends("cancel", Run(**{**_fields(), "id": "20261122-2", "state": "cancelled"}))
    assert [(one["items"], one["finish_reason"], one["elapsed_time_seconds"]) for one in told] == [
        (6, "finished", 60.0),
        (13, "cancelled", 60.0),
    ]
    assert told[1]["spidermon_field_coverage/dict/url"] == 0.5, "computed from the sums"
    assert "FAIL" in caplog.text, "the second one fails"


def _fields() -> dict[str, Any]:
    return {name: getattr(RUN, name) for name in Run.__dataclass_fields__}


async def test_a_worker_s_own_end_judges_nothing_and_neither_do_other_events(monkeypatch: pytest.MonkeyPatch) -> None:
    bench = Bench(monkeypatch)
    spider = bench.crawler.spider
    bench.spidermon.spider_opened(spider)
    bench.spidermon.spider_closed(spider)
    assert await bench.ends("start")
    assert await bench.ends("failing")
    assert await bench.ends(run=Run(**{**_fields(), "spider": "another"}))
    assert told == []


async def test_without_spidermon_nothing_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    bench = Bench(monkeypatch)
    bench.crawler.extensions = SimpleNamespace(middlewares=())  # type: ignore[assignment]
    asked = RunMonitors.from_crawler(bench.crawler)
    asked.spider_opened()
    assert asked._task is None
