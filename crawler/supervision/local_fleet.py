"""Several workers of one spider on this machine under one supervisor: started, restarted and ended together."""

from __future__ import annotations

import logging
import selectors
import signal
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import monotonic
from typing import Any, Final

from crawler.supervision.children import kill
from crawler.supervision.display import Display, Rate
from crawler.supervision.worker_process import WorkerProcess
from crawler.utils.plural import several

TURN_SECONDS: Final = 0.1
# A worker whose spider was open this long, or that has done this many pages, died of something new.
STEADY_SECONDS: Final = 30.0
STEADY_PAGES: Final = 50
BACKOFF_SECONDS: Final = 0.5  # before the first restart; doubled each time
MOST_DEATHS: Final = 5  # in a row
CANNOT_GO_ON: Final = "frontier_error"  # the reason of worker.FAILED: the only orderly end that is retried
REFUSED: Final = 2  # exit status of a worker with invalid settings, which it has logged
FAILED: Final = 1
INTERRUPTED: Final = 130


@dataclass(slots=True)
class LocalWorker:
    """One worker, across its restarts."""

    number: int
    process: WorkerProcess | None = None
    next_at: float | None = 0.0  # when it starts; None: never again
    deaths: int = 0  # in a row
    status: int = 0
    reason: str = ""
    past: Counter[str] = field(default_factory=Counter)  # counts of its earlier processes

    @property
    def counts(self) -> Counter[str]:
        """Counts of all its processes."""
        return self.past + self.process.counts if self.process is not None else self.past


