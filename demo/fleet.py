"""The demo's workers: started, monitored, one of them killed midway, stopped when nothing is left to do."""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from demo.children import Child, Family, stop
from demo.observer import SPIDER, Observer
from demo.progress import Display

POLL_SECONDS = 0.25


class DemoError(Exception):
    """The demo cannot continue; the message says why and names the log."""


@dataclass
class Fleet:
    """A few `scrapy crawl` processes on one queue."""

    family: Family
    settings: Mapping[str, object]
    workers: list[Child] = field(default_factory=list)
    _told: list[Child] = field(default_factory=list)  # whose end was reported

    def scrapy(self, *arguments: str) -> list[str]:
        """The command line of a Scrapy command with the demo's settings."""
        options = [part for name, value in self.settings.items() for part in ("-s", f"{name}={value}")]
        return ["scrapy", *arguments, *options]

    def add(self) -> Child:
        """Start one more worker."""
        worker = self.family.start(f"worker-{len(self.workers) + 1}", *self.scrapy("crawl", SPIDER))
        self.workers.append(worker)
        return worker

    def kill_one(self) -> tuple[Child, Child]:
        """Kill the first worker with -9 and start another; returns both."""
        victim = self.workers[0]
        self._told.append(victim)
        victim.send(signal.SIGKILL)
        victim.wait(5)
        return victim, self.add()

    async def crawl(self, observer: Observer, display: Display, *, kill_after: int | None, limit: float) -> float:
        """Wait until the frontier is empty, then stop the workers; returns the seconds it took.

        One worker is killed when *kill_after* pages are done (None: none is). Raises DemoError if all workers have
        ended by themselves, or after *limit* seconds.
        """
        began = time.monotonic()
        while not await observer.empty():
            counts, elapsed = await observer.counts(), time.monotonic() - began
            display.show(counts, elapsed)
            if kill_after is not None and counts.done >= kill_after:
                victim, replacement = self.kill_one()
                display.note(f"Killed {victim.name} (process {victim.pid}) with -9; {replacement.name} takes over.")
                kill_after = None
            self._check(elapsed, limit, display)
            await asyncio.sleep(POLL_SECONDS)
            if (task := asyncio.current_task()) is not None and task.cancelling():
                raise asyncio.CancelledError  # a Ctrl-C that Python 3.11's asyncio.wait_for swallowed in a driver
        seconds = time.monotonic() - began
        display.show(await observer.counts(), seconds)
        await self._stop(display)
        return seconds

    def _check(self, elapsed: float, limit: float, display: Display) -> None:
        for worker in self.workers:
            if worker.status is not None and worker not in self._told:
                self._told.append(worker)
                display.note(f"{worker.name} has ended by itself (status {worker.status}); its log is {worker.log}")
        if all(worker.status is not None for worker in self.workers):
            last = self.workers[-1]
            raise DemoError(f"every worker has ended; the last lines of {last.log}:\n{last.tail()}")
        if elapsed > limit:
            raise DemoError(f"the frontier is not empty after {limit:.0f} s; the workers' logs are {self._logs()}")

    async def _stop(self, display: Display) -> None:
        for worker in await asyncio.to_thread(stop, self.workers):
            display.note(f"{worker.name} did not stop when asked to and was killed; its log is {worker.log}")

    def _logs(self) -> str:
        return ", ".join(str(worker.log) for worker in self.workers)
