"""Handles a callback's output as Scrapy does, without Scrapy's overhead per page and item.

For every page Scrapy starts CONCURRENT_ITEMS workers around a queue, for every item one task per receiver of a signal,
and for every pipeline it builds the name for a warning that is hardly ever logged.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import AsyncIterator, Callable, Iterable
from functools import partial
from typing import Any

from pydispatch.dispatcher import getAllReceivers, liveReceivers
from pydispatch.robustapply import robustApply
from scrapy import Request
from scrapy.core.scraper import Scraper
from scrapy.http import Response, TextResponse
from scrapy.pipelines import ItemPipelineManager
from scrapy.signalmanager import SignalManager
from scrapy.utils.defer import aiter_errback, ensure_awaitable
from scrapy.utils.python import global_object_name
from twisted.internet.defer import Deferred
from twisted.python.failure import Failure

from crawler.accounts import of_run
from crawler.engine import callbacks, safe_urls
from crawler.engine.interruptions import UNINTERRUPTED, InterruptedPageError
from crawler.engine.spider_chain import fold
from crawler.meta import RUN_ID

logger = logging.getLogger(__name__)


class ItemProcessor(ItemPipelineManager):
    """ITEM_PROCESSOR of the fleet: Scrapy's pipelines in Scrapy's order, each awaited directly.

    Only the item processor has a setting, so it installs the other replacements, in `open_spider_async`.
    """

    async def open_spider_async(self) -> None:
        """By now the scraper exists and has not started."""
        assert self.crawler is not None
        assert self.crawler.engine is not None
        scraper = self.crawler.engine.scraper
        scraper.handle_spider_output_async = partial(handle_output, scraper)  # type: ignore[method-assign]
        scraper._scrape = partial(_scrape, scraper, scraper._scrape)  # type: ignore[method-assign]
        scraper.signals = Signals(scraper.signals.sender)
        fold(scraper.spidermw)
        safe_urls.install()
        callbacks.install()
        await super().open_spider_async()

    async def process_item_async(self, item: Any) -> Any:
        """As `ItemPipelineManager.process_item_async`."""
        for method in self.methods["process_item"]:
            assert method is not None
            needs_spider = self._mw_methods_requiring_spider and method in self._mw_methods_requiring_spider
            with UNINTERRUPTED:
                item = await _awaited(method(item, self._spider) if needs_spider else method(item), method)
        return item


class Signals(SignalManager):
    """Calls receivers one after the other and awaits those that return awaitables, without a task for each."""

    async def send_catch_log_async(self, signal: Any, **named: Any) -> list[tuple[Any, Any]]:
        """As `SignalManager.send_catch_log_async`."""
        sender = named.pop("sender", self.sender)
        dont_log = named.pop("dont_log", ())
        found: list[tuple[Any, Any]] = []
        for receiver in liveReceivers(getAllReceivers(sender, signal)):
            try:
                answer = robustApply(receiver, signal=signal, sender=sender, **named)
                result = await _awaited(answer, receiver)
            except Exception as error:
                result = error
                if not isinstance(error, dont_log):
                    logger.exception(
                        "Error caught on signal handler: %s", receiver, extra={"spider": named.get("spider")}
                    )
            found.append((receiver, result))
        return found


async def _scrape(scraper: Scraper, scrape: Callable[..., Any], result: Response | Failure, request: Request) -> None:
    """As `Scraper._scrape`: what callbacks, errbacks and pipelines count is part of the page's run, and what they raise
    that is no Exception is an error of the spider."""
    with of_run(request.meta.get(RUN_ID) or "", request):
        try:
            with UNINTERRUPTED:
                await scrape(result, request)
        except InterruptedPageError:
            scraper.handle_spider_error(Failure(), request, result)  # type: ignore[no-untyped-call]
        finally:
            if isinstance(result, TextResponse):  # a page and its selector refer to each other: the parsed page, ten
                result._cached_selector = None  # times its size, would wait for the garbage collector


async def handle_output(
    scraper: Scraper,
    result: Iterable[Any] | AsyncIterator[Any],
    request: Request,
    response: Response | Failure,
) -> None:
    """As `Scraper.handle_spider_output_async`: requests are scheduled, up to CONCURRENT_ITEMS items are processed at a
    time."""
    if not isinstance(result, AsyncIterator):  # an errback's, which passes no middleware
        await Scraper.handle_spider_output_async(scraper, result, request, response)
        return
    items: set[asyncio.Task[None]] = set()
    lost: list[asyncio.Task[None]] = []
    room = asyncio.Semaphore(scraper.concurrent_items)
    all_ended: asyncio.Future[None] | None = None

    def ended(task: asyncio.Task[None]) -> None:
        items.discard(task)
        room.release()
        if task.cancelled() or task.exception() is not None:
            lost.append(task)
        if all_ended is not None and not items and not all_ended.done():
            all_ended.set_result(None)

    async for output in aiter_errback(result, scraper.handle_spider_error, request, response):
        if isinstance(output, Request):
            scraper.crawler.engine.crawl(output)
        elif output is not None:
            await room.acquire()
            task = asyncio.create_task(scraper.start_itemproc_async(output, response=response))
            items.add(task)
            task.add_done_callback(ended)
    if items:
        all_ended = asyncio.get_running_loop().create_future()
        await all_ended
    if lost:
        lost[0].result()  # it raises: the page is not done


async def _awaited(answer: Any, source: Callable[..., Any]) -> Any:
    if inspect.iscoroutine(answer):
        return await answer
    if isinstance(answer, Deferred) or inspect.isawaitable(answer):
        return await ensure_awaitable(answer, _warn=global_object_name(source))
    return answer
