"""The life of a worker: it joins a crawl, runs its background tasks, and signs off."""

from __future__ import annotations

import asyncio
import logging
from time import monotonic
from typing import Self

from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.utils.misc import load_object
from scrapy_redis.spiders import RedisMixin

from crawler import config, scrapy_hooks
from crawler.errors import ServiceError, ShoalError
from crawler.frontier.config import FrontierConfig
from crawler.frontier.errors import FrontierError
from crawler.frontier.frontier import Frontier
from crawler.frontier.joining import join, project_of
from crawler.frontier.server.scripts import Client
from crawler.frontier.server.server_check import address, explained
from crawler.worker import feeds
from crawler.worker.maintenance import Maintenance, MaintenanceConfig
from crawler.worker.outbox.offers import tell_lost
from crawler.worker.upkeep.closing import ClosingPages
from crawler.worker.upkeep.seed_reader import start_key
from crawler.worker.worker import Worker

logger = logging.getLogger(__name__)

CLOSE_POLL_SECONDS = 0.5
START_SECONDS = 20.0  # to wait for a Redis that goes while this worker starts
LEAVE_SECONDS = 1.0  # for everything once Redis is given up, and at least to sign off


class Lifecycle:
    """Opens, runs and ends *worker*."""

    def __init__(self, crawler: Crawler, server: Client, worker: Worker) -> None:
        self.worker = worker
        self._crawler = crawler
        self._server = server
        self._maintenance = Maintenance(worker, MaintenanceConfig.from_settings(crawler.settings))
        self._leasing: asyncio.Task[None] | None = None

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
        life = cls(crawler, server, Worker(crawler, frontier, queue))
        try:
            await life._begin()
        except FrontierError as error:
            raise ServiceError(explained(server, error)) from None
        scrapy_hooks.on_request_end(crawler.engine, life.worker.tracker.ended)
        crawler.signals.connect(life._start, signals.spider_opened)  # not before the pipelines are ready
        return life

    async def _begin(self) -> None:
        """The server was there a moment ago: one that goes now is waited for, but not for ever."""
        outage = self.worker.outage
        await outage.insist(self._maintenance.first, START_SECONDS)
        try:
            await outage.insist(self._join, START_SECONDS)
        except ShoalError:
            await self._maintenance.last()
            raise

    async def _join(self) -> None:
        """Join the spider's crawl; raises ConfigError if that has other arguments, or is another project's."""
        worker, spider, settings = self.worker, self._crawler.spider, self._crawler.settings
        assert spider is not None
        if isinstance(spider, RedisMixin) and spider.server is not None:
            # scrapy-redis would pop start URLs without a lease
            self._crawler.signals.disconnect(spider.spider_idle, signals.spider_idle)
        key = start_key(spider)
        joined = await join(
            worker.frontier.shards,
            worker.frontier.inspection,
            spider=spider.name,
            worker=worker.name,
            endless=bool(key),
            arguments=config.mapping(settings, "FRONTIER_ARGUMENTS"),
            project=project_of(settings),
            only_after=config.mapping(settings, "WORKER_PROCESS").get("after"),
        )
        worker.generation.joined(joined.generation)
        await feeds.claim(worker.frontier.shards, settings, spider.name, worker.name)
        if run := await worker.runs.begin(joined):
            worker.plain_runs.joined(joined.generation, run.id)
        if run or not key:
            words = "begins" if joined.opened else "is under way: this worker joins it"
            in_run = f", run {run.id}" if run else ""
            logger.info("Crawl %s of %s %s%s", joined.generation, spider.name, words, in_run)

    def _start(self) -> None:
        worker, spawn = self.worker, self.worker.tasks.spawn
        spawn(worker.watchdog.run())
        spawn(worker.outbox.run(), sends=True)
        self._leasing = spawn(self._lease())
        self._maintenance.begin()
        spawn(self._bound_close())
        closing = asyncio.create_task(ClosingPages(worker.book, self._is_closing).run())  # outlives the worker's own
        # pydispatch takes no builtin method
        self._crawler.signals.connect(lambda: closing.cancel(), signals.engine_stopped, weak=False)  # noqa: PLW0108

    async def _lease(self) -> None:
        """Until the engine closes; then what is not on the wire goes back."""
        await self.worker.prefetcher.run()
        self.worker.pacer.unsent.end()

    async def close(self) -> None:
        """Give back what was not started or waits for room, send everything, sign off. Deletes nothing.

        Takes at most FRONTIER_CLOSE_SECONDS, whatever Redis does; after that leases are left to expire.
        """
        worker = self.worker
        worker.has_left = True
        seconds = LEAVE_SECONDS if worker.outbox.broken else worker.close_seconds
        until = asyncio.get_running_loop().time() + seconds
        try:
            async with asyncio.timeout_at(until):
                await self._give_back()
        except TimeoutError:
            self._let_expire()
        tell_lost(worker.outbox.new.offers.left, self._crawler.stats)
        await worker.addresses.close()
        await worker.tasks.end()
        await self._sign_off(until)
        await self._server.aclose()

    async def _sign_off(self, until: float) -> None:
        """In what is left of the time to close: it takes a dozen calls, and Redis may be far away."""
        least = asyncio.get_running_loop().time() + LEAVE_SECONDS
        is_away = self.worker.outbox.broken or self.worker.outage.on
        try:
            async with asyncio.timeout_at(least if is_away else max(least, until)):
                await self._maintenance.last()
        except TimeoutError:
            logger.warning("Could not sign off in time: this worker's heartbeat will expire")

    async def _bound_close(self) -> None:
        """Pages wait for Redis before they reach a callback; while closing, only for a limited time."""
        outbox, seconds = self.worker.outbox, self.worker.close_seconds
        closing = monotonic()
        while not (self._is_closing() and outbox.stuck_for(closing) > seconds):
            closing = closing if self._is_closing() else monotonic()
            await asyncio.sleep(CLOSE_POLL_SECONDS)
        self._let_expire()

    def _is_closing(self) -> bool:
        return scrapy_hooks.is_closing(self._crawler.engine)

    def _let_expire(self) -> None:
        """Redis accepts nothing: stop sending, and log that once."""
        if self.worker.outbox.broken:
            return
        words = "Redis did not accept all of this worker's last reports within %g s: its leases will expire"
        logger.error(words, self.worker.close_seconds)
        self.worker.outbox.give_up()

    async def _give_back(self) -> None:
        worker = self.worker
        if self._leasing is not None:  # it ends by itself now; a cancelled call would leave leases that no worker knows
            worker.prefetcher.wake()
            await asyncio.wait([self._leasing])
        await worker.seeds.finish()
        worker.prefetcher.give_back()
        for held in worker.book.all():
            words = "Lease %s of %s is still held at the end and will expire"
            logger.error(words, held.handle[0], held.lease.host)
        if not worker.outbox.broken:
            await worker.outbox.close()  # before its task is cancelled, so that no batch is interrupted
