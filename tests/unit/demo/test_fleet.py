"""The fleet's end: an empty frontier, no workers left, a timeout."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from demo import fleet
from demo.children import Family
from demo.fleet import DemoError, Fleet
from demo.progress import Counts, Plain


class Script(Fleet):
    """A fleet whose workers run a small module instead of a crawl."""

    module = "polite"

    def scrapy(self, *arguments: str) -> list[str]:
        return [self.module]


class Frontier:
    """In place of an Observer: empty after *rounds* calls, one page done per call."""

    def __init__(self, rounds: int) -> None:
        self.looks = 0
        self._rounds = rounds

    async def empty(self) -> bool:
        self.looks += 1
        return self.looks > self._rounds

    async def counts(self) -> Counts:
        return Counts(queued=1, leased=0, delayed=0, done=self.looks, stored=0)


class Silent(Plain):
    """Remembers notes only."""

    def __init__(self) -> None:
        self.notes: list[str] = []

    def show(self, counts: Counts, elapsed: float) -> None:
        pass

    def note(self, text: str) -> None:
        self.notes.append(text)


@pytest.fixture
def crew(scripts: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Script]:
    monkeypatch.setattr(fleet, "POLL_SECONDS", 0.01)
    with Family(scripts / "logs") as family:
        yield Script(family, {})


async def crawl(
    crew: Script, rounds: int, screen: Silent, kill_after: int | None = None, limit: float = 30
) -> Frontier:
    frontier = Frontier(rounds)
    await crew.crawl(frontier, screen, kill_after=kill_after, limit=limit)  # type: ignore[arg-type]
    return frontier


def test_settings_become_options() -> None:
    line = Fleet(None, {"DOWNLOAD_DELAY": 0.1}).scrapy("crawl", "products")  # type: ignore[arg-type]
    assert line == ["scrapy", "crawl", "products", "-s", "DOWNLOAD_DELAY=0.1"]


async def test_workers_are_stopped_when_the_frontier_is_empty(crew: Script) -> None:
    workers, screen = [crew.add(), crew.add()], Silent()
    await crawl(crew, 3, screen)

    assert [worker.status for worker in workers] == [-signal.SIGTERM] * 2
    assert screen.notes == []


async def test_one_worker_is_killed_midway_and_replaced(crew: Script) -> None:
    screen = Silent()
    crew.add()
    await crawl(crew, 5, screen, kill_after=2)

    assert [worker.status for worker in crew.workers] == [-signal.SIGKILL, -signal.SIGTERM]
    (note,) = screen.notes
    assert note.startswith("Killed worker-1")
    assert note.endswith("worker-2 takes over.")


async def test_a_worker_that_ends_by_itself_is_named_once_and_the_last_one_ends_the_demo(crew: Script) -> None:
    crew.module = "short"
    worker, screen = crew.add(), Silent()

    with pytest.raises(DemoError, match=r"every worker has ended(.|\n)*29"):
        await asyncio.wait_for(crawl(crew, 10_000, screen), 60)
    assert screen.notes == [f"worker-1 has ended by itself (status 3); its log is {worker.log}"]


async def test_ctrl_c_that_a_driver_swallows_ends_the_demo_all_the_same(crew: Script) -> None:
    crew.add()
    frontier, looked = Frontier(10_000), asyncio.Event()

    async def swallowing() -> bool:
        frontier.looks += 1
        looked.set()
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.sleep(60)
        return False

    frontier.empty = swallowing  # type: ignore[method-assign]
    running = asyncio.create_task(crew.crawl(frontier, Silent(), kill_after=None, limit=30))  # type: ignore[arg-type]
    await looked.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(running, 60)
    assert frontier.looks == 1


async def test_a_crawl_that_takes_too_long_is_given_up(crew: Script) -> None:
    crew.add()
    with pytest.raises(DemoError, match="not empty after 0 s"):
        await crawl(crew, 10_000, Silent(), limit=0.05)
