"""When a worker's crawl has run out of work."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any
from unittest.mock import AsyncMock, Mock

import pytest

from crawler import scrapy_hooks
from crawler.worker.upkeep.idleness import Idleness
from tests.clock import Clock


class Queue(list[Any]):
    """Empty, of spider "s"."""

    spider = SimpleNamespace(name="s")


class Bench:
    """An idle worker, and a frontier without work."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.outbox: list[Any] = []
        self.inspection = SimpleNamespace(empty=AsyncMock(return_value=True))
        self.seeds = SimpleNamespace(pending=AsyncMock(return_value=False))
        self.heartbeat = SimpleNamespace(outbox_shown=0, beat=AsyncMock())
        parts: Any = (self.inspection, Queue(), [], self.outbox, self.seeds, self.heartbeat)
        made: Any = Idleness
        self.idleness: Idleness = made(SimpleNamespace(engine="engine"), *parts, self.clock)

    async def seconds_after(self, seconds: float) -> float:
        """For how long it knows of no work after a look, and *seconds*."""
        await self.idleness.look()
        self.clock.now += seconds
        return self.idleness.seconds()


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Bench:
    monkeypatch.setattr(scrapy_hooks, "wake", Mock())
    return Bench()


async def test_it_counts_from_the_first_look_that_found_no_work(bench: Bench) -> None:
    assert bench.idleness.seconds() == 0.0, "nobody has looked"
    assert [await bench.seconds_after(5), await bench.seconds_after(5)] == [5.0, 10.0]


@pytest.mark.parametrize("where", ["outbox", "frontier", "start URLs", "unknown"])
async def test_work_anywhere_starts_it_anew(bench: Bench, where: str) -> None:
    await bench.seconds_after(5)
    match where:
        case "outbox":
            bench.outbox.append("an ending")
        case "frontier":
            bench.inspection.empty.return_value = False
        case "start URLs":
            bench.seeds.pending.return_value = True
        case _:
            bench.idleness.unknown()
            assert bench.idleness.seconds() == 0.0
            return
    assert await bench.seconds_after(5) == 0.0


async def test_others_hear_at_once_that_its_outbox_is_empty(bench: Bench) -> None:
    bench.heartbeat.outbox_shown = 3
    await bench.idleness.look()
    assert bench.heartbeat.beat.await_count == 1


async def test_a_busy_worker_does_not_ask(bench: Bench) -> None:
    bench.outbox.append("an ending")
    await bench.idleness.look()
    assert bench.inspection.empty.await_count == 0
