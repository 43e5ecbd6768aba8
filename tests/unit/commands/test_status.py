"""What `scrapy status` prints: it fits 80 columns, and cuts nothing off."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import Any

import pytest
from rich.console import Group
from rich.text import Text

from crawler.commands import status
from crawler.commands.terminal import PlainConsole
from crawler.commands.views.fitted import Fitted
from crawler.commands.views.runs_view import plain, whole
from crawler.commands.views.status_snapshot import Snapshot, _held_up
from crawler.commands.views.status_view import render, verdict
from crawler.frontier.errors import FrontierUnavailableError
from crawler.frontier.inspection.waiting import WaitingHost
from crawler.frontier.messages import HostState, SpiderStats, WorkerState
from crawler.frontier.run_record import Run, RunCounts
from crawler.frontier.state.budgets import Closed

HOST = "a-shop-with-a-very-long-name.in-a-department.of.some-company.example.co.uk"
SPIDER = "a_spider_with_a_very_long_name_indeed"
WORKER = "crawler-browser-7d9f8b6c5d-x2x4z-12345-0a1b2c3d"
MANY = SpiderStats(*[1_234_567_890] * len(SpiderStats.__slots__))


VITALS = {"pages_per_s": 123.4, "items_per_s": 99.9, "age_s": 90_000, "memory_mb": 1_234}
COUNTS = RunCounts(accepted=999, queued=1_234_567, done=12_345_678, dead=12_345, dropped=77)


def _snapshot() -> Snapshot:
    spiders = {f"{SPIDER}_{number}": MANY for number in range(5)} | {"short": SpiderStats(queued=5)}
    hosts = [
        HostState(HOST, 12_345_678, 60_000, 12, 100, 1_800_000, 1_700_000, 12_300, 1.0, 5, 12, "browser"),
        HostState("b.example", 3, 0, 0, 1, 0, 0, 5, None, 0, 0),
    ]
    return Snapshot(
        spiders=spiders,
        tiers={f"{SPIDER}_0": {"http": MANY, "browser": MANY}},
        spent={"browser": {"requests": 123_456, "cost": 12.5}},
        eligible_hosts=1_234_567,
        waiting_hosts=7,
        dead_letters=3,
        hosts=hosts,
        waiting=[WaitingHost(HOST, 12_345, "circuit breaker opened (12 in a row), then one probe", 1_700_000)],
        workers=[
            WorkerState(WORKER, 1_500, {"spider": SPIDER, "tiers": "browser", "leases": 32, "outbox": 9} | VITALS),
        ],
        advice=["maxmemory-policy is not noeviction"],
        bytes_per_queued=312.5,
        bytes_per_seen=14.2,
        memory=0.93,
        waiting_for_room=1_234,
        largest_waiting=(f"https://{HOST}/{'path/' * 20}", 12_345_678),
        held_up=["Leasing is paused: MongoDB does not store"],
        runs=[
            Run("20261122-123456", "nightly-of-the-whole-catalogue", SPIDER, "1", "open", 0, counts=COUNTS),
            Run("20261122-2", "", "short", "2", "finished", 0, ended_ms=7_300_000, counts=RunCounts(done=9)),
        ],
        oldest_ms=90_000,
    )


def test_what_stands_in_urls_and_names_is_no_markup() -> None:
    """A page's URL could end `scrapy status` with a traceback, at the moment when Redis is full."""
    url = "https://a.example/?filter[color]=red&close=[/b]&mood=:on:"
    seen = replace(
        _snapshot(),
        largest_waiting=(url, 9),
        waiting=[WaitingHost("[fe80::1]", 3, "delayed ([x])", 1_000)],
        runs=[Run("20261122-1", "[red]a:x:b", "s", "1", "open", 0)],
    )
    for text in (url, "[fe80::1]: 3 pages wait", "delayed ([x])", "s [red]a:x:b"):
        assert text in _shown(seen)


def _shown(seen: Snapshot) -> str:
    """Of a wide terminal, on one line."""
    return " ".join(_printed(400, seen).split())


