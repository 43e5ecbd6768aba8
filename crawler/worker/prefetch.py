"""Keeps the worker's lease buffer filled, so that `next_request` never waits for Redis."""

from __future__ import annotations

import asyncio
import logging
import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from time import monotonic

from scrapy.crawler import Crawler
from scrapy.settings import BaseSettings

from crawler import config, scrapy_hooks
from crawler import stats as names
from crawler.frontier.errors import FrontierUnavailableError
from crawler.frontier.frontier import Frontier
from crawler.frontier.messages import Batch, Lease
from crawler.frontier.run_record import is_run_generation
from crawler.frontier.server import keys
from crawler.frontier.server.outage import RedisOutage
from crawler.worker.lease_queue import FrontierQueue, served_tiers
from crawler.worker.leases.held import HeldLease, HeldSlot
from crawler.worker.leases.lease_book import LeaseBook
from crawler.worker.leases.plain_run_ids import PlainRunIds
from crawler.worker.leases.suspects import SuspectTurns
from crawler.worker.outbox.outbox import Outbox
from crawler.worker.pauses import Pauses
from crawler.worker.turns.addresses import AddressBook

logger = logging.getLogger(__name__)

LOST_DATA = "Redis has lost its data: everything queued, leased or known is gone. Push the start URLs again"
SHORTEST_WAIT = 0.001  # seconds between calls that lease nothing
# Requests per call: each is of another host, which costs Redis more than an entry of a report.
MOST_LEASED = 32


@dataclass(frozen=True, slots=True)
class PrefetchConfig:
    """How much a worker prefetches."""

    slots: int  # CONCURRENT_REQUESTS, BROWSER_CONCURRENCY
    poll_seconds: float  # longest wait before Redis is asked again
    slow_seconds: float  # a longer fetch makes its host slow

    @classmethod
    def from_settings(cls, settings: BaseSettings) -> PrefetchConfig:
        """Raises ConfigError when a value is out of range."""
        slots = config.integer(settings, "CONCURRENT_REQUESTS")
        if served_tiers(settings) == ("browser",):  # another worker could load what waits for a tab here
            slots = min(slots, config.integer(settings, "BROWSER_CONCURRENCY"))
        return cls(
            slots=slots,
            poll_seconds=config.number(settings, "FRONTIER_POLL_SECONDS"),
            slow_seconds=config.number(settings, "FRONTIER_SLOW_HOST_SECONDS"),
        )


