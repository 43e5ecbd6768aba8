"""Tells Redis what this worker has counted for each run."""

from __future__ import annotations

from collections import deque
from typing import Any, Final

from scrapy.settings import BaseSettings
from scrapy.statscollectors import StatsCollector

from crawler import config
from crawler.counting.by_run import StatsByRun, merged
from crawler.errors import ConfigError
from crawler.frontier.runs.run_totals import RunTotals
from crawler.policy.run_stats import HOWS, Row, Table

ROWS: Final = 200  # per call


def read_table(settings: BaseSettings) -> Table:
    """RUN_STATS; raises ConfigError for what is no way to add up."""
    own = config.mapping(settings, "RUN_STATS")
    for name, how in own.items():
        if not isinstance(name, str) or how not in HOWS:
            raise ConfigError(f"RUN_STATS[{name!r}]", how, "sum, max, last, or an empty text to leave it out")
    return Table(own)


class RunStats:
    """Sends increments; what Redis may or may not have got is sent again as it was, and counts once.

    What belongs to no page (connections, acknowledgements, memory) is counted for the run of the pages around it; where
    this worker served several runs at once, for none.
    """

    def __init__(self, stats: StatsCollector | None, totals: RunTotals, worker: str, table: Table) -> None:
        self._by_run: StatsByRun | None = getattr(stats, "by_run", None)  # a project's own collector has none
        self._totals = totals
        self._worker = worker
        self._table = table
        self._number = 1
        self._pending: deque[list[Row]] = deque()
        self._served: set[str] | None = None  # with pages between the last two takes; None: there was no page yet

    async def tell(self) -> None:
        """Send what was counted since the last call."""
        if not self._pending:
            self._take()
        while self._pending:
            await self._totals.add(self._worker, self._number, self._pending[0])
            self._number += 1
            self._pending.popleft()

    def _take(self) -> None:
        taken = self._by_run.take() if self._by_run is not None else {}
        around: dict[Any, float] = taken.pop("", {})
        pages = set(taken)
        served = pages or self._served
        if served is None and self._by_run is not None:  # not a page yet
            self._by_run.give_back(around)
        elif served and len(served) == 1:
            merged(taken.setdefault(next(iter(served)), {}), around)
        if served is not None:
            self._served = pages
        rows = [row for run, counted in taken.items() for row in self._table.rows(run, counted)]
        parts = [rows[at : at + ROWS] for at in range(0, len(rows), ROWS)]
        self._pending.extend(parts or [[]])  # an empty call says that nothing is left to tell
