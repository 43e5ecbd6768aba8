"""The wide crawl's benchmark: what its figures mean, and one short round of it for real."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import wide, wide_robots
from benchmarks.crawl import SHOAL, STOCK
from benchmarks.wide import LOOP, Bench, Figures
from benchmarks.wide_robots import Cost, is_asked
from benchmarks.wide_site import PAGES
from benchmarks.worker import Sample, Worker
from crawler.embedded import Endpoints


class Told(Worker):
    """A worker that has used a second more of the CPU at each look."""

    def __init__(self) -> None:
        self.looks = -1

    def sample(self, stored: int) -> Sample:
        self.looks += 1
        return Sample(self.looks, self.looks, stored)


def rounds(*costs: float) -> list[Figures]:
    return [Figures(cost, 100, 150, 1.0) for cost in costs]


def test_costs_are_compared_with_the_loop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wide, "DOCUMENT", tmp_path / "wide.md")
    found = {
        LOOP: rounds(0.5, 0.4, 0.6),
        SHOAL: rounds(1.2, 1.3, 9.0),
        STOCK: rounds(3, 3, 3),
    }
    cost = Cost(0.5, 0.4, 0.6, 16)
    wide.publish(found, 2_000, 0, cost)
    written = (tmp_path / "wide.md").read_text()
    assert "| Shoal | 1.30 | 2.60 | 100 | 150 | 1.00 |" in written
    assert "| scrapy-redis | 3.00 | 6.00 | 100 | 150 | 1.00 |" in written
    assert (
        "A robots.txt costs 0.50 CPU-ms: median of 16 pairs of blocks, half of them between 0.40 and 0.60." in written
    )
    assert wide.missed(found, 0, cost) == []

    found[SHOAL] = rounds(2.0, 2.0, 2.0)
    assert len(wide.missed(found, 0, cost._replace(median=0.9))) == 2
    assert len(wide.missed(found, 20, None)) == 1
    wide.publish(found, 2_000, 20, None)
    assert "## 20 links a page" in (tmp_path / "wide.md").read_text()


def test_a_robots_txt_costs_what_blocks_with_it_cost_more_than_their_neighbours() -> None:
    """The machine becomes slower all the time, and the worker was cold at first."""
    blocks = [place / 10 + 0.5 * is_asked(place) + 9 * (place < 2) for place in range(18)]
    cost = Cost.of(blocks)
    assert (round(cost.low, 3), round(cost.median, 3), round(cost.high, 3), cost.pairs) == (0.4, 0.5, 0.6, 8)


@pytest.mark.parametrize(
    ("queued", "stored", "began"),
    [([2, 2, 0], [10], 2), ([0], [10], 0), ([2, 2, 1], [0, 4, 9, 10], 2), ([2, 1], [0, 10], 1)],
    ids=["stored at once", "before the first look", "a long round", "given back"],
)
def test_the_clock_runs_from_the_last_look_before_a_start_url_was_taken(
    queued: list[int], stored: list[int], began: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wide, "POLL_SECONDS", 0)
    looks, pages = iter(queued), iter(stored)
    first, last = Bench(Endpoints("", ""), 2, 0).watch(Told(), lambda: next(looks), lambda: next(pages))
    assert (first.cpu, last.cpu, last.stored) == (began, len(queued) + len(stored), 2 * PAGES)


def test_a_short_round_over_tls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mongodb_uri: str) -> None:
    monkeypatch.setattr(wide, "HOME", tmp_path)
    with wide.made(20, 20, mongodb_uri) as bench:
        found = {who: bench.round(who) for who in (LOOP, SHOAL)}
        asked = wide.counts(bench.port)
        monkeypatch.setattr(wide_robots, "HOSTS", 2)
        bench.robots(2)
        later = wide.counts(bench.port)
    assert {who: one.connections for who, one in found.items()} == {LOOP: 1.0, SHOAL: 1.0}, "kept while it is of use"
    assert (asked["pages"], asked["robots"]) == (2 * 20 * PAGES, 20)
    assert (later["pages"], later["robots"]) == (asked["pages"] + 6 * 2 * PAGES, 20 + 3 * 2), "of half of the blocks"
    assert all(one.pages_per_second > 0 and one.memory_mb > 1 for one in found.values())