class Prefetcher:
    """One task per worker: leases while there is room, and gives back what a closing worker will not start."""

    def __init__(
        self,
        crawler: Crawler,
        worker: str,
        frontier: Frontier,
        queue: FrontierQueue,
        book: LeaseBook,
        outbox: Outbox,
        outage: RedisOutage,
        pauses: Pauses,
        addresses: AddressBook,
        runs: PlainRunIds,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        """*worker*: the name that the frontier knows it by."""
        self._crawler = crawler
        self._worker = worker
        self._frontier = frontier
        self._queue = queue
        self._book = book
        self._outbox = outbox
        self._outage = outage
        self._pauses = pauses
        self._addresses = addresses
        self._runs = runs
        self._clock = clock
        self._config = PrefetchConfig.from_settings(crawler.settings)
        self._suspects = SuspectTurns(self._clock, random.uniform)
        self._calls = 0
        self._woken = asyncio.Event()

    def wake(self) -> None:
        """Check again: the buffer ran low, a request was stored, a host became free."""
        self._woken.set()

    async def run(self) -> None:
        """Lease until the engine closes, then give the buffer back."""
        engine = self._crawler.engine
        while not scrapy_hooks.is_closing(engine):
            self._woken.clear()
            paused = engine.paused or self._pauses.reason
            if paused:
                self.give_back()
            self._drop_late()
            room = 0 if paused else self._room()
            await self._sleep(await self._fill(room) if room else self._config.poll_seconds)
        self.give_back()

    def give_back(self) -> None:
        """Return every buffered lease, uncharged."""
        while (held := self._queue.pop()) is not None:
            self._outbox.give_back(held.handle)

    def _drop_late(self) -> None:
        """Give back leases that can no longer start in time, as the engine was too busy to take them."""
        now = self._clock()
        for held in self._queue.buffer.withdraw(lambda held: held.slot.start_by < now):
            self._outbox.give_back(held.handle)

    def _room(self) -> int:
        if self._pauses.slowed:
            return int(self._idle)
        buffered = len(self._queue)
        if buffered > self._config.slots // 2 or self._holds_suspect():
            return 0
        if not self._idle and self._suspects.on():
            return 0
        free = 2 * self._config.slots - buffered - len(self._book)
        return max(0, min(self._config.slots - buffered, free, MOST_LEASED))

    @property
    def _idle(self) -> bool:
        return not self._book and not self._queue.buffer

    def _holds_suspect(self) -> bool:
        return any(held.lease.is_suspect for held in self._book.in_hand())

    async def _fill(self, room: int) -> float:
        """Lease up to *room* requests; returns the seconds until the next try."""
        before = self._clock()  # before the call, so that we count the lease from an earlier moment than Redis
        idle = self._idle
        try:
            batch = await self._lease(room, suspects_ok=idle)
        except FrontierUnavailableError as error:
            await self._outage.wait(error)
            return 0.0
        self._outage.over()
        await self._learn(batch, idle=idle)
        self._buffer(batch, before)
        if batch.leases:
            if self._pauses.reason:  # since the call
                self.give_back()
            self._count(len(batch.leases))
            return 0.0
        due = self._config.poll_seconds if batch.next_due_ms is None else batch.next_due_ms / 1000
        return min(max(due, SHORTEST_WAIT), self._config.poll_seconds)

    async def _learn(self, batch: Batch, *, idle: bool) -> None:
        """What comes with the leases, and has to be known before the first of them is taken."""
        self._addresses.learn(batch.addresses)
        self._addresses.seek(batch.sought)
        await self._learn_scopes(batch.leases)
        await self._outage.insist(partial(self._runs.learn, batch.leases))  # what a page yields belongs to its run
        self._suspects.saw(batch.suspects, taken=any(lease.is_suspect for lease in batch.leases), idle=idle)
        if batch.lost_data:
            self._crawler.stats.inc_value(names.DATA_LOST)
            logger.error(LOST_DATA)

    def _buffer(self, batch: Batch, before: float) -> None:
        for lease in batch.leases:
            slot, address = HeldSlot(before + lease.start_within_ms / 1000), batch.addresses.get(lease.host, "")
            run_id = self._runs.run_of(lease.generation)
            self._queue.buffer.append(HeldLease(lease, before, slot, address, run_id))

    async def _learn_scopes(self, leases: Sequence[Lease]) -> None:
        """A run may have been given a scope of its own: it is known before the first of its pages is fetched."""
        scopes, spider = self._queue.encoder.scopes, self._queue.spider.name
        for generation in {lease.generation for lease in leases if is_run_generation(lease.generation)}:
            while not scopes.knows(generation):  # what was forgotten meanwhile is asked again
                given = await self._outage.insist(partial(self._frontier.scopes.get, spider, generation))
                scopes.learn(generation, given)

    async def _lease(self, room: int, *, suspects_ok: bool) -> Batch:
        return await self._frontier.lease(
            self._streams(),
            room,
            worker=self._worker,
            suspects_ok=suspects_ok,
            exclude_hosts=self._full_hosts(),
            held=self._held_shards,
        )

    def _held_shards(self) -> set[int]:
        return {keys.shard_of_id(one.handle[0]) for one in (*self._book.all(), *self._queue.buffer)}

    def _streams(self) -> list[str]:
        """The streams of this worker's tiers, starting with another one each time: a long one must not starve the
        others."""
        streams = self._queue.streams()
        self._calls += 1
        first = self._calls % max(1, len(streams))
        return streams[first:] + streams[:first]

    def _count(self, leased: int) -> None:
        self._crawler.stats.inc_value(names.LEASED, leased)
        scrapy_hooks.wake(self._crawler.engine)

    def _full_hosts(self) -> list[str]:
        """Hosts that may take no more slots: one that holds half of them, and slow ones that hold half together."""
        half = max(1, self._config.slots // 2)
        held = self._book.hosts + Counter(waiting.lease.host for waiting in self._queue.buffer)
        full = {host for host, count in held.items() if count >= half}
        since = self._clock() - self._config.slow_seconds
        slow = [held.lease.host for held in self._book.all() if held.on_wire_since(since)]
        return sorted(full | set(slow) if len(slow) >= half else full)

    async def _sleep(self, seconds: float) -> None:
        if seconds <= 0:
            await asyncio.sleep(0)
            return
        await asyncio.sleep(min(seconds, SHORTEST_WAIT))
        try:
            await asyncio.wait_for(self._woken.wait(), seconds)
        except TimeoutError:
            return
