"""What is done to the workers, and when: drawn from the seed and timed by the share of pages done."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Final, Literal

from crawler.embedded import record
from crawler.embedded.processes import Process
from demo.children import Child, Family

USAGE_ERROR: Final = 2  # exit status of a worker that cannot use its servers

OLD: Final = "old"  # how the names of workers of the old release begin
STRICT: Final = "strict"  # and of those with a longer delay
DEPLOYED_AT: Final = 0.1  # of all pages are done
SET_BACK_SECONDS: Final = 1.0
OLDER_SECONDS: Final = 10.0  # as of a backup

Kind = Literal["kill", "freeze", "restart", "older", "mongo", "deploy", "fill", "empty", "rules"]


@dataclass(frozen=True, slots=True)
class Event:
    """One blow, due when that share of all pages is done."""

    share: float
    kind: Kind


@dataclass(frozen=True, slots=True)
class Freeze:
    """A worker stood still from *began* to *ended*, seconds since the epoch."""

    worker: str
    began: float
    ended: float


def schedule(
    rng: Random,
    *,
    kills: int,
    freezes: int,
    restarts: int,
    mongo_kills: int,
    olders: int = 0,
    fills: int = 0,
    empties: int = 0,
    rules: int = 0,
) -> list[Event]:
    """All of them in order, over nine tenths of the crawl."""
    counts: dict[Kind, int] = {"kill": kills, "freeze": freezes, "restart": restarts, "mongo": mongo_kills}
    events = [Event(rng.uniform(0.02, 0.9), kind) for kind, count in counts.items() for _ in range(count)]
    events.append(Event(DEPLOYED_AT, "deploy"))
    events += [Event(rng.uniform(0.15, 0.5), "fill") for _ in range(fills)]
    events += [Event(rng.uniform(0.15, 0.4), "empty") for _ in range(empties)]
    events += [Event(rng.uniform(0.3, 0.6), "older") for _ in range(olders)]
    events += [Event(rng.uniform(0.1, 0.25), "rules") for _ in range(rules)]
    return sorted(events, key=lambda event: event.share)


class Fleet:
    """Worker processes, replaced as they die."""

    def __init__(self, family: Family, command: Callable[[str], list[str]], rng: Random) -> None:
        self._family = family
        self._command = command
        self._rng = rng
        self.workers: list[Child] = []
        self.ended: list[Child] = []  # by themselves, which none should
        self.killed: list[Child] = []
        self.killed_by_pages: list[Child] = []
        self.turned_away: list[Child] = []  # they came while Redis was away, and said so
        self.stopped: list[Child] = []  # of the old release
        self.freezes: list[Freeze] = []
        self._frozen: set[Child] = set()
        self._started = 0

    @property
    def living(self) -> list[Child]:
        """Those that run; replaces those that a page has killed, and those that found no Redis when they began."""
        gone = [worker for worker in self.workers if worker.status is not None]
        self.workers = [worker for worker in self.workers if worker.status is None]
        for worker in gone:
            ends = {-signal.SIGKILL: self.killed_by_pages, USAGE_ERROR: self.turned_away}
            ends.get(worker.status or 0, self.ended).append(worker)
            if worker not in self.ended:
                self.add()
        return self.workers

    def add(self, kind: str = "worker") -> Child:
        """One more; those that replace others are of the new release."""
        self._started += 1
        name = f"{kind}-{self._started}"
        self.workers.append(self._family.start(name, *self._command(name)))
        return self.workers[-1]

    def victim(self, at_work: set[int]) -> Child | None:
        """One of those with a pid in *at_work*: a worker that is only starting is no target yet."""
        living = [one for one in self.living if not one.name.startswith((OLD, STRICT))]  # others end these
        able = [worker for worker in living if worker.pid in at_work and worker not in self._frozen]
        return self._rng.choice(able) if able else None

    def deploy(self) -> bool:
        """Stop the workers of the old release, as a deploy does, and replace them; False while one is frozen."""
        if any(one.name.startswith(OLD) for one in self._frozen):
            return False
        for worker in [one for one in self.workers if one.name.startswith(OLD)]:
            self.workers.remove(worker)
            worker.send(signal.SIGTERM)
            self.stopped.append(worker)
            self.add()
        return True

    def kill(self, victim: Child) -> None:
        """With -9, and replace it."""
        self.end(victim)
        self.killed.append(victim)
        self.add()

    def end(self, victim: Child) -> None:
        """With -9, for good."""
        self.workers.remove(victim)
        victim.send(signal.SIGKILL)
        victim.wait(5)

    async def freeze(self, victim: Child, seconds: float) -> None:
        """Let it stand still for that long."""
        self._frozen.add(victim)
        began = time.time()
        victim.send(signal.SIGSTOP)
        await asyncio.sleep(seconds)
        self.freezes.append(Freeze(victim.name, began, time.time()))
        victim.send(signal.SIGCONT)
        self._frozen.remove(victim)


async def set_back_redis(services: Path, seconds: float = SET_BACK_SECONDS) -> float:
    """Kill the bundled Redis with -9, and take back what it wrote in its last *seconds*: one of them `appendfsync
    everysec` may lose with the machine. When it was killed, since the epoch; 0 while it is being started."""
    said = record.read(services / "redis")
    if said is None or said.state != "ready" or said.server is None or not said.server.alive:
        return 0.0
    (written,) = (services / "redis" / "data" / "appendonlydir").glob("*.incr.aof")
    size = written.stat().st_size
    await asyncio.sleep(seconds)
    killed = time.time()
    os.kill(said.supervisor.pid, signal.SIGSTOP)  # or it would be started before its file is cut
    try:
        os.kill(said.server.pid, signal.SIGKILL)
        await _end_of(said.server)
        os.truncate(written, size)
    finally:
        os.kill(said.supervisor.pid, signal.SIGCONT)
    return killed


async def _end_of(process: Process) -> None:
    while process.alive:  # noqa: ASYNC110 - it is no child of ours
        await asyncio.sleep(0.001)


def kill_server(services: Path, name: str) -> bool:
    """End a bundled server with -9: its supervisor starts it again on what its journal holds. False while it does."""
    said = record.read(services / name)
    if said is None or said.state != "ready" or said.server is None or not said.server.alive:
        return False
    os.kill(said.server.pid, signal.SIGKILL)
    return True
