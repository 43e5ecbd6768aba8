"""What `scrapy status` prints: it fits 80 columns, and cuts nothing off."""

from __future__ import annotations

import io

from rich.console import Console

from crawler.commands.status import Snapshot, render
from crawler.frontier.messages import HostState, SpiderStats, WorkerState
from crawler.frontier.state.waiting import WaitingHost

HOST = "a-shop-with-a-very-long-name.in-a-department.of.some-company.example.co.uk"
SPIDER = "a_spider_with_a_very_long_name_indeed"
WORKER = "crawler-browser-7d9f8b6c5d-x2x4z-12345-0a1b2c3d"
MANY = SpiderStats(*[1_234_567_890] * len(SpiderStats.__slots__))


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
            WorkerState(
                WORKER, 1_500, {"spider": SPIDER, "tiers": "browser", "leases": 32, "buffered": 64, "outbox": 9}
            )
        ],
        advice=["maxmemory-policy is not noeviction"],
        bytes_per_queued=312.5,
        bytes_per_seen=14.2,
        memory=0.93,
        waiting_for_room=1_234,
        largest_waiting=(f"https://{HOST}/{'path/' * 20}", 12_345_678),
        held_up=["Leasing is paused: MongoDB does not answer"],
    )


def _printed(width: int) -> str:
    console = Console(width=width, file=io.StringIO())
    console.print(render(_snapshot()))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_all_of_it_fits_80_columns() -> None:
    assert max(map(len, _printed(80).splitlines())) <= 80


def test_nothing_is_cut_off_at_80_columns() -> None:
    shown = _printed(80)

    assert "…" not in shown
    for number in ("1,234,567,890", "12.3M", "1,234.6M", "12/100", "30 min"):
        assert number in shown
    letters = "".join(shown.split())
    assert all(part in letters for part in ("a-shop-with", "crawler-browser", "a_spider_with"))


def test_a_wide_terminal_shows_whole_names_on_one_line() -> None:
    shown = _printed(160)

    for name in (HOST, WORKER, "open 12"):
        assert name in shown


def test_columns_that_say_nothing_are_left_out() -> None:
    plain = Snapshot(
        {}, {}, {}, 0, 0, 0, [HostState("b.example", 3, 0, 0, 1, 0, 0, 5, None, 0, 0)], [], [], [], None, None
    )
    console = Console(width=80, file=io.StringIO())
    console.print(render(plain))
    assert isinstance(console.file, io.StringIO)

    assert "breaker" not in (shown := console.file.getvalue())
    assert "tier" not in shown
    assert "Nothing has been pushed yet." in shown
    assert "No worker is running." in shown
