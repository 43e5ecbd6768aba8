"""How much a worker leases, and of whom."""

from __future__ import annotations

from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any
from unittest.mock import AsyncMock, Mock

import pytest
from scrapy import Request
from scrapy.settings import Settings

from crawler.frontier.messages import Batch
from crawler.worker.leases.held import HeldLease
from crawler.worker.leases.lease_book import LeaseBook
from crawler.worker.leases.lease_buffer import Buffer
from crawler.worker.pauses import Pauses
from crawler.worker.prefetch import Prefetcher
from tests.clock import Clock
from tests.unit.frontier.fakes import Frontier, Outage, held, lease

SLOTS = 8


class Bench:
    """A prefetcher and what is around it."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.frontier = Frontier()
        self.queue: Any = _Queue()
        self.book = LeaseBook(self.queue.buffer)
        self.given_back: list[Any] = []
        settings = Settings(
            {"CONCURRENT_REQUESTS": SLOTS, "FRONTIER_POLL_SECONDS": 0.5, "FRONTIER_SLOW_HOST_SECONDS": 10}
        )
        self.woken = 0
        engine = SimpleNamespace(_slot=SimpleNamespace(nextcall=SimpleNamespace(schedule=self._wake), closing=None))
        stats = SimpleNamespace(inc_value=lambda name, by=1: None)
        crawler: Any = SimpleNamespace(settings=settings, stats=stats, engine=engine)
        outbox: Any = SimpleNamespace(give_back=self.given_back.append)
        self.pauses = Pauses()
        shared = (self.frontier, self.queue, self.book, outbox, Outage(), self.pauses)
        made: Any = Prefetcher
        self.prefetcher: Prefetcher = made(crawler, "w", *shared, Mock(), Mock(learn=AsyncMock()), self.clock)

    def _wake(self) -> None:
        self.woken += 1

    def fill(self, leases: Iterable[HeldLease]) -> None:
        for one in leases:
            self.queue.buffer.append(one)

    def work(self, *leases: HeldLease) -> None:
        for one in leases:
            self.book.hold(Request("http://a.example/"), one)


class _Queue:
    spider = SimpleNamespace(name="s")
    encoder = SimpleNamespace(scopes=None)  # no lease here is of a run

    def __init__(self) -> None:
        self.buffer = Buffer()

    def __len__(self) -> int:
        return len(self.buffer)

    def pop(self) -> HeldLease | None:
        return self.buffer.pop()

    def streams(self) -> list[str]:
        return ["s", "s:browser"]


@pytest.fixture
def bench() -> Bench:
    return Bench()


@pytest.mark.parametrize(
    ("buffered", "in_work", "room"),
    [(0, 0, 8), (0, 8, 8), (0, 12, 4), (0, 16, 0), (4, 0, 4), (4, 8, 4), (4, 12, 0), (5, 0, 0), (8, 8, 0), (0, 20, 0)],
)
def test_a_worker_holds_at_most_twice_its_slots(bench: Bench, buffered: int, in_work: int, room: int) -> None:
    """And asks again only once half of the buffer is used: a call for each request would cost a round trip each."""
    bench.fill(held(number) for number in range(buffered))
    bench.work(*(held(number) for number in range(in_work)))
    assert bench.prefetcher._room() == room


@pytest.mark.parametrize("place", ["buffer", "work"])
def test_nothing_is_leased_beside_a_suspect(bench: Bench, place: str) -> None:
    suspect = held(deliveries=2)
    if place == "buffer":
        bench.queue.buffer.append(suspect)
    else:
        bench.work(suspect)
    assert bench.prefetcher._room() == 0


async def test_only_an_idle_worker_asks_for_suspects(bench: Bench) -> None:
    await bench.prefetcher._fill(8)
    bench.work(held())
    await bench.prefetcher._fill(8)
    assert [asked["suspects_ok"] for _, asked in bench.frontier.told] == [True, False]


async def test_each_tier_of_a_worker_comes_first_in_its_turn(bench: Bench) -> None:
    for _ in range(4):
        await bench.prefetcher._fill(8)
    first, second, *later = [asked["streams"] for _, asked in bench.frontier.told]
    assert {*first} == {*second} == {"s", "s:browser"}
    assert first[0] != second[0]
    assert later == [first, second]


def test_a_host_that_holds_half_of_the_slots_gets_no_more(bench: Bench) -> None:
    bench.work(*(held(number, "a.example") for number in range(3)))
    assert bench.prefetcher._full_hosts() == []
    bench.queue.buffer.append(held(9, "a.example"))
    bench.work(held(10, "b.example"))
    assert bench.prefetcher._full_hosts() == ["a.example"]


def test_slow_hosts_together_get_no_more_than_half(bench: Bench) -> None:
    slow = [held(number, f"slow-{number}.example") for number in range(4)]
    for one in slow:
        one.slot.started_at = bench.clock.now
    bench.work(*slow, held(9, "quick.example"))
    bench.clock.now += 9.9
    assert bench.prefetcher._full_hosts() == []
    bench.clock.now += 0.2
    assert bench.prefetcher._full_hosts() == [f"slow-{number}.example" for number in range(4)]
    slow[0].slot.reported = True  # answered: three are not half of eight
    assert bench.prefetcher._full_hosts() == []


async def test_what_is_leased_is_buffered_with_its_time_and_the_engine_is_woken(bench: Bench) -> None:
    bench.frontier.batch = Batch([lease(1), lease(2)], 0, 5)
    bench.frontier.before = lambda name: setattr(bench.clock, "now", bench.clock.now + 3)  # a slow call
    assert await bench.prefetcher._fill(8) == 0.0
    assert [one.slot.start_by - 1000.0 for one in bench.queue.buffer] == [20.0, 20.0]  # counted from before the call
    assert bench.woken == 1


async def test_what_is_leased_by_a_call_during_which_a_pause_began_goes_back_before_the_engine_sees_it(
    bench: Bench,
) -> None:
    """Such as the one that finds that Redis has failed over."""
    bench.frontier.batch = Batch([lease(1), lease(2)], 0, 5)
    bench.frontier.before = lambda name: bench.pauses.stop("failover", "Redis has failed over")
    await bench.prefetcher._fill(8)
    assert len(bench.given_back) == 2
    assert len(bench.queue) == 0


@pytest.mark.parametrize(("next_due_ms", "seconds"), [(None, 0.5), (200, 0.2), (0, 0.001), (60_000, 0.5)])
async def test_it_waits_for_what_is_due_but_never_long(bench: Bench, next_due_ms: int | None, seconds: float) -> None:
    bench.frontier.batch = Batch([], next_due_ms, 0)
    assert await bench.prefetcher._fill(8) == seconds
    assert bench.woken == 0


def test_what_was_not_started_goes_back(bench: Bench) -> None:
    bench.fill([held(1), held(2)])
    bench.prefetcher.give_back()
    assert bench.given_back == [("0:1", 1), ("0:2", 2)]
    assert len(bench.queue) == 0


async def test_what_can_no_longer_start_goes_back(bench: Bench) -> None:
    """An engine whose downloads all wait for something asks for nothing, and would hold such a host's slot for ever."""
    bench.fill([held(1), held(2)])
    bench.clock.now += 10
    bench.prefetcher._drop_late()
    assert len(bench.queue.buffer) == 2
    bench.clock.now += 11
    bench.prefetcher._drop_late()
    assert bench.given_back == [held(1).handle, held(2).handle]


def test_while_redis_is_full_one_request_is_leased_at_a_time_and_never_none(bench: Bench) -> None:
    """Pages that wait for room are no longer in work: those behind them may need none, and make some."""
    bench.pauses.slow("full")
    assert bench.prefetcher._room() == 1
    bench.queue.buffer.append(held(1))
    assert bench.prefetcher._room() == 0
    bench.queue.buffer.pop()
    bench.work(held(2))
    assert bench.prefetcher._room() == 0
    bench.pauses.slow("")
    assert bench.prefetcher._room() == SLOTS
