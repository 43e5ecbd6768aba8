"""One worker's share of the frontier: joins a crawl, runs the background tasks of its parts, and signs off."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from functools import partial
from time import monotonic
from typing import Any, Self

from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.utils.misc import load_object
from scrapy_redis.spiders import RedisMixin

from crawler import config, scrapy_hooks
from crawler import stats as names
from crawler.errors import ServiceError, ShoalError
from crawler.frontier.config import FrontierConfig
from crawler.frontier.errors import FrontierError
from crawler.frontier.frontier import Frontier
from crawler.frontier.joining import join, project_of
from crawler.frontier.server import blocking, connection
from crawler.frontier.server.blocking import BlockingScripts
from crawler.frontier.server.scripts import Client
from crawler.frontier.server.server_check import address, explained
from crawler.policy.endings.shortages import shortage
from crawler.utils import tasks
from crawler.worker import feeds
from crawler.worker.lease_queue import FrontierQueue
from crawler.worker.outbox.offers import tell_lost
from crawler.worker.parts import WorkerParts
from crawler.worker.upkeep.closing import ClosingPages
from crawler.worker.upkeep.maintenance import Maintenance, MaintenanceConfig
from crawler.worker.upkeep.seed_reader import start_key
from crawler.worker.upkeep.watchdog import InHand, Watchdog

logger = logging.getLogger(__name__)

FAILED = "frontier_error"  # finish reason of a worker that cannot go on
CLOSE_POLL_SECONDS = 0.5
START_SECONDS = 20.0  # to wait for a Redis that goes while this worker starts
LEAVE_SECONDS = 1.0  # for everything once Redis is given up, and at least to sign off


class Worker(WorkerParts):
    """Everything between Scrapy's scheduler interface and the Frontier."""

    def __init__(self, crawler: Crawler, server: Client, frontier: Frontier, queue: FrontierQueue) -> None:
        super().__init__(crawler, frontier, queue, self._ended)
        self.has_left = False  # closed: it sends nothing any more
        self.maintenance = Maintenance(crawler, self, MaintenanceConfig.from_settings(crawler.settings))
        scripts = BlockingScripts(frontier.shards, partial(blocking.connect, crawler.settings))
        self.watchdog = Watchdog(
            frontier.config, scripts, queue.buffer, self._in_hand, self._stood_still, frontier.statement
        )
        self._listen()
        self.answers.held_up_since = self.watchdog.since
        self._crawler = crawler
        self._server = server
        self._tasks: list[asyncio.Task[None]] = []
        self._told: set[str] = set()  # why it closes
        self._leasing: asyncio.Task[None] | None = None
        self._sending: asyncio.Task[None] | None = None

    @classmethod
    async def open(cls, crawler: Crawler, server: Client, *, queue_cls: str, queue_key: str) -> Self:
        """Check the server, then start; raises ServiceError if Redis is unusable."""
        frontier = Frontier(server, FrontierConfig.from_settings(crawler.settings))
        await frontier.open()
        for advice in frontier.advice:
            logger.warning("Redis at %s: %s", address(server), advice)
        if getattr(crawler.spider, "crawler", None) is None:  # its from_crawler does not call Scrapy's
            crawler.spider.crawler, crawler.spider.settings = crawler, crawler.settings  # type: ignore[union-attr]
        queue = load_object(queue_cls)(server=server, spider=crawler.spider, key=queue_key)
        worker = cls(crawler, server, frontier, queue)
        try:
            await worker._begin()
        except FrontierError as error:
            raise ServiceError(explained(server, error)) from None
        assert crawler.engine is not None
        scrapy_hooks.on_request_end(crawler.engine, worker.tracker.ended)
        crawler.signals.connect(worker._start, signals.spider_opened)  # not before the pipelines are ready
        return worker

    async def _begin(self) -> None:
        """The server was there a moment ago: one that goes now is waited for, but not for ever."""
        await self.outage.insist(self.maintenance.first, START_SECONDS)
        try:
            await self.outage.insist(self._join, START_SECONDS)
        except ShoalError:
            await self.maintenance.last()
            raise

    async def _join(self) -> None:
        """Join the spider's crawl; raises ConfigError if that has other arguments, or is another project's."""
        spider = self._crawler.spider
        assert spider is not None
        if isinstance(spider, RedisMixin) and spider.server is not None:
            # scrapy-redis would pop start URLs without a lease
            self._crawler.signals.disconnect(spider.spider_idle, signals.spider_idle)
        key = start_key(spider)
        joined = await join(
            self.frontier.shards,
            self.frontier.inspection,
            spider=spider.name,
            worker=self.name,
            endless=bool(key),
            arguments=config.mapping(self._crawler.settings, "FRONTIER_ARGUMENTS"),
            project=project_of(self._crawler.settings),
            only_after=config.mapping(self._crawler.settings, "WORKER_PROCESS").get("after"),
        )
        self.generation.joined(joined.generation)
        await feeds.claim(self.frontier.shards, self._crawler.settings, spider.name, self.name)
        if run := await self.maintenance.runs.begin(joined.generation):
            self.book.plain_runs[joined.generation] = run.id
            words = "begins" if joined.opened else "is under way: this worker joins it"
            logger.info("Crawl %s of %s %s, run %s", joined.generation, spider.name, words, run.id)

    def _listen(self) -> None:
        for forget in (
            *(self.dupefilter.clear, self.tiers.forget, self.generation.forget, self.frontier.state_anew),
            *(self.queue.encoder.scopes.forget, self.plain_runs.forget, self.frontier.runs.forget),
        ):
            self.losses.listen(forget)
        self.losses.listen_to_losses(self.outbox.lose)
        self.frontier.on_other_data = self.frontier.gauge.on_eviction = self.losses.lose
        connection.listen(self.frontier.client, on_drop=self.losses.forget, on_other_server=self._other_server)

    def _other_server(self) -> None:
        self.losses.lose()
        if self.frontier.on_sentinels:
            self.rest.begin()

    def _start(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._spawn(self.watchdog.run())
        self._sending = self._spawn(self.outbox.run())
        self._leasing = self._spawn(self._lease())
        self._spawn(self.maintenance.run())
        self._spawn(self._bound_close())
        self._spawn(ClosingPages(self.book, self._is_closing).run())

    async def _lease(self) -> None:
        """Until the engine closes; then what is not on the wire goes back."""
        await self.prefetcher.run()
        self.pacer.unsent.end()

    async def close(self) -> None:
        """Give back what was not started or waits for room, send everything, sign off. Deletes nothing.

        Takes at most FRONTIER_CLOSE_SECONDS, whatever Redis does; after that leases are left to expire.
        """
        self.has_left = True
        seconds = LEAVE_SECONDS if self.outbox.broken else self.config.close_seconds
        until = asyncio.get_running_loop().time() + seconds
        try:
            async with asyncio.timeout_at(until):
                await self._give_back()
        except TimeoutError:
            self._let_expire()
        assert self._crawler.stats is not None
        tell_lost(self.outbox.offers, self._crawler.stats)
        await self.addresses.close()
        await tasks.end(*self._tasks)
        await self._sign_off(until)
        await self._server.aclose()

    async def _sign_off(self, until: float) -> None:
        """In what is left of the time to close: it takes a dozen calls, and Redis may be far away."""
        least = asyncio.get_running_loop().time() + LEAVE_SECONDS
        try:
            async with asyncio.timeout_at(least if self.outbox.broken or self.outage.on else max(least, until)):
                await self.maintenance.last()
        except TimeoutError:
            logger.warning("Could not sign off in time: this worker's heartbeat will expire")

    async def _bound_close(self) -> None:
        """Pages wait for Redis before they reach a callback; while closing, only for a limited time."""
        seconds = self.config.close_seconds
        closing = monotonic()
        while not (self._is_closing() and self.outbox.stuck_for(closing) > seconds):
            closing = closing if self._is_closing() else monotonic()
            await asyncio.sleep(CLOSE_POLL_SECONDS)
        self._let_expire()

    def _is_closing(self) -> bool:
        assert self._crawler.engine is not None
        return scrapy_hooks.is_closing(self._crawler.engine)

    def _let_expire(self) -> None:
        """Redis accepts nothing: stop sending, and log that once."""
        if self.outbox.broken:
            return
        words = "Redis did not accept all of this worker's last reports within %g s: its leases will expire"
        logger.error(words, self.config.close_seconds)
        self.outbox.give_up()

    async def _give_back(self) -> None:
        if self._leasing is not None:  # it ends by itself now; a cancelled call would leave leases that no worker knows
            self.prefetcher.wake()
            await asyncio.wait([self._leasing])
        await self.maintenance.seeds.finish()
        self.prefetcher.give_back()
        for held in self.book.all():
            words = "Lease %s of %s is still held at the end and will expire"
            logger.error(words, held.handle[0], held.lease.host)
        if not self.outbox.broken:
            await self.outbox.close()  # before its task is cancelled, so that no batch is interrupted

    def _in_hand(self) -> InHand:
        return InHand(self.book.all(), self.outbox.ending(), suspended=bool(self.pauses.reason))

    def _stood_still(self) -> None:
        self._loop.call_soon_threadsafe(self._crawler.stats.inc_value, names.STANDSTILLS)

    def _spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(work)
        task.add_done_callback(self._ended)
        self._tasks.append(task)
        return task

    def _ended(self, task: asyncio.Task[None]) -> None:
        """A background task that fails would leave the worker alive and idle: close it instead."""
        if task.cancelled() or (error := task.exception()) is None:
            return
        lacks = shortage(error)
        unforeseen = None if isinstance(error, ShoalError) or lacks else error
        if (why := str(lacks or error)) not in self._told:  # several tasks meet the same
            self._told.add(why)
            logger.critical("Closing this worker: %s", why, exc_info=unforeseen)
        if not lacks or task is self._sending:  # a machine that lacks a thread can still give its leases back
            self.outbox.give_up()
        engine = self._crawler.engine
        if engine is not None and not scrapy_hooks.is_closing(engine):
            self._closing = asyncio.ensure_future(engine.close_spider_async(reason=FAILED))
