"""Which run a page of plain starts or start URLs is part of."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from scrapy import Request

from crawler.worker.leases.lease_book import LeaseBook
from crawler.worker.leases.lease_buffer import Buffer
from crawler.worker.leases.plain_run_ids import PlainRunIds
from tests.clock import Clock
from tests.unit.frontier.fakes import held


class Bench:
    """A worker's leases, and runs that Redis names one after the other."""

    def __init__(self) -> None:
        self.clock, self.buffer = Clock(), Buffer()
        self.book = LeaseBook(self.buffer)
        self.asked: list[str] = []
        runs: Any = SimpleNamespace(holding=self._holding)
        self.ids = PlainRunIds(runs, self.book, "s", 120_000, self.clock)

    async def _holding(self, spider: str, generation: str) -> Any:
        self.asked.append(generation)
        return None if generation == "old" else SimpleNamespace(id=f"20261122-{len(self.asked)}")

    async def lease(self, generation: str = "0") -> Any:
        one = held()
        one.lease = one.lease._replace(generation=generation)
        await self.ids.learn([one.lease])
        return one


async def test_asked_once_while_a_lease_is_held() -> None:
    bench = Bench()
    bench.buffer.append(await bench.lease())
    request = Request("http://a.example/")
    bench.book.hold(request, await bench.lease())
    bench.buffer.pop()
    await bench.lease()
    assert (bench.asked, bench.ids.run_of("0")) == (["0"], "20261122-1")
    bench.book.release(request)
    await bench.lease()
    assert bench.ids.run_of("0") == "20261122-2", "nothing kept the first one from ending"


async def test_a_worker_that_may_have_lost_its_leases_asks_again() -> None:
    bench = Bench()
    bench.buffer.append(await bench.lease())
    bench.clock.now += 31
    await bench.lease()
    assert bench.ids.run_of("0") == "20261122-2"


async def test_a_run_with_a_generation_of_its_own_is_known_by_that() -> None:
    bench = Bench()
    await bench.lease("20261122000007")
    await bench.lease("old")
    assert (bench.asked, bench.ids.run_of("20261122000007")) == (["old"], "20261122-7")
    assert bench.ids.run_of("old") is None


async def test_asked_again_when_redis_may_have_lost_its_runs() -> None:
    bench = Bench()
    bench.buffer.append(await bench.lease())
    bench.ids.forget()
    await bench.lease()
    assert (bench.asked, bench.ids.run_of("0")) == (["0", "0"], "20261122-2")