def _printed(width: int, seen: Snapshot | None = None) -> str:
    console = PlainConsole(width=width, file=io.StringIO())
    console.print(render(seen or _snapshot()))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


@pytest.mark.parametrize("paused", [f"run {SPIDER}:1", f"spider {SPIDER}"])
def test_a_paused_run_has_no_time_to_go(paused: str) -> None:
    row = next(
        line for line in _printed(400, replace(_snapshot(), paused=[paused])).splitlines() if "20261122-1" in line
    )
    assert row.split()[-1] == "paused"


def test_all_of_it_fits_80_columns() -> None:
    assert max(map(len, _printed(80).splitlines())) <= 80


def test_nothing_is_cut_off_at_80_columns() -> None:
    shown = _printed(80)

    assert "…" not in shown
    for number in ("12.3M", "1,234.6M", "12/100", "30 min", "1,234,567", "took 2 h 2 min", "1 d 1 h", "waited 1 min"):
        assert number in shown
    letters = "".join(shown.split())
    assert all(part in letters for part in ("a-shop-with", "crawler-", "a_spider"))


def test_a_wide_terminal_shows_whole_names_on_one_line() -> None:
    shown = _printed(160)

    for name in (HOST, WORKER, "open 12"):
        assert name in shown


def test_columns_that_say_nothing_are_left_out() -> None:
    plain = Snapshot(hosts=[HostState("b.example", 3, 0, 0, 1, 0, 0, 5, None, 0, 0)])
    console = PlainConsole(width=80, file=io.StringIO())
    console.print(render(plain))
    assert isinstance(console.file, io.StringIO)

    assert "breaker" not in (shown := console.file.getvalue())
    assert "tier" not in shown
    assert "Nothing is queued yet (`scrapy push`)." in shown
    assert "No worker is running (`scrapy crawl`)." in shown


def test_what_runs_dropped_has_a_column_where_there_is_some() -> None:
    run = Run("20261122-1", "", "s", "1", "open", 0, counts=RunCounts(done=1))
    assert "done  to do  dead  to go" in _printed(80, Snapshot(runs=[run]))
    dropped = replace(run, counts=RunCounts(done=1, dropped=2))
    assert "done  to do  dead  dropped  to go" in _printed(80, Snapshot(runs=[run, dropped]))


def test_the_first_line_says_whether_it_is_finished() -> None:
    def said(stats: SpiderStats, workers: int = 1, rate: float = 2.0, **more: Any) -> str:
        ours = [WorkerState("w", 0, {"spider": "s", "pages_per_s": rate, "items_per_s": rate})] * workers
        hosts, waits = more.pop("hosts", []), more.pop("waits", [])
        return verdict(Snapshot(spiders={"s": stats}, hosts=hosts, waiting=waits, workers=ours, **more))

    assert said(SpiderStats(done=5)) == "Finished: nothing is queued, leased or delayed."
    assert "not sealed" in said(SpiderStats(done=5), runs=[Run("1", "", "s", "1", "open", 0)])
    busy = SpiderStats(queued=7_190, leased=9, delayed=1)
    assert said(busy) == "Crawling: 2.0 pages/s, 2.0 items/s, 1 worker; 7,200 requests to go: 1 h."
    assert "2 workers; 7,200 requests to go: 30 min." in said(busy, 2)
    assert said(busy, 0) == "Stopped: no worker is running (`scrapy crawl s`); 7,200 requests to go."
    assert said(SpiderStats(queued=1), 0).endswith("; 1 request to go.")
    assert said(busy, rate=0).startswith("Waiting: no page was done in the last minute")
    assert said(busy, rate=0, held_back=["s is paused"]).startswith("Waiting: requests are held back, see below")
    slow = [HostState("a", 1_000, 10_000, 0, 1, 0, 0, 5, None, 0, 0)]
    assert ": 2 h 47 min." in said(busy, hosts=slow), "as long as the longest queue takes at its host's delay"
    assert ": 1 d 2 h." in said(busy, waits=[WaitingHost("b", 1, "delayed", 93_600_000)]), "and no host waits longer"


