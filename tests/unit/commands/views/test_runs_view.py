"""What `scrapy runs` prints."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from crawler.commands import runs
from crawler.commands.terminal import PlainConsole
from crawler.commands.views import runs_view
from crawler.commands.views.progress import CrawlProgress
from crawler.frontier.errors import FrontierUnavailableError
from crawler.frontier.messages import HostState, SpiderStats, WorkerState
from crawler.frontier.run_record import Run, RunCounts
from crawler.frontier.state.budgets import Closed

RUN = Run(
    "20261122-1", "nightly", "products", "20261122000001", "finished", 1_795_340_000_000, ended_ms=1_795_343_661_000
)


def listed(*runs: Run, paused: Sequence[str] = ()) -> str:
    console = PlainConsole(file=io.StringIO(), width=80)
    console.print(runs_view.overview(runs, RUN.ended_ms, paused))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_a_name_is_shown_as_it_is() -> None:
    assert "products [bold]x[/bold] [red]" in listed(replace(RUN, name="[bold]x[/bold] [red]"))


def test_a_thousand_runs_with_long_names_and_large_numbers_fit_80_columns() -> None:
    counts = RunCounts(
        accepted=123_456_789, queued=123_456_789, done=99_999_999, gone=9_999_999, dead=12_345, dropped=7
    )
    runs = [replace(RUN, id=f"20261122-{number}", name="long " * 12, counts=counts) for number in range(1, 1_001)]
    lines = listed(*runs).splitlines()
    assert max(map(len, lines)) <= 80
    assert sum(line.startswith("20261122-") for line in lines) == 1_000, "no id is folded or cut"


@pytest.mark.parametrize(
    ("paused", "option"),
    [("spider products", "--spider products"), (f"run products:{RUN.generation}", f"--run {RUN.id}")],
)
def test_a_pause_is_told_with_what_ends_it(paused: str, option: str) -> None:
    run = replace(RUN, state="sealed", ended_ms=0, counts=RunCounts(queued=5))
    worker = WorkerState("w", 0, {"spider": "products", "pages_per_s": 4.0})
    stats = {"products": SpiderStats(queued=5)}
    seen = CrawlProgress(spiders=stats, workers=[worker], paused=[paused])
    told = [*runs_view.whole(run, seen, {}, {})]
    assert f"It is paused (`scrapy control resume {option}`)." in told
    assert not any("to go" in line for line in told), "nobody knows when it is resumed"
    assert runs_view.plain(run, seen)["seconds_to_go"] is None
    assert runs_view.plain(run, replace(seen, paused=[]))["seconds_to_go"] is not None
    assert " paused " in listed(run, paused=[paused])
    assert runs_view.plain(run, paused=[paused])["paused"] is True
    for other in (["spider pages", "run products:1"], []):
        assert " sealed " in listed(run, paused=other)
        assert runs_view.plain(run, paused=other)["paused"] is False
    assert " finished " in listed(RUN, paused=[paused]), "what is over waits for nobody"


def test_a_run_in_full_fits_80_columns() -> None:
    """The longest name of a stat that there usually is, and large numbers."""
    totals = {"downloader/exception_type_count/scrapy.exceptions.IgnoreRequest": 5, "bytes": 12_345_678_901}
    run = replace(RUN, producer="schedule nightly", state="sealed", sealed_ms=RUN.opened_ms, ended_ms=0)
    seen = CrawlProgress(now_ms=RUN.opened_ms + 600_000)
    lines = list(runs_view.whole(run, seen, {}, totals))
    assert lines[1:3] == [
        "opened 2026-11-22 09:33:20 UTC by schedule nightly",
        "under way for 10 min, sealed 2026-11-22 09:33:20 UTC",
    ]
    assert lines[-1].endswith(" 12,345,678,901")
    assert max(map(len, lines)) <= 80
    long = f"downloader/exception_type_count/{'x' * 70}"
    lines = list(runs_view.whole(run, seen, {}, totals | {long: 1}))
    assert [line for line in lines if len(line) > 80] == [f"  {long:<63} {'1':>14}"], "it lengthens no other line"


def test_a_run_whose_workers_lease_nothing_has_no_time_left_to_tell() -> None:
    run = replace(RUN, state="sealed", ended_ms=0, counts=RunCounts(accepted=90, queued=90))
    worker = WorkerState("w", 0, {"spider": "products", "pages_per_s": 4.0, "paused": "MongoDB is away"})
    held_up = ["Leasing is paused: MongoDB is away"]
    seen = CrawlProgress(workers=[worker], held_up=held_up)
    told = list(runs_view.whole(run, seen, {}, {}))
    assert told[-1] == "Leasing is paused: MongoDB is away."
    assert not [line for line in told if "to go" in line or "was done" in line]


def test_a_run_says_which_budgets_hold_it_back() -> None:
    run = replace(RUN, state="sealed", ended_ms=0, counts=RunCounts(accepted=3, done=2, delayed=1))
    ours = ("r:products:20261122000001", "s:products", "d:shop.example", "v:a.shop.example")
    others = ("r:products:20261122000002", "s:pages", "d:other.example", "v:b.shop.example")
    closed = [Closed(name, "hours" if name[0] == "v" else "requests", 7_200_000) for name in (*ours, *others)]
    hosts = [HostState("a.shop.example", 3, 0, 0, 1, 0, 0, 5, None, 0, 0)]
    seen = CrawlProgress(hosts=hosts, closed=closed, now_ms=RUN.opened_ms)
    told = [line for line in runs_view.whole(run, seen, {}, {}) if line.startswith("Held back")]
    assert told == [
        (
            "Held back: the budget of run 20261122-1 is spent (requests), "
            "for good: what is left is dropped once its last pages have ended."
        ),
        "Held back: the budget of spider products is spent (requests), for 2 h more.",
        "Held back: the budget of shop.example is spent (requests), for 2 h more.",
        "Held back: the robots.txt of a.shop.example names the hours in which it may be visited, for 2 h more.",
    ]


async def test_waiting_outlasts_redis(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(runs, "POLL_SECONDS", 0)
    answers: list[Run | Exception] = [
        replace(RUN, state="open"),
        FrontierUnavailableError("away"),
        FrontierUnavailableError("away"),
        RUN,
    ]

    async def get(run_id: str, opened_ms: int) -> Run:
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def settle() -> None:
        pass

    frontier: Any = SimpleNamespace(runs=SimpleNamespace(known=get, settle=settle))
    assert await runs._wait(frontier, RUN.id, as_json=False) == 0
    told = capsys.readouterr()
    assert told.out == f"{RUN.told()}\n"
    assert told.err == "Redis is away, waiting goes on: away\n", "once"


@pytest.mark.parametrize(("minutes", "is_told"), [(9, False), (95, True)])
def test_how_long_nothing_happened_is_told(minutes: int, is_told: bool) -> None:
    run = replace(RUN, state="open", ended_ms=0, quiet_ms=minutes * 60_000)
    told = [*runs_view.whole(run, CrawlProgress(), {}, {})]
    assert ("Nothing was pushed to it or done for 1 h 35 min." in told) is is_told
    assert runs_view.plain(run)["quiet_seconds"] == minutes * 60
    assert "quiet_seconds" not in runs_view.plain(RUN)
