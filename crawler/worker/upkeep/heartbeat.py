"""Says that a worker lives, and how it is: what `scrapy status` and other workers read of it."""

from __future__ import annotations

from scrapy.crawler import Crawler

from crawler import scrapy_hooks
from crawler.frontier.run_record import is_run_generation
from crawler.frontier.state.workers import Workers
from crawler.frontier.streams import stream_of
from crawler.worker.lease_queue import FrontierQueue
from crawler.worker.leases.lease_book import LeaseBook
from crawler.worker.outbox.outbox import Outbox
from crawler.worker.pauses import Pauses
from crawler.worker.upkeep import databases
from crawler.worker.upkeep.vitals import Vitals


class Heartbeat:
    """The heartbeat of the worker *name*."""

    def __init__(
        self,
        crawler: Crawler,
        workers: Workers,
        name: str,
        queue: FrontierQueue,
        book: LeaseBook,
        outbox: Outbox,
        pauses: Pauses,
    ) -> None:
        self._crawler = crawler
        self._workers = workers
        self._name = name
        self._queue = queue
        self._book = book
        self._outbox = outbox
        self._pauses = pauses
        self._vitals = Vitals(crawler.stats)
        self._database = databases.database_of(crawler.settings)
        self._shown: tuple[bool, ...] = ()  # of what others should know at once
        self.outbox_shown = 0  # in the last heartbeat

    async def compare_databases(self) -> None:
        """Name a worker of this spider that stores elsewhere."""
        databases.compare(self._database, self._queue.spider.name, await self._workers.alive())

    async def beat_if_urgent(self) -> None:
        """So that `scrapy status` shows at once what matters to a person."""
        if self._urgent() != self._shown:
            await self.beat()

    async def beat(self) -> None:
        """Send one."""
        queue, outbox = self._queue, self._outbox
        self.outbox_shown, self._shown = len(outbox), self._urgent()
        largest, size = outbox.new.largest_waiting() or ("", 0)
        own = queue.tier_routing.own
        await self._workers.heartbeat(
            self._name,
            {
                "spider": queue.spider.name,
                databases.FIELD: self._database,
                "tiers": ",".join(own),
                "leases": len(self._book),
                "buffered": len(queue),
                "outbox": self.outbox_shown,
                "starting": self._is_starting,
                "waiting": len(outbox.waiting),
                "largest_waiting": largest,
                "largest_waiting_bytes": size,
                "paused": self._pauses.reason,
                "slowed": self._pauses.slowed,
                **self._vitals.told(),
            },
            [stream_of(queue.spider.name, tier) for tier in own],
            newest=self._newest_run(),
        )

    def _newest_run(self) -> str:
        """The generation of the newest run that it holds pages of; "0" for none."""
        generations = {one.lease.generation for one in self._book.in_hand()}
        return max(filter(is_run_generation, generations), default="0")

    def _urgent(self) -> tuple[bool, ...]:
        pauses = self._pauses
        return bool(self._outbox.waiting), bool(pauses.reason), bool(pauses.slowed), self._is_starting

    @property
    def _is_starting(self) -> bool:
        return scrapy_hooks.is_starting(self._crawler.engine)
