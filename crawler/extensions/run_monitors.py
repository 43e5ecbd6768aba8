"""Runs Spidermon's suites for the end of a spider once per run, over the stats of all its workers.

Without this each worker would judge its own share: half a crawl has half the items. Suites at the start, periodic ones
and those for the engine's stop stay with each worker, as Spidermon means them.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from typing import Any, Final, Self

from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured

from crawler.extensions.run_listening import AGAIN_MS, RunListener
from crawler.frontier.runs.run_events import RunEvent
from crawler.policy.run_stats import described
from crawler.worker.lookup import worker_if_any

SPIDERMON: Final = "spidermon.contrib.scrapy.extensions"
ENDS: Final = ("finish", "cancel")

logger = logging.getLogger(__name__)


class RunMonitors(RunListener):
    """One worker of the run's spider runs the suites when the run is over; a killed one's are run again by another.

    SPIDERMON_SPIDER_CLOSE_MONITORS and SPIDERMON_SPIDER_CLOSE_EXPRESSION_MONITORS; on the event loop, as Spidermon
    runs them.
    """

    def __init__(self, crawler: Crawler, spider: str) -> None:
        super().__init__(crawler, f"monitors:{spider}", lambda tries: AGAIN_MS * tries)
        self._spidermon: Any = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        if not crawler.settings.getbool("SPIDERMON_ENABLED"):
            raise NotConfigured
        return cls(crawler, str(getattr(crawler.spider, "name", "")))

    def spider_opened(self) -> None:
        """Take over Spidermon's closing suites, if it is there and this is a worker of a fleet."""
        found = [one for one in self._extensions() if _is_spidermon(one)]
        if found and worker_if_any(self._crawler) is not None:
            self._spidermon = found[0]
            if self._spidermon.spider_closed_suites:
                self._spidermon.spider_closed_suites = []
                super().spider_opened()

    async def tell(self, event: RunEvent) -> bool:
        """Run the suites of a run that is over."""
        run, spider = event.run, self._crawler.spider
        assert spider is not None
        if event.event not in ENDS or run.spider != spider.name:
            return True
        totals = described(run.state, run.opened_ms, run.ended_ms, await self.totals(run))
        logger.info("Spidermon's suites for run %s, over the stats of all its workers", run.id)
        self._judge(totals)
        return True

    def _judge(self, totals: Mapping[str, Any]) -> None:
        from spidermon.contrib.scrapy.runners import SpiderMonitorRunner
        from spidermon.contrib.utils.spider import get_spider_name
        from spidermon.utils.field_coverage import calculate_field_coverage

        spider, client = self._crawler.spider, self._spidermon.client
        data = {
            "stats": {**totals, **calculate_field_coverage(totals)},
            "stats_history": getattr(spider, "stats_history", []),
            "crawler": self._crawler,
            "spider": spider,
            "sc_spider_name": get_spider_name(spider),
            "job": client.job if client.available else None,
        }
        for suite in self._suites():
            try:
                SpiderMonitorRunner(spider=spider).run(suite, **data)
            except Exception:
                logger.exception("A suite of Spidermon failed")

    def _suites(self) -> Iterator[Any]:
        """New ones each time: a suite that has run is used up."""
        settings = self._crawler.settings
        for path in settings.getlist("SPIDERMON_SPIDER_CLOSE_MONITORS"):
            yield self._spidermon.load_suite(path)
        monitor = settings.get("SPIDERMON_EXPRESSIONS_MONITOR_CLASS")
        for expressions in settings.getlist("SPIDERMON_SPIDER_CLOSE_EXPRESSION_MONITORS"):
            yield self._spidermon.load_expression_suite(expressions, monitor)

    def _extensions(self) -> tuple[Any, ...]:
        manager = self._crawler.extensions
        return manager.middlewares if manager is not None else ()


def _is_spidermon(extension: object) -> bool:
    return any(base.__module__ == SPIDERMON and base.__name__ == "Spidermon" for base in type(extension).__mro__)
