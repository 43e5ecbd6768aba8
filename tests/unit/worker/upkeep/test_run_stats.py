"""What a worker tells of its stats, to which run, and how often."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest
from scrapy import Request
from scrapy.settings import Settings

from crawler.counting.by_run import StatsByRun, of_run
from crawler.errors import ConfigError
from crawler.policy.run_stats import Row, Table
from crawler.worker.upkeep.run_stats import ROWS, RunStats, read_table


class Bench:
    """A worker's stats by run, and a Redis that keeps calls by number as the script does."""

    def __init__(self) -> None:
        self.by_run = StatsByRun()
        self.calls: list[tuple[int, Sequence[Row]]] = []
        self.fails_after_it_was_done = 0
        stats: Any = SimpleNamespace(by_run=self.by_run)
        totals: Any = SimpleNamespace(add=self._add)
        self.stats = RunStats(stats, totals, "w", Table({}))

    async def _add(self, worker: str, number: int, rows: Sequence[Row]) -> None:
        if number not in [known for known, _ in self.calls]:
            self.calls.append((number, rows))
        if self.fails_after_it_was_done:
            self.fails_after_it_was_done -= 1
            raise ConnectionError

    def page(self, run: str, name: str = "pages", count: float = 1) -> None:
        request = Request("http://a.example/")
        with of_run(run, request):
            self.by_run.add(name, count)

    def told(self) -> list[tuple[str, str, float]]:
        return [(row.run, row.name, row.value) for _, rows in self.calls for row in rows]


async def test_an_unknown_outcome_is_told_again_as_it_was() -> None:
    bench = Bench()
    bench.page("1")
    bench.fails_after_it_was_done = 2
    for _ in range(2):
        with pytest.raises(ConnectionError):
            await bench.stats.tell()
        bench.page("1")
    await bench.stats.tell()
    await bench.stats.tell()
    assert bench.told() == [("1", "pages", 1), ("1", "pages", 2)]
    assert [number for number, _ in bench.calls] == [1, 2]


async def test_what_belongs_to_no_page_is_of_the_only_run_there_is() -> None:
    bench = Bench()
    bench.by_run.add("started", 1)
    await bench.stats.tell()
    bench.page("1")
    await bench.stats.tell()
    bench.by_run.add("acked", 1)
    await bench.stats.tell()
    assert bench.told() == [("1", "pages", 1), ("1", "started", 1), ("1", "acked", 1)]
    bench.by_run.add("idle", 1)
    await bench.stats.tell()
    bench.page("2")
    bench.page("3")
    bench.by_run.add("shared", 1)
    await bench.stats.tell()
    assert bench.told()[3:] == [("2", "pages", 1), ("3", "pages", 1)]


async def test_many_names_are_several_calls_and_none_is_one_too() -> None:
    bench = Bench()
    for number in range(ROWS + 1):
        bench.page("1", f"n{number}")
    await bench.stats.tell()
    await bench.stats.tell()
    assert [len(rows) for _, rows in bench.calls] == [ROWS, 1, 0]


async def test_a_collector_of_the_projects_own_tells_nothing() -> None:
    bench = Bench()
    totals: Any = SimpleNamespace(add=bench._add)
    await RunStats(SimpleNamespace(), totals, "w", Table({})).tell()  # type: ignore[arg-type]
    assert bench.calls == [(1, [])]


@pytest.mark.parametrize("how", ["average", 1, None])
def test_a_wrong_way_to_add_up_is_refused_by_name(how: object) -> None:
    with pytest.raises(ConfigError, match=r"RUN_STATS\['mine'\]"):
        read_table(Settings({"RUN_STATS": {"mine": how}}))
