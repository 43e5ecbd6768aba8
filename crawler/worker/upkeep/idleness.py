"""For how long a worker, and the whole frontier, have had no work for its spider."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic

from scrapy.crawler import Crawler

from crawler import scrapy_hooks
from crawler.frontier.inspection.inspection import Inspection
from crawler.worker.lease_queue import FrontierQueue
from crawler.worker.leases.lease_book import LeaseBook
from crawler.worker.outbox.outbox import Outbox
from crawler.worker.upkeep.heartbeat import Heartbeat
from crawler.worker.upkeep.seed_reader import SeedReader


class Idleness:
    """Asks about the whole frontier only while this worker has no work itself."""

    def __init__(
        self,
        crawler: Crawler,
        inspection: Inspection,
        queue: FrontierQueue,
        book: LeaseBook,
        outbox: Outbox,
        seeds: SeedReader,
        heartbeat: Heartbeat,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._crawler = crawler
        self._inspection = inspection
        self._queue = queue
        self._book = book
        self._outbox = outbox
        self._seeds = seeds
        self._heartbeat = heartbeat
        self._clock = clock
        self._since: float | None = None

    def seconds(self) -> float:
        """Seconds since all work ran out; 0 while there is some."""
        return 0.0 if self._since is None else self._clock() - self._since

    def unknown(self) -> None:
        """Redis cannot be asked: unknown counts as pending."""
        self._since = None

    async def look(self) -> None:
        """Look for work."""
        busy = len(self._book) or len(self._queue) or len(self._outbox)
        if not busy and self._heartbeat.outbox_shown:
            await self._heartbeat.beat()  # other workers wait for what we no longer have
        if busy or not await self._inspection.empty(self._queue.spider.name) or await self._seeds.pending():
            self._since = None
            return
        self._since = self._clock() if self._since is None else self._since
        scrapy_hooks.wake(self._crawler.engine)  # else it looks whether it may close at its 5 s heartbeat only
