"""What extensions share that do something about events of runs, each once for the whole fleet."""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Callable
from typing import Any, Final

from scrapy import signals
from scrapy.crawler import Crawler

from crawler import run_signals
from crawler.frontier.errors import FrontierError, FrontierUnavailableError
from crawler.frontier.run_record import Run
from crawler.frontier.runs.run_events import RunEvent, RunEvents
from crawler.worker.lookup import worker_if_any
from crawler.worker.worker import Worker

POLL_SECONDS: Final = 2.0
CLOSE_SECONDS: Final = 11.0  # for what is under way when the spider closes, and for what is begun then
COMPLETE_SECONDS: Final = 3.0  # for the stats of workers that live, which tell them every 2 s
LOOK_SECONDS: Final = 0.2
AGAIN_MS: Final = 60_000  # after which another worker takes what one has begun in this process: it was killed

logger = logging.getLogger(__name__)


class RunListener:
    """Takes due events of *group*, one at a time; what `tell` does not finish is taken again later, by any worker."""

    def __init__(self, crawler: Crawler, group: str, wait_ms: Callable[[int], int]) -> None:
        self._crawler = crawler
        self._group = group
        self._wait_ms = wait_ms
        self._closing = asyncio.Event()
        self._closes_at = math.inf  # on the loop's clock: no event is begun after that
        self._refused = ""  # what Redis said when it last refused
        self._task: asyncio.Task[None] | None = None
        crawler.signals.connect(self.spider_opened, signal=signals.spider_opened)
        crawler.signals.connect(self.spider_closed, signal=signals.spider_closed)

    async def tell(self, event: RunEvent) -> bool:
        """Whether it is done."""
        raise NotImplementedError

    async def before(self, worker: Worker) -> None:
        """Called before each look."""

    def spider_opened(self) -> None:
        """Start, in a fleet crawl."""
        if worker_if_any(self._crawler) is not None:
            self._task = asyncio.create_task(self._run())

    async def spider_closed(self) -> None:
        """The last events: this worker may have ended the run by signing off. What fails now is left to others."""
        if self._task is not None:
            self._closing.set()
            self._closes_at = asyncio.get_running_loop().time() + CLOSE_SECONDS
            ended, _ = await asyncio.wait([self._task], timeout=CLOSE_SECONDS)
            if ended:
                await self._look()
            else:  # a receiver that does not answer
                self._task.cancel()
                await asyncio.gather(self._task, return_exceptions=True)

    async def _run(self) -> None:
        while not self._closing.is_set():
            await self._look()
            try:
                await asyncio.wait_for(self._closing.wait(), POLL_SECONDS)
            except TimeoutError:
                continue

    async def _look(self) -> None:
        worker = worker_if_any(self._crawler)
        if worker is None:
            return
        events = RunEvents(worker.frontier.shards, self._group)
        try:
            await self.before(worker)
            await events.open()
            for event in await events.due(worker.name, self._wait_ms):
                if asyncio.get_running_loop().time() > self._closes_at:
                    return
                if await self._is_told(event):
                    await events.done(event.id)
        except FrontierUnavailableError as error:  # the worker logs that Redis is away; nothing is lost
            logger.debug("Events of runs wait: %s", error)
        except FrontierError as error:
            if str(error) != self._refused:
                logger.error("Events of runs wait, and nobody is told of them: %s", error)
            self._refused = str(error)

    async def _is_told(self, event: RunEvent) -> bool:
        if event.event not in run_signals.NAMES:
            return False  # of a newer release, whose workers tell it
        try:
            return await self.tell(event)
        except FrontierError:
            raise
        except Exception:
            logger.exception("Event %s of run %s cannot be told and is left out", event.event, event.run.id)
            return True

    async def totals(self, run: Run) -> dict[str, Any]:
        """The stats of *run*, summed over its workers. For one that is over they are whole, but for what a worker that
        was killed had not told."""
        worker = worker_if_any(self._crawler)
        assert worker is not None
        totals, loop = worker.frontier.totals, asyncio.get_running_loop()
        patience = loop.time() + COMPLETE_SECONDS
        while run.is_over and loop.time() < patience and not await totals.complete(run):  # noqa: ASYNC110 - of Redis
            await asyncio.sleep(LOOK_SECONDS)
        return await totals.of(run.id)
