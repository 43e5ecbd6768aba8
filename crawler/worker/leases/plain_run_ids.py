"""Which run the pages of plain starts and start URLs are part of: that of their crawl at the moment."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from time import monotonic
from typing import Final

from crawler.frontier.messages import Lease
from crawler.frontier.run_record import is_run_generation, run_id_of
from crawler.frontier.runs.plain_runs import PlainRuns
from crawler.worker.leases.lease_book import LeaseBook

TRUSTED: Final = 0.25  # of a lease's time: less than a frozen worker has to be frozen to lose its leases


class PlainRunIds:
    """Asks Redis with the first lease that this worker holds of a crawl; as long as it holds one, that run goes on.

    So each page is part of the run that counts it, however often it is delivered. Costs a call whenever a worker
    without work gets some, and one in a quarter of a lease's time.
    """

    def __init__(
        self, runs: PlainRuns, book: LeaseBook, spider: str, lease_ms: int, clock: Callable[[], float] = monotonic
    ) -> None:
        self._runs = runs
        self._book = book
        self._spider = spider
        self._seconds = TRUSTED * lease_ms / 1000
        self._clock = clock
        self._asked: dict[str, float] = {}  # when, by generation
        self._ids: dict[str, str] = {}  # of the run there now, by generation

    def run_of(self, generation: str) -> str | None:
        """The id of the run that requests of *generation* are part of; None where nobody can tell."""
        return run_id_of(generation) or self._ids.get(generation)

    def joined(self, generation: str, run: str) -> None:
        """This worker has joined *run* there."""
        self._ids[generation] = run

    def forget(self) -> None:
        """Redis may have lost its runs: ask with the next lease."""
        self._asked.clear()

    async def learn(self, leases: Iterable[Lease]) -> None:
        """Know the run of *leases*, which this worker holds now besides those of the book."""
        plain = {lease.generation for lease in leases if not is_run_generation(lease.generation)}
        for generation in plain:
            before = self._clock()
            if self._knows(generation, before):
                continue
            run = await self._runs.holding(self._spider, generation)
            self._asked[generation] = before
            self._ids.pop(generation, None)
            if run is not None:
                self._ids[generation] = run.id

    def _knows(self, generation: str, now: float) -> bool:
        asked = self._asked.get(generation)
        if asked is None or now >= asked + self._seconds:
            return False
        return any(one.lease.generation == generation for one in self._book.in_hand())