def test_a_worker_that_says_nothing_any_more_counts_as_none() -> None:
    info = {"spider": "s", "pages_per_s": 2.0}
    heard, killed = WorkerState("w-1", 4_000, info), WorkerState("w-2", 21_000, info)
    seen = Snapshot(spiders={"s": SpiderStats(queued=7_200)}, workers=[heard, killed])
    assert verdict(seen) == "Crawling: 2.0 pages/s, 0.0 items/s, 1 worker; 7,200 requests to go: 1 h."
    assert "Nothing was heard of w-2 for 21.0 s: killed, stuck, or without Redis." in _shown(seen)
    alone = replace(seen, workers=[killed, replace(killed, name="w-3", seen_ms_ago=30_000)])
    assert verdict(alone) == "Stopped: nothing is heard of any worker, see below; 7,200 requests to go."
    assert "Nothing was heard of 2 workers, such as w-2, for 30.0 s" in _shown(alone)
    assert "Nothing was heard" not in _shown(replace(seen, workers=[heard]))


def test_of_many_workers_those_that_say_nothing_are_shown() -> None:
    workers = [WorkerState(f"w-{number}", 20_000 if number > 95 else 0, {"spider": "s"}) for number in range(100)]
    seen = Snapshot(spiders={"s": SpiderStats(queued=1)}, workers=workers)
    lines = _printed(80, seen).splitlines()
    assert "Workers (10 of 100)" in [line.strip() for line in lines]
    names = [line.split()[0] for line in lines if line.startswith("w-")]
    assert names == [f"w-{number}" for number in (96, 97, 98, 99, 0, 1, 2, 3, 4, 5)]


def test_whoever_has_something_to_do_is_named_where_nobody_works() -> None:
    todo = SpiderStats(queued=1)
    seen = Snapshot(spiders={"s": todo, "t": SpiderStats(done=1)})
    assert verdict(seen) == "Stopped: no worker is running (`scrapy crawl s`); 1 request to go."
    assert "(`scrapy crawl SPIDER`)" in verdict(replace(seen, spiders={"s": todo, "t": todo}))


def test_start_urls_that_nobody_has_taken_in_are_to_be_done() -> None:
    """A crawl that is fed by LPUSH alone was finished, or not begun, while no worker ran."""
    empty = Snapshot(start_urls={"s": 1_200})
    for seen in (empty, replace(empty, spiders={"s": SpiderStats(done=3)})):
        assert verdict(seen) == "Stopped: no worker is running (`scrapy crawl s`); 1,200 requests to go."
        assert "Start URLs of s that no worker has taken in yet: 1,200." in _shown(seen)
    assert "Start URLs" not in _shown(replace(empty, start_urls={}))


def test_what_workers_say_alike_is_said_once() -> None:
    reasons = ["Redis uses 92% of its maxmemory", "Redis uses 93% of its maxmemory", "the archive is full"]
    workers = [WorkerState(f"w-{number}", 0, {"slowed": why}) for number, why in enumerate(reasons)]
    told = _held_up(workers)
    assert [line.partition(": ")[2] for line in told] == ["Redis uses 93% of its maxmemory", "the archive is full"]


def test_what_waits_on_a_disk_is_counted_once_for_all_workers_there() -> None:
    away = {"store_away": 1, "spool_bytes": 115_213}
    names = ("shop-a-11614-54ed", "shop-a-11742-7305", "shop-b-11614-54ed")
    [told] = _held_up([WorkerState(name, 0, away) for name in names])
    assert told == "MongoDB stores nothing from 3 of 3 workers: 230,426 bytes of items wait on disk"


async def test_watching_outlasts_redis(monkeypatch: pytest.MonkeyPatch) -> None:
    answers: list[Snapshot | Exception] = [FrontierUnavailableError("[Errno 111] refused"), _snapshot()]

    async def take(_frontier: Any, _spider: str | None) -> Snapshot:
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    monkeypatch.setattr(status, "take_snapshot", take)
    shown = PlainConsole(file=io.StringIO(), width=80)
    for _ in range(2):
        shown.print(await status._view(None, None))  # type: ignore[arg-type]
    away, back = shown.file.getvalue().split("\n", 1)  # type: ignore[attr-defined]
    assert away == "Redis is away, watching goes on: [Errno 111] refused"
    assert "b.example" in back


