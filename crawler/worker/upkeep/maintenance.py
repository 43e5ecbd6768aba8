"""A worker's periodic duties: renew leases, send heartbeats, clean up, read start URLs (seed_reader.py)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from time import monotonic

from scrapy.crawler import Crawler
from scrapy.settings import BaseSettings

from crawler import config, scrapy_hooks
from crawler import stats as names
from crawler.counting.tallies import tallies_of
from crawler.errors import ServiceError
from crawler.frontier.errors import FrontierError, FrontierUnavailableError
from crawler.frontier.run_record import is_run_generation
from crawler.frontier.streams import stream_of
from crawler.utils.plural import several
from crawler.worker.feeds import FeedClaim
from crawler.worker.parts import WorkerParts
from crawler.worker.upkeep import databases
from crawler.worker.upkeep.run_stats import RunStats, read_table
from crawler.worker.upkeep.runs import WorkerRuns
from crawler.worker.upkeep.seed_reader import SeedReader
from crawler.worker.upkeep.vitals import Vitals

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class MaintenanceConfig:
    """How often, in seconds."""

    seeds: float
    tiers: float
    heartbeat: float = 5.0
    rules: float = 2.0
    tidy: float = 60.0
    idle: float = 1.0
    control: float = 1.0
    stats: float = 2.0  # a worker that is killed loses what it counted since the last time
    room: float = 1.0
    shards: float = 1.0

    @classmethod
    def from_settings(cls, settings: BaseSettings) -> MaintenanceConfig:
        """Raises ConfigError for a value out of range."""
        poll = config.number(settings, "FRONTIER_POLL_SECONDS", 0.01, 60)
        return cls(
            seeds=poll,
            idle=min(1.0, 2 * poll),
            tiers=config.number(settings, "TIER_REFRESH_SECONDS", 0.05, 300),
        )


class Maintenance:
    """Runs each duty at its interval; an unreachable Redis delays them all and breaks none."""

    def __init__(
        self,
        crawler: Crawler,
        worker: WorkerParts,
        intervals: MaintenanceConfig,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._crawler = crawler
        self._worker = worker
        self._intervals = intervals
        self._clock = clock
        self._vitals = Vitals(crawler.stats, clock)
        frontier, encoder = worker.frontier, worker.queue.encoder
        self.seeds = SeedReader(crawler, frontier, encoder, worker.generation, worker.cuts, worker.prefetcher.wake)
        self.runs = WorkerRuns(crawler, frontier.runs, frontier.spent, self.seeds.queue, intervals.idle)
        self.run_stats = RunStats(crawler.stats, worker.frontier.totals, worker.name, read_table(crawler.settings))
        self.feeds = FeedClaim(frontier.shards, crawler.settings, worker.queue.spider.name, worker.name)
        self._database = databases.database_of(crawler.settings)
        self._empty_since: float | None = None
        self._shown: tuple[bool, ...] = ()  # of what others should know at once
        self._outbox_shown = 0  # in the last heartbeat
        self._damaged = 0  # requests of the spider that were lost to damage before

    def finished_for(self) -> float:
        """Seconds since this worker and the frontier ran out of work for this spider; 0 while there is work."""
        return 0.0 if self._empty_since is None else self._clock() - self._empty_since

    async def first(self) -> None:
        """Runs before the first lease."""
        await self._heartbeat()
        databases.compare(self._database, self._worker.queue.spider.name, await self._worker.frontier.workers.alive())
        await self._worker.frontier.state()
        await self._worker.budgets.state()
        await self._worker.tiers.refresh()
        await self._worker.generation.ask()
        self._damaged = await self._count_damaged()

    async def last(self) -> None:
        """Runs after the last lease: sign this worker off."""
        try:
            await self._tell_counts()
            await self._worker.tiers.refresh()
            await self._heartbeat()
            await self._tell_damaged()
            await self.run_stats.tell()
            await self.runs.last(self._worker.name)
            await self._worker.frontier.workers.leave(self._worker.name)
        except ServiceError as error:  # also where another release's data have taken the place of ours
            logger.warning("Could not sign off (%s): this worker's heartbeat will expire", error)

    async def run(self) -> None:
        """Run all duties concurrently."""
        worker, every = self._worker, self._intervals
        await asyncio.gather(
            self._every(every.seeds, self.seeds.read),
            self._every(worker.frontier.config.renew_seconds, self._renew),
            self._every(every.heartbeat, self._heartbeat),
            self._every(every.heartbeat, self._tell_counts),
            self._every(every.heartbeat, self.feeds.keep),
            self._every(every.stats, self.run_stats.tell),
            self._every(every.rules, worker.frontier.state),
            self._every(every.tiers, worker.tiers.refresh),
            self._every(every.tidy, worker.generation.ask),
            self._every(every.tidy, worker.budgets.state),
            self._every(every.room, self._look_for_room),
            self._every(every.shards, worker.frontier.seek),
            self._every(every.tidy, worker.frontier.generations.tidy),
            self._every(every.control, self._obey),
            self._every(every.control, worker.frontier.shares.turn),
            self._every(every.tidy, self._clear),
            self._every(every.idle, self._look_idle),
            self._every(every.idle, self.runs.look),
            self._every(every.idle, self.runs.drop_spent),
        )

    async def _every(self, seconds: float, duty: Callable[[], Awaitable[None]]) -> None:
        while True:
            await asyncio.sleep(seconds)
            try:
                await duty()
                if self._worker.outage.on:
                    await self._heartbeat()  # a write: a server that only serves reads is not back
            except FrontierUnavailableError as error:
                self._empty_since = None  # unknown counts as pending
                await self._worker.outage.wait(error)
            else:
                self._worker.outage.over()

    async def _renew(self) -> None:
        worker = self._worker
        is_there = worker.frontier.shards.has
        held = [one for one in worker.book.in_hand() if is_there(one.handle)]
        if handles := [*(one.handle for one in held), *filter(is_there, worker.outbox.ending())]:
            answers = await worker.frontier.renew(handles, suspended=bool(worker.pauses.reason))
            for one, ours in zip(held, answers, strict=False):  # endings that wait to be sent need no answer
                one.lost = one.lost or not ours
            worker.book.stop_overdue(worker.frontier.config.hard_cap_ms / 1000)
        if waiting := [*filter(is_there, worker.outbox.waiting)]:
            answers = await worker.frontier.renew(waiting, for_room=worker.outbox.refused)
            for handle, ours in zip(waiting, answers, strict=True):
                if not ours:
                    worker.outbox.abandon(handle)

    async def _look_for_room(self) -> None:
        if await self._worker.room.look(refused=self._worker.outbox.slows):
            self._worker.outbox.offer_again()
        if self._urgent() != self._shown:
            await self._heartbeat()  # so that `scrapy status` shows it now

    def _urgent(self) -> tuple[bool, ...]:
        worker = self._worker
        return bool(worker.outbox.waiting), bool(worker.pauses.reason), bool(worker.pauses.slowed), self._is_starting

    @property
    def _is_starting(self) -> bool:
        return self._crawler.engine is not None and scrapy_hooks.is_starting(self._crawler.engine)

    async def _heartbeat(self) -> None:
        worker = self._worker
        self._outbox_shown, self._shown = len(worker.outbox), self._urgent()
        generations = {one.lease.generation for one in worker.book.in_hand()}
        await worker.frontier.workers.heartbeat(
            worker.name,
            {
                "spider": worker.queue.spider.name,
                databases.FIELD: self._database,
                "tiers": ",".join(worker.queue.tier_routing.own),
                "leases": len(worker.book),
                "buffered": len(worker.queue),
                "outbox": self._outbox_shown,
                "starting": self._is_starting,
                "waiting": len(worker.outbox.waiting),
                **_largest_waiting(worker),
                "paused": worker.pauses.reason,
                "slowed": worker.pauses.slowed,
                **self._vitals.told(),
            },
            [stream_of(worker.queue.spider.name, tier) for tier in worker.queue.tier_routing.own],
            newest=max(filter(is_run_generation, generations), default="0"),
        )

    async def _tell_counts(self) -> None:
        """What hosts answered this worker and which fields its items have, for the figures of the fleet: kept while
        Redis is away."""
        tallies, frontier = tallies_of(self._crawler), self._worker.frontier
        spider = self._worker.queue.spider.name
        for tally, tell in (
            (tallies.answers, frontier.domains.add),
            (tallies.fields, partial(frontier.coverage.add, spider)),
        ):
            counts = tally.take()
            try:
                await tell(counts)
            except FrontierError:
                tally.give_back(counts)
                raise

    async def _count_damaged(self) -> int:
        return (await self._worker.frontier.inspection.stats(self._worker.queue.spider.name)).damaged

    async def _tell_damaged(self) -> None:
        """What was lost since this worker began: its crawl is not complete."""
        if (lost := await self._count_damaged() - self._damaged) > 0:
            self._crawler.stats.inc_value(names.DAMAGED, lost)
            text = "Since this worker began %s lost, as what Redis held of them was damaged: push them again. %s"
            were = f"{several(lost, 'request')} {'was' if lost == 1 else 'were'}"
            logger.error(text, were, "`scrapy status` names what was moved away")

    async def _obey(self) -> None:
        """What operators have said since: leases in hand that may not go out are given back."""
        book, outbox = self._worker.book, self._worker.outbox
        book.control = await self._worker.frontier.control.said()
        for held in self._worker.queue.buffer.withdraw(book.is_forbidden):
            outbox.give_back(held.handle)

    async def _clear(self) -> None:
        """What the operator's own command has left undone."""
        if await self._worker.frontier.runs.clear():
            self._worker.prefetcher.wake()

    async def _look_idle(self) -> None:
        """Ask about the whole frontier only when this worker has no work itself."""
        worker = self._worker
        assert self._crawler.engine is not None
        assert self._crawler.spider is not None
        busy = len(worker.book) or len(worker.queue) or len(worker.outbox)
        if not busy and self._outbox_shown:
            await self._heartbeat()  # other workers wait for what we no longer have
        if busy or not await worker.frontier.inspection.empty(self._crawler.spider.name) or await self.seeds.pending():
            self._empty_since = None
        else:
            self._empty_since = self._clock() if self._empty_since is None else self._empty_since
            # Otherwise it would check whether it may close only at its 5 s heartbeat.
            scrapy_hooks.wake(self._crawler.engine)


def _largest_waiting(worker: WorkerParts) -> dict[str, str | int]:
    url, size = worker.outbox.largest_waiting() or ("", 0)
    return {"largest_waiting": url, "largest_waiting_bytes": size}
