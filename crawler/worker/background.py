"""The background tasks of a worker."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any, Final

from scrapy.crawler import Crawler

from crawler import scrapy_hooks
from crawler.errors import ShoalError
from crawler.policy.endings.shortages import shortage
from crawler.utils import tasks

FAILED: Final = "frontier_error"  # finish reason of a worker that cannot go on

logger = logging.getLogger(__name__)


class BackgroundTasks:
    """One that fails would leave the worker alive and idle: it closes the worker instead. *give_up* is called if that
    cannot send anything any more."""

    def __init__(self, crawler: Crawler, give_up: Callable[[], None]) -> None:
        self._crawler = crawler
        self._give_up = give_up
        self._tasks: list[asyncio.Task[None]] = []
        self._told: set[str] = set()  # why it closes
        self._closing: asyncio.Future[None] | None = None

    def spawn(self, work: Coroutine[Any, Any, None], *, sends: bool = False) -> asyncio.Task[None]:
        """Run *work* until `end`; *sends*: without it nothing is sent."""
        task = asyncio.get_running_loop().create_task(work)
        task.add_done_callback(partial(self.ended, sends=sends))
        self._tasks.append(task)
        return task

    def ended(self, task: asyncio.Task[None], *, sends: bool = False) -> None:
        """*task*, of a part's own perhaps, has ended."""
        if task.cancelled() or (error := task.exception()) is None:
            return
        lacks = shortage(error)
        unforeseen = None if isinstance(error, ShoalError) or lacks else error
        if (why := str(lacks or error)) not in self._told:  # several tasks meet the same
            self._told.add(why)
            logger.critical("Closing this worker: %s", why, exc_info=unforeseen)
        if not lacks or sends:  # a machine that lacks a thread can still give its leases back
            self._give_up()
        engine = self._crawler.engine
        if not scrapy_hooks.is_closing(engine):
            self._closing = asyncio.ensure_future(engine.close_spider_async(reason=FAILED))

    async def end(self) -> None:
        """Cancel all that are left."""
        await tasks.end(*self._tasks)