class LocalFleet:
    """Runs *count* processes `scrapy *arguments*` until all have ended by themselves, or one cannot be kept alive.

    One that dies is restarted, with growing delays; one whose event loop is stuck for longer than its /healthz allows
    is killed first. The first opens its spider before the others start, so that an error of the spider is logged once.
    The first SIGINT or SIGTERM asks all to finish their started pages, the second kills them.
    """

    def __init__(
        self,
        arguments: Sequence[str],
        count: int,
        told: Mapping[str, Any],
        display: Display,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._arguments = arguments
        self._told = told
        self._display = display
        self._clock = clock
        self._began = clock()
        self._rate = Rate()
        self._selector = selectors.DefaultSelector()
        self._asked = 0  # how often a signal asked to end
        self._heard = 0
        self._gave_up = 0  # its exit status
        self.workers = [LocalWorker(number) for number in range(1, count + 1)]

    def run(self) -> int:
        """Run until all have ended; returns the worst of their exit statuses, 130 if a second signal killed them."""
        try:
            with self._signals():
                while any(worker.process is not None or worker.next_at is not None for worker in self.workers):
                    self._turn()
        finally:
            kill([worker.process.process for worker in self.workers if worker.process is not None])
            self._selector.close()
        self._display.close(self._summary())
        return INTERRUPTED if self._asked > 1 else self._gave_up or max(worker.status for worker in self.workers)

    def endpoints(self) -> dict[str, str]:
        """URLs of the workers' metrics and probes by number; empty for one that has none now. Thread-safe."""
        return {
            str(worker.number): process.endpoint if process is not None else ""
            for worker in self.workers
            if (process := worker.process) is not None or worker.next_at is not None
        }

    def restarts(self) -> dict[str, int]:
        """How often each worker was restarted. Thread-safe."""
        return {str(worker.number): worker.past["restarts"] for worker in self.workers}

    def _turn(self) -> None:
        self._hear()
        for worker in self.workers:
            if worker.process is None and worker.next_at is not None and self._clock() >= worker.next_at:
                self._begin(worker)
        ready = {key.data for key, _ in self._selector.select(TURN_SECONDS)}
        for worker in self.workers:
            if worker.process is not None:
                self._look_after(worker, worker.process, heard=worker.number in ready)
        self._rate.note(self._clock(), self._counts()["pages"])
        if self._display.due() and any(worker.process for worker in self.workers):
            self._display.show(self._line())

    def _begin(self, worker: LocalWorker) -> None:
        leader = self.workers[0]
        if worker is not leader and leader.next_at is not None and not self._has_opened(leader):
            return
        told = {**self._told, "number": worker.number}
        try:
            worker.process = WorkerProcess(self._arguments, told, self._display.relay)
        except OSError as error:
            self._give_up(FAILED, f"worker {worker.number} cannot be started: {error}")
            return
        for descriptor in worker.process.descriptors:
            self._selector.register(descriptor, selectors.EVENT_READ, worker.number)

    def _has_opened(self, worker: LocalWorker) -> bool:
        return bool(worker.past["opened"] or (worker.process and worker.process.opened_at))

    def _look_after(self, worker: LocalWorker, process: WorkerProcess, *, heard: bool) -> None:
        before = process.descriptors
        if heard:
            process.read()
        closed = {*before} - {*process.descriptors}
        if process.is_stuck():
            kill([process.process])
        status = process.process.poll()
        for descriptor in before if status is not None else closed:
            self._selector.unregister(descriptor)
        if status is not None:
            process.ended()
            self._bury(worker, process, status)

    def _bury(self, worker: LocalWorker, process: WorkerProcess, status: int) -> None:
        worker.process, worker.reason = None, process.reason
        worker.past += process.counts
        worker.past["opened"] += bool(process.opened_at)
        if self._asked and not process.opened_at:  # it may not have installed its signal handlers yet
            status = 0
        worker.status = FAILED if status < 0 else status
        if status == 0 or self._asked or self._gave_up or (process.reason not in {"", CANNOT_GO_ON}):
            worker.next_at = None
        elif status == REFUSED and not worker.past["opened"]:
            self._give_up(status, "")
        elif status > 0 and not any(self._has_opened(one) for one in self.workers):  # so would the next
            words = f"worker {worker.number} ended with status {status} before its spider was open: giving up"
            self._give_up(status, words)
        else:
            self._restart(worker, process, status)

    def _restart(self, worker: LocalWorker, process: WorkerProcess, status: int) -> None:
        lived = self._clock() - (process.opened_at or self._clock())
        steady = lived >= STEADY_SECONDS or process.counts["pages"] >= STEADY_PAGES
        worker.deaths = 1 if steady else worker.deaths + 1
        how = f"was killed by {_signal(-status)}" if status < 0 else f"ended with status {status}"
        if process.stuck:
            how = f"was stuck ({process.stuck}) and killed"
        if worker.deaths >= MOST_DEATHS:
            times = f"{worker.deaths} times in a row, each time soon after its start"
            self._give_up(
                FAILED, f"worker {worker.number} {how}, {times}: giving up, the others finish their started pages"
            )
            return
        seconds = BACKOFF_SECONDS * 2 ** (worker.deaths - 1)
        worker.next_at = self._clock() + seconds
        worker.past["restarts"] += 1
        words = f"worker {worker.number} {how}: restarting in {seconds:g} s, its leases will expire"
        self._display.note(logging.WARNING, words)

    def _give_up(self, status: int, why: str) -> None:
        self._gave_up = status
        if why:
            self._display.note(logging.ERROR, why)
        self._finish()

    def _finish(self) -> None:
        for worker in self.workers:
            worker.next_at = None
            if worker.process is not None:
                worker.process.finish()

    def _hear(self) -> None:
        """Pass the supervisor's signals on; a third one changes nothing more."""
        while self._heard < self._asked:
            self._heard += 1
            if self._heard == 1:
                words = "asked to end: the workers finish their started pages; ask again to kill them"
                self._display.note(logging.INFO, words)
                self._finish()
            elif self._heard == 2:
                kill([worker.process.process for worker in self.workers if worker.process is not None])

    @contextmanager
    def _signals(self) -> Iterator[None]:
        def ask(*_: object) -> None:
            self._asked += 1

        before = {number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _counts(self) -> Counter[str]:
        return sum((worker.counts for worker in self.workers), Counter[str]())

    def _line(self) -> str:
        counts = self._counts()
        running = sum(worker.process is not None for worker in self.workers)
        return (
            f"{self._clock() - self._began:5.0f} s  {running}/{len(self.workers)} workers  {counts['pages']:,} pages  "
            f"{self._rate.now:.0f}/s  {counts['items']:,} items  {counts['errors']:,} errors"
        )

    def _summary(self) -> str:
        counts = self._counts()
        unknown = "stopped" if self._asked else "died"
        reasons = ", ".join(sorted({worker.reason or unknown for worker in self.workers}))
        return (
            f"{self._clock() - self._began:5.0f} s  {several(len(self.workers), 'worker')} ended ({reasons:.24}): "
            f"{several(counts['pages'], 'page')}, {several(counts['items'], 'item')}"
        )


def _signal(number: int) -> str:
    return signal.Signals(number).name if number in {*signal.Signals} else f"signal {number}"
