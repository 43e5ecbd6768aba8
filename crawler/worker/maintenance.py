"""A worker's periodic duties: read start URLs, renew leases, send heartbeats, clean up."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING

from scrapy import Request, Spider
from scrapy.crawler import Crawler
from scrapy.settings import BaseSettings
from scrapy_redis.spiders import RedisMixin

from crawler import config, scrapy_hooks
from crawler import stats as names
from crawler.errors import ShoalError
from crawler.frontier.errors import FrontierError, FrontierUnavailableError
from crawler.frontier.messages import Message
from crawler.frontier.state.seeds import Seed, Seeds
from crawler.frontier.streams import stream_of
from crawler.tallies import tallies_of
from crawler.worker.run_stats import RunStats, read_table
from crawler.worker.runs import WorkerRuns
from crawler.worker.vitals import Vitals

if TYPE_CHECKING:
    from crawler.worker.worker import Worker

SEEDS_AT_ONCE = 64

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class MaintenanceConfig:
    """How often, in seconds."""

    seeds: float
    renew: float
    tiers: float
    heartbeat: float = 5.0
    rules: float = 2.0
    tidy: float = 60.0
    idle: float = 1.0
    control: float = 1.0
    stats: float = 2.0  # a worker that is killed loses what it counted since the last time
    close: float = 20.0  # to send what is left to Redis
    room: float = 1.0

    @classmethod
    def from_settings(cls, settings: BaseSettings) -> MaintenanceConfig:
        """Renews at a quarter of the lease, so that three calls in a row may fail."""
        poll = config.number(settings, "FRONTIER_POLL_SECONDS", 0.01, 60)
        return cls(
            seeds=poll,
            idle=min(1.0, 2 * poll),
            close=config.number(settings, "FRONTIER_CLOSE_SECONDS", 1, 3_600),
            renew=config.number(settings, "FRONTIER_LEASE_SECONDS", 1, 86_400) / 4,
            tiers=config.number(settings, "TIER_REFRESH_SECONDS", 0.05, 300),
        )


class Maintenance:
    """Runs each duty at its interval; an unreachable Redis delays them all and breaks none."""

    def __init__(
        self, crawler: Crawler, worker: Worker, plan: MaintenanceConfig, clock: Callable[[], float] = monotonic
    ) -> None:
        self._crawler = crawler
        self._worker = worker
        self.plan = plan
        self._clock = clock
        self._vitals = Vitals(crawler.stats, clock)
        key = start_key(crawler.spider)
        self._seeds = Seeds.from_settings(worker.frontier.client, key, crawler.settings) if key else None
        self.runs = WorkerRuns(crawler, worker.frontier.runs, self._seeds, plan.idle)
        self.run_stats = RunStats(crawler.stats, worker.frontier.totals, worker.name, read_table(crawler.settings))
        self._empty_since: float | None = None
        self._full = ""
        self._shown: tuple[bool, ...] = ()  # of what others should know at once
        self._outbox_shown = 0  # in the last heartbeat
        self._reading = asyncio.Lock()
        self._forget = False

    def finished_for(self) -> float:
        """Seconds since this worker and the frontier ran out of work for this spider; 0 while there is work."""
        return 0.0 if self._empty_since is None else self._clock() - self._empty_since

    def forget(self) -> None:
        """Redis may have lost its generation: ask before the next start URL."""
        self._forget = True

    async def first(self) -> None:
        """Runs before the first lease."""
        await self._heartbeat()
        await self._worker.frontier.state()
        await self._worker.budgets.state()
        await self._worker.tiers.refresh()
        await self._know_generation()

    async def finish_reading(self) -> None:
        """Return once the start URLs in hand are stored; a closing worker takes no more."""
        async with self._reading:
            pass

    async def last(self) -> None:
        """Runs after the last lease: sign this worker off."""
        try:
            await self._tell_counts()
            await self._worker.tiers.refresh()
            await self._heartbeat()
            await self.run_stats.tell()
            await self.runs.last(self._worker.name)
            await self._worker.frontier.inspection.leave(self._worker.name)
        except FrontierError as error:
            logger.warning("Could not sign off (%s): this worker's heartbeat will expire", error)

    async def run(self) -> None:
        """Run all duties concurrently."""
        await asyncio.gather(
            self._every(self.plan.seeds, self._read_seeds),
            self._every(self.plan.renew, self._renew),
            self._every(self.plan.heartbeat, self._heartbeat),
            self._every(self.plan.heartbeat, self._tell_counts),
            self._every(self.plan.stats, self.run_stats.tell),
            self._every(self.plan.rules, self._worker.frontier.state),
            self._every(self.plan.tiers, self._worker.tiers.refresh),
            self._every(self.plan.tidy, self._know_generation),
            self._every(self.plan.tidy, self._worker.budgets.state),
            self._every(self.plan.room, self._look_for_room),
            self._every(self.plan.tidy, self._worker.frontier.generations.tidy),
            self._every(self.plan.control, self._obey),
            self._every(self.plan.control, self._worker.frontier.shares.turn),
            self._every(self.plan.tidy, self._clear),
            self._every(self.plan.idle, self._look_idle),
            self._every(self.plan.idle, self.runs.look),
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
        held = [*worker.book.all(), *worker.queue.buffer]
        if handles := [*(one.handle for one in held), *worker.outbox.ending()]:
            answers = await worker.frontier.renew(handles, suspended=bool(worker.pauses.reason))
            for one, ours in zip(held, answers, strict=False):  # endings that wait to be sent need no answer
                one.lost = one.lost or not ours
            worker.book.stop_overdue(worker.frontier.config.hard_cap_ms / 1000)
        if waiting := worker.outbox.waiting:
            answers = await worker.frontier.renew(waiting, for_room=worker.outbox.refused)
            for handle, ours in zip(waiting, answers, strict=True):
                if not ours:
                    worker.outbox.abandon(handle)

    async def _look_for_room(self) -> None:
        if await self._worker.room.look(refused=self._worker.outbox.refused):
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
        await worker.frontier.inspection.heartbeat(
            worker.name,
            {
                "spider": worker.queue.spider.name,
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

    async def _obey(self) -> None:
        """What operators have said since: leases in hand that may not go out are given back."""
        book, outbox = self._worker.book, self._worker.outbox
        book.said = await self._worker.frontier.control.said()
        for held in self._worker.queue.buffer.withdraw(book.is_forbidden):
            outbox.give_back(held.handle)

    async def _clear(self) -> None:
        """What the operator's own command has left undone."""
        if await self._worker.frontier.runs.clear():
            self._worker.prefetcher.wake()

    async def _know_generation(self) -> None:
        assert self._crawler.spider is not None
        self._forget = False
        self._worker.generation = await self._worker.frontier.generations.current(self._crawler.spider.name)

    async def _look_idle(self) -> None:
        """Ask about the whole frontier only when this worker has no work itself."""
        worker = self._worker
        assert self._crawler.engine is not None
        assert self._crawler.spider is not None
        busy = len(worker.book) or len(worker.queue) or len(worker.outbox)
        if not busy and self._outbox_shown:
            await self._heartbeat()  # other workers wait for what we no longer have
        if busy or not await worker.frontier.inspection.empty(self._crawler.spider.name) or await self._seeds_wait():
            self._empty_since = None
        else:
            self._empty_since = self._clock() if self._empty_since is None else self._empty_since
            scrapy_hooks.wake(
                self._crawler.engine
            )  # otherwise it would check whether it may close only at its 5 s heartbeat

    async def _seeds_wait(self) -> bool:
        return self._seeds is not None and bool(await self._seeds.pending())

    async def _read_seeds(self) -> None:
        """Move start URLs into the frontier while there are full batches."""
        async with self._reading:
            while await self._read_some_seeds() == SEEDS_AT_ONCE:
                pass

    async def _read_some_seeds(self) -> int:
        """Each leaves its key only once its requests are stored; returns how many did."""
        assert self._crawler.engine is not None
        if self._seeds is None:
            return 0
        if scrapy_hooks.is_closing(self._crawler.engine) or self._crawler.engine.paused:
            return 0
        if self._forget:
            await self._know_generation()
        self._say_full((await self._worker.frontier.pressure()).paused)
        if self._full or not (seeds := await self._seeds.lease(SEEDS_AT_ONCE)):
            return 0
        messages = [await self._messages(seed) for seed in seeds]
        outcomes = iter(await self._worker.frontier.push([one for asked in messages for one in asked]))
        stored: list[Seed] = []
        refused: list[Seed] = []
        for seed, asked in zip(seeds, messages, strict=True):
            full = max([next(outcomes).is_full for _ in asked], default=False)
            (refused if full else stored).append(seed)
        await self._seeds.ack(stored)
        await self._seeds.give_back(refused)
        self._crawler.stats.inc_value(names.SEEDS, len(stored))
        self._worker.prefetcher.wake()
        return len(stored)

    def _say_full(self, why: str) -> None:
        if why and not self._full:
            logger.warning("No start URLs are accepted until there is room: %s", why)
        if self._full and not why:
            logger.warning("Start URLs are accepted again")
        self._full = why

    async def _messages(self, seed: Seed) -> list[Message]:
        """The messages of *seed*; an invalid one becomes a dead letter and has none.

        Any exception of a spider's own `make_request_from_data` is about this entry and must not end the worker.
        """
        worker, spider = self._worker, self._crawler.spider
        assert isinstance(spider, RedisMixin)
        try:
            made = spider.make_request_from_data(seed.raw)
            requests = [made] if isinstance(made, Request) else list(made or ())
            encoder = worker.queue.encoder
            kept = [r for r in requests if not self._is_cut(r)]
            return [encoder.message(r, generation=worker.generation, dedupe=not r.dont_filter) for r in kept]
        except Exception as error:
            is_news = await worker.frontier.dead.bury_seed(
                seed.raw,
                spider=spider.name,
                reason="bad_seed",
                detail={"error": str(error)},
                generation=worker.generation,
            )
            if not is_news:
                logger.info("A start URL is a dead letter already: %s", error)
                return []
            self._crawler.stats.inc_value(names.SEEDS_BAD)
            unforeseen = None if isinstance(error, ShoalError) else error
            logger.error("A start URL became a dead letter: %s", error, exc_info=unforeseen)
            return []

    def _is_cut(self, request: Request) -> bool:
        worker = self._worker
        rule = worker.queue.encoder.scopes.of(worker.generation).pushed(request.url)
        if rule:
            worker.cuts.count(rule, request.url, worker.generation)
        return bool(rule)


def _largest_waiting(worker: Worker) -> dict[str, str | int]:
    url, size = worker.outbox.largest_waiting or ("", 0)
    return {"largest_waiting": url, "largest_waiting_bytes": size}


def start_key(spider: Spider | None) -> str:
    """The Redis key of *spider*'s start URLs; empty for a spider without one."""
    return str(spider.redis_key or "") if isinstance(spider, RedisMixin) else ""