def test_many_spiders_and_hosts_fit_a_screen() -> None:
    hosts = [HostState(f"{number}.example", 3, 0, 0, 1, 0, 0, 5, None, 0, 0) for number in range(20)]
    stats = {"products": SpiderStats(queued=60), "pages": SpiderStats(done=1)}
    waiting = [WaitingHost(f"{number}.example", 5, "delayed", 1_000) for number in range(20)]
    console = PlainConsole(width=80, file=io.StringIO())
    workers = [WorkerState(f"w-{number}", 0, VITALS) for number in range(2)]
    console.print(
        render(
            Snapshot(
                spiders=stats,
                eligible_hosts=1,
                waiting_hosts=2,
                hosts=hosts,
                waiting=waiting[:1],
                workers=workers,
                bytes_per_queued=30.0,
                bytes_per_seen=8.0,
            )
        )
    )
    assert isinstance(console.file, io.StringIO)
    assert len(console.file.getvalue().splitlines()) <= 24


def test_runs_that_have_no_row_are_counted() -> None:
    console = PlainConsole(width=80, file=io.StringIO())
    console.print(render(Snapshot(more_runs=2)))
    assert isinstance(console.file, io.StringIO)
    assert "Not shown: 2 older unfinished runs. `scrapy runs --limit N` lists more.\n" in console.file.getvalue()


@pytest.mark.parametrize("spider", [None, "s"])
def test_no_end_is_forecast_while_requests_are_held_back(spider: str | None) -> None:
    """Ten requests a day may go out, and these went out in the last minute: 90 are not done in nine more."""
    held = {"held_back": ["the budget of spider s is spent"], "closed": [Closed("s:s", "requests", 3_600_000)]}
    worker = WorkerState("w", 0, {"spider": "s", "pages_per_s": 0.2})
    stats = {"s": SpiderStats(queued=90)}
    seen = Snapshot(spiders=stats, workers=[worker], **held)  # type: ignore[arg-type]
    assert seen.seconds_to_go(spider) is None
    assert seen.seconds_to_go("another", 5) is None
    assert verdict(seen).endswith("1 worker; 90 requests to go, some of them held back, see below.")
    assert Snapshot(spiders=stats, workers=[worker]).seconds_to_go(spider) == 450


def test_no_end_is_forecast_while_no_worker_leases() -> None:
    """Nothing was leased since the store went away, whatever was done in the minute before."""
    paused, other = (
        WorkerState("w", 0, {"spider": "s", "pages_per_s": 4.0, "paused": why}) for why in ("MongoDB is away", "")
    )
    seen = Snapshot(spiders={"s": SpiderStats(queued=90)}, workers=[paused])
    assert verdict(seen) == "Waiting: leasing is paused, see below; 90 requests to go."
    assert seen.seconds_to_go("s") is None
    assert verdict(replace(seen, workers=[paused, other])).startswith("Crawling: 8.0 pages/s")


@pytest.mark.parametrize(("pending", "seconds"), [(None, 3_600), (90, 3_600), (50, 250)])
def test_a_run_that_has_all_requests_waits_for_hosts_too(pending: int | None, seconds: float) -> None:
    """With other runs under way nobody knows whose requests a host holds."""
    worker = WorkerState("w", 0, {"spider": "s", "pages_per_s": 0.2})
    waiting = [WaitingHost("a.example", 1, "delayed (retry)", 3_600_000)]
    seen = Snapshot(spiders={"s": SpiderStats(queued=90)}, waiting_hosts=1, waiting=waiting, workers=[worker])
    assert seen.seconds_to_go("s", pending) == seconds
    if pending:
        assert replace(seen, start_urls={"s": 5}).seconds_to_go("s", pending) == seconds, "these are in no host's queue"


