"""What a worker says of itself, and when it says so at once."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from scrapy.settings import Settings

from crawler.routing.tier_routing import TierRouting
from crawler.worker.pauses import Pauses
from crawler.worker.upkeep.heartbeat import Heartbeat


class Queue(list[Any]):
    """Empty, of spider "s"."""

    spider = SimpleNamespace(name="s")
    tier_routing = TierRouting()


class Outbox(list[Any]):
    """Empty."""

    waiting: tuple[Any, ...] = ()
    new = SimpleNamespace(largest_waiting=lambda: None)


class Book(list[Any]):
    """Leases."""

    def in_hand(self) -> list[Any]:
        """All of them."""
        return [*self]


class Bench:
    """A heartbeat and what is around it."""

    def __init__(self) -> None:
        stats = SimpleNamespace(get_value=lambda key, default=None: default)
        crawler: Any = SimpleNamespace(engine=SimpleNamespace(_start=None), stats=stats, settings=Settings())
        self.book, self.pauses = Book(), Pauses()
        self.told: list[tuple[dict[str, Any], str]] = []
        made: Any = Heartbeat
        self.heartbeat: Heartbeat = made(crawler, self, "w", Queue(), self.book, Outbox(), self.pauses)

    async def heartbeat_of(self, name: str, info: dict[str, Any], streams: list[str], *, newest: str) -> None:
        assert name == "w"
        self.told.append((info, newest))


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Bench:
    bench = Bench()
    bench.heartbeat._workers = SimpleNamespace(heartbeat=bench.heartbeat_of)  # type: ignore[assignment]
    return bench


async def test_a_heartbeat_names_the_newest_run_that_it_holds_pages_of(bench: Bench) -> None:
    await bench.heartbeat.beat()
    generations = ("20231114000007", "20231114000012", "20231114000009", "3")
    bench.book += [SimpleNamespace(lease=SimpleNamespace(generation=one)) for one in generations]
    await bench.heartbeat.beat()
    assert [newest for _, newest in bench.told] == ["0", "20231114000012"]


async def test_that_it_pauses_is_said_at_once_and_again(bench: Bench) -> None:
    await bench.heartbeat.beat()
    await bench.heartbeat.beat_if_urgent()
    assert len(bench.told) == 1, "nothing has changed"
    bench.pauses.stop("storage", "MongoDB is away")
    for _ in range(2):
        await bench.heartbeat.beat_if_urgent()
    bench.pauses.stop("storage", "")
    await bench.heartbeat.beat_if_urgent()
    assert [info["paused"] for info, _ in bench.told] == ["", "MongoDB is away", ""]
