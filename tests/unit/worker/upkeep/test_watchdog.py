"""What happens to leases while the event loop stands still."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Sequence
from typing import Any, cast

import pytest
from scrapy import Spider

from crawler.frontier.config import FrontierConfig
from crawler.frontier.errors import FrontierUnavailableError
from crawler.frontier.messages import Handle
from crawler.frontier.server.blocking import BlockingScripts
from crawler.frontier.state.statement import Statement
from crawler.policy.pace import Pace
from crawler.worker.leases.held import HeldLease
from crawler.worker.leases.lease_buffer import Buffer
from crawler.worker.upkeep.watchdog import InHand, Watchdog, running
from tests.clock import Clock
from tests.unit.frontier.fakes import held

CONFIG = FrontierConfig(lease_ms=120_000, start_within_ms=20_000)


class Scripts:
    """Records what was run."""

    def __init__(self) -> None:
        self.ran: list[tuple[str, list[Handle], tuple[str, ...]]] = []
        self.stated: list[tuple[str | int, ...]] = []
        self.gone: set[Handle] = set()
        self.away = False

    def on_handles(self, name: str, handles: Sequence[Handle], *arguments: str) -> dict[Handle, bool]:
        if self.away:
            raise FrontierUnavailableError("away")
        self.ran.append((name, list(handles), arguments))
        return {handle: handle not in self.gone for handle in handles}

    def everywhere(self, name: str, *arguments: str | int) -> None:
        if self.away:
            raise FrontierUnavailableError("away")
        self.stated.append((name, *arguments))

    def close(self) -> None:
        """Nothing to close."""


class Bench:
    """A worker whose loop stands still: only the clock moves."""

    def __init__(self) -> None:
        self.clock, self.scripts, self.buffer = Clock(), Scripts(), Buffer()
        self.work: list[HeldLease] = []
        self.ending: list[Handle] = []
        self.suspended = False
        self.counted = 0
        scripts = cast("BlockingScripts", self.scripts)
        self.statement = Statement("s", Pace(1_000, 1, 1), {"=a.example": Pace(9_000, 1, 1)})
        self.watchdog = Watchdog(CONFIG, scripts, self.buffer, self._in_hand, self._count, self.statement, self.clock)

    def _in_hand(self) -> InHand:
        return InHand(self.work, self.ending, self.suspended)

    def _count(self) -> None:
        self.counted += 1

    def passes(self, seconds: int) -> None:
        for _ in range(seconds):
            self.clock.now += 1
            self.watchdog.look()


def _sent(number: int) -> HeldLease:
    one = held(number)
    one.slot.started_at = 1000.0
    return one


@pytest.fixture
def bench() -> Bench:
    return Bench()


def test_what_is_in_work_is_renewed_each_quarter_of_the_lease(bench: Bench) -> None:
    bench.work, bench.ending = [_sent(1)], [("0:9", 9)]
    bench.passes(29)
    assert bench.scripts.ran == []
    bench.passes(91)
    handles = [bench.work[0].handle, ("0:9", 9)]
    assert bench.scripts.ran == [("renew", handles, ("0",))] * 4


def test_the_rules_of_a_worker_stay_in_force_while_its_loop_is_blocked(bench: Bench) -> None:
    """They end 12 s after they were last stated."""
    bench.passes(3)
    assert bench.scripts.stated == []
    bench.passes(18)
    stated = ("rules", bench.statement.text, bench.statement.digest, 1)
    assert bench.scripts.stated == [stated] * 5
    bench.scripts.away = True
    bench.passes(6)
    bench.scripts.away = False
    bench.passes(1)
    assert bench.scripts.stated == [stated] * 6, "as soon as Redis is back"


def test_a_redis_that_is_away_is_told_once_in_a_standstill(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    bench.scripts.away = True
    bench.passes(60)
    assert [one.getMessage() for one in caplog.records if "Could not renew" in one.getMessage()] == [
        "Could not renew leases and rules while the event loop is blocked, trying on: away"
    ]


def test_time_without_room_for_items_does_not_count_here_either(bench: Bench) -> None:
    bench.work, bench.suspended = [_sent(1)], True
    bench.passes(30)
    assert [arguments for _, _, arguments in bench.scripts.ran] == [("1",)]


def test_a_lease_beyond_the_hard_cap_is_lost(bench: Bench) -> None:
    bench.work = [_sent(1), _sent(2)]
    bench.scripts.gone = {bench.work[0].handle}
    bench.passes(30)
    assert [one.lost for one in bench.work] == [True, False]


def test_buffered_leases_go_back_once_it_is_too_late_for_them(bench: Bench) -> None:
    late, later = held(1), held(2)
    late.slot.start_by, later.slot.start_by = 1020.5, 1025.5
    bench.buffer.append(late)
    bench.buffer.append(later)
    bench.passes(20)
    assert bench.scripts.ran == []
    bench.passes(1)
    assert bench.scripts.ran == [("give_back", [late.handle], ())]
    bench.passes(5)
    assert bench.scripts.ran[1:] == [("give_back", [later.handle], ())]
    assert len(bench.buffer) == 0


def test_what_was_not_sent_in_time_is_left_to_expire(bench: Bench) -> None:
    bench.work = [_sent(1), held(2)]
    bench.passes(30)
    assert bench.scripts.ran == [("renew", [bench.work[0].handle], ("0",))]


def test_a_buffered_lease_is_not_lost_when_redis_is_away(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    late = held(1)
    late.slot.start_by = 1001.0
    bench.buffer.append(late)
    bench.scripts.away = True
    bench.passes(25)
    assert list(bench.buffer) == [late]
    bench.scripts.away = False
    bench.passes(1)
    assert bench.scripts.ran == [("give_back", [late.handle], ())]


def test_it_warns_and_counts_once(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    bench.passes(100)
    lines = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
    assert len(lines) == bench.counted == 1
    assert lines[0].startswith("The event loop has been blocked for 20 s by code outside the callbacks")


def test_a_process_that_stood_still_as_a_whole_is_no_blocked_loop(bench: Bench) -> None:
    """SIGSTOP, a sleeping machine: the loop cannot be blamed."""
    bench.work = [_sent(1)]
    bench.passes(5)
    bench.clock.now += 3600
    bench.watchdog.look()
    assert (bench.scripts.ran, bench.counted) == ([], 0)


async def test_a_loop_that_comes_round_needs_no_help() -> None:
    bench = Bench()
    watching = asyncio.create_task(bench.watchdog.run())
    await asyncio.sleep(0)
    for _ in range(100):
        bench.clock.now += 1
        bench.watchdog.look()
        bench.watchdog._beat = bench.clock.now
    watching.cancel()
    assert (bench.scripts.ran, bench.counted) == ([], 0)


def test_time_without_a_loop_says_nothing_of_a_host(bench: Bench) -> None:
    tick = bench.watchdog._tick
    bench.clock.now += tick + 0.5
    bench.watchdog._come_round()
    assert bench.watchdog.since(1000) == 0, "busy, no more"
    bench.clock.now += tick + 10
    assert bench.watchdog.since(1000) == pytest.approx(10), "before it comes round"
    bench.watchdog._come_round()
    bench.clock.now += tick
    assert bench.watchdog.since(1000) == pytest.approx(10)
    assert bench.watchdog.since(bench.clock.now - tick - 4) == pytest.approx(4), "sent in the midst of it"
    assert bench.watchdog.since(bench.clock.now) == 0


def test_nobody_takes_a_lease_that_another_thread_has_taken() -> None:
    buffer = Buffer(held(number) for number in range(4_000))
    taken: list[list[HeldLease]] = [[], []]

    def withdraw() -> None:
        while len(buffer):
            taken[0] += buffer.withdraw(lambda one: one.lease.id.endswith(("1", "5")))
            if len(taken[0]) >= 800:
                return

    thread = threading.Thread(target=withdraw)
    thread.start()
    while (one := buffer.pop()) is not None:
        taken[1].append(one)
    thread.join(60)
    everything = taken[0] + taken[1]
    assert len(everything) == len({id(one) for one in everything}) == 4_000


def test_the_callback_that_runs_is_named() -> None:
    namespace: dict[str, Any] = {"__name__": "scrapy.core.scraper"}
    exec("def call_spider(callback):\n    callback()", namespace)
    running_now, release = threading.Event(), threading.Event()

    class ShopSpider:
        def parse(self) -> None:
            self.helper()

        def helper(self) -> None:
            running_now.set()
            release.wait(60)

    thread = threading.Thread(target=namespace["call_spider"], args=(ShopSpider().parse,))
    thread.start()
    assert running_now.wait(60)
    assert thread.ident is not None
    found = running(thread.ident)
    release.set()
    thread.join()
    assert found.startswith("test_the_callback_that_runs_is_named.ShopSpider.parse (test_watchdog.py:")
    assert running(thread.ident) == ""
    assert running(threading.get_ident()) == ""


def test_methods_of_a_spider_are_named_wherever_scrapy_calls_them() -> None:
    class ShopSpider(Spider):
        name = "shop"

        def failed(self) -> str:
            return running(threading.get_ident())

    assert ShopSpider().failed().startswith("test_methods_of_a_spider")
    assert "ShopSpider.failed (test_watchdog.py:" in ShopSpider().failed()