def test_a_run_beside_others_is_forecast_from_its_own_requests_to_all_of_its_spider() -> None:
    """Five requests that were pushed after 190 others are not done in a second."""
    worker = WorkerState("w", 0, {"spider": "s", "pages_per_s": 5.0})
    late, first = (
        Run(f"20261122-{number}", "", "s", f"2026112200000{number}", "sealed", 1, counts=RunCounts(queued=queued))
        for number, queued in ((2, 5), (1, 190))
    )
    stats = {"s": SpiderStats(queued=195)}
    seen = Snapshot(spiders=stats, workers=[worker], runs=[late, first])
    assert seen.run_to_go(late) == (1, 39)
    assert seen.run_to_go(replace(first, counts=RunCounts(queued=195))) == (39, 39)
    assert seen.run_to_go(replace(first, counts=RunCounts(queued=400))) == (80, 80), "counted at another moment"
    console = PlainConsole(width=80, file=io.StringIO())
    console.print(render(seen))
    assert isinstance(console.file, io.StringIO)
    assert "1 s to 39 s" in console.file.getvalue()
    assert "s does 5.0 pages a second: about 1 s to go, 39 s if its other runs come first." in whole(late, seen, {}, {})
    assert plain(late, seen)["seconds_to_go"] == 39


@pytest.mark.parametrize(("until_ms", "told"), [(86_388_000, "in 24 h"), (500, "in 0.5 s"), (0, "now"), (-30, "now")])
def test_when_a_host_is_tried_next_is_told_in_words(until_ms: int, told: str) -> None:
    waiting = [WaitingHost("a.example", 1, "delayed (retry)", until_ms)]
    console = PlainConsole(width=80, file=io.StringIO(), record=True)
    console.print(render(Snapshot(spiders={"s": SpiderStats(delayed=1)}, waiting_hosts=1, waiting=waiting)))
    assert f"a.example: 1 page waits, next try {told}: delayed" in console.export_text()


def test_damaged_counters_are_not_taken_for_a_finished_crawl() -> None:
    damaged = replace(_snapshot(), spiders={}, workers=[], uncounted=1_234)

    assert verdict(damaged) == "Unknown whether it is finished: counters in Redis were damaged, see below."
    assert (
        "off by 1,234 requests; workers count them again as soon as one runs, delayed ones once they are due."
        in _shown(damaged)
    )
    assert "workers count them again within a minute, " in _shown(replace(_snapshot(), uncounted=5))


def test_counters_below_0_are_no_requests_to_go() -> None:
    """It said "-52 requests to go: 1 s"."""
    damaged = replace(_snapshot(), spiders={"short": SpiderStats(queued=-44, leased=-8, done=75)}, uncounted=52)
    assert verdict(damaged) == "Unknown whether it is finished: counters in Redis were damaged, see below."
    both = replace(damaged, spiders={**damaged.spiders, SPIDER: SpiderStats(queued=5)})
    assert "; 5 requests to go" in verdict(both)


def test_what_was_set_aside_is_named_with_where_to_read_on() -> None:
    shown = _shown(replace(_snapshot(), set_aside=["{shoal:0}:gens", "{shoal:0}:pace a", "{shoal:0}:state"]))

    assert "set aside so far: 3 ({shoal:0}:gens, {shoal:0}:pace a, ...)." in shown
    assert 'docs/operations.md, "Damaged data"' in shown


def test_nothing_is_said_of_damage_where_there_is_none() -> None:
    assert "amaged" not in _printed(160)


def test_queues_stand_apart_from_the_runs_above_them() -> None:
    lines = [line.split() for line in _printed(80).splitlines()]
    assert lines[next(n for n, words in enumerate(lines) if words[:2] == ["spider", "queued"]) - 1] == []


def test_what_a_terminal_has_no_lines_for_is_counted() -> None:
    for lines, told in (
        (4, ["0", "1", "2", "3"]),
        (6, ["0", "1", "2", "... 3 more lines: a taller terminal shows them"]),
    ):
        out = io.StringIO()
        PlainConsole(file=out, width=80, height=4).print(Fitted(Group(*map(Text, "012345"[:lines]))))
        assert out.getvalue().splitlines() == told
