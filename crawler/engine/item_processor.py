"""Handles a callback's output as Scrapy does, without Scrapy's overhead per page and item.

For every page Scrapy starts CONCURRENT_ITEMS workers around a queue, for every item one task per receiver of a signal,
and for every pipeline it builds the name for a warning that is hardly ever logged.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from functools import partial
from typing import Any

from scrapy import Request
from scrapy.core.scraper import Scraper
from scrapy.http import Response, TextResponse
from scrapy.pipelines import ItemPipelineManager
from scrapy.utils.defer import ensure_awaitable
from scrapy.utils.python import global_object_name
from twisted.internet.defer import Deferred
from twisted.python.failure import Failure

from crawler.counting.by_run import of_run
from crawler.engine import closing, generator_callbacks, header_names, media_urls, page_task, safe_urls
from crawler.engine.interruptions import UNINTERRUPTED
from crawler.engine.quick_signals import QuickSignals, called
from crawler.engine.spider_chain import fold
from crawler.meta import RUN_ID
from crawler.scrapy_hooks import receivers_of

logger = logging.getLogger(__name__)


class ItemProcessor(ItemPipelineManager):
    """ITEM_PROCESSOR of the fleet: Scrapy's pipelines in Scrapy's order, each awaited directly.

    Only the item processor has a setting, so it installs the other replacements, in `open_spider_async`.
    """

    async def open_spider_async(self) -> None:
        """By now the scraper exists and has not started."""
        assert self.crawler is not None
        engine = self.crawler.engine
        scraper = engine.scraper
        scraper.handle_spider_output_async = partial(handle_output, scraper)  # type: ignore[method-assign]
        scraper._scrape = partial(_scrape, scraper, scraper._scrape)  # type: ignore[method-assign]
        scraper._start_itemproc_nowait_async = partial(  # type: ignore[method-assign]
            _process_start_item, scraper, scraper._start_itemproc_nowait_async
        )
        scraper.signals = Signals(scraper.signals.sender)
        engine.signals = engine.downloader.signals = QuickSignals(engine.signals.sender)
        page_task.install(engine)
        closing.install(engine)
        fold(scraper.spidermw)
        safe_urls.install()
        header_names.install()
        generator_callbacks.install()
        media_urls.install(self)
        await super().open_spider_async()

    async def close_spider_async(self) -> None:
        """As Scrapy's, but each pipeline is closed, whatever another one raises: a store may have work left."""
        methods = [method for method in self.methods["close_spider"] if method is not None]
        ended = await asyncio.gather(*map(self._closed, methods), return_exceptions=True)
        for method, error in zip(methods, ended, strict=True):
            if error is not None:
                logger.error("%s failed", global_object_name(method), exc_info=error, extra={"spider": self._spider})

    async def _closed(self, method: Callable[..., Any]) -> None:
        await self.get_awaitable(method)

    async def process_item_async(self, item: Any) -> Any:
        """As `ItemPipelineManager.process_item_async`."""
        for method in self.methods["process_item"]:
            assert method is not None
            needs_spider = self._mw_methods_requiring_spider and method in self._mw_methods_requiring_spider
            with UNINTERRUPTED:
                item = await _awaited(method(item, self._spider) if needs_spider else method(item), method)
        return item


class Signals(QuickSignals):
    """Calls receivers one after the other and awaits those that return awaitables, without a task for each."""

    async def send_catch_log_async(self, signal: Any, **named: Any) -> list[tuple[Any, Any]]:
        """As `SignalManager.send_catch_log_async`."""
        sender = named.setdefault("sender", self.sender)
        dont_log = named.pop("dont_log", ())
        named["signal"] = signal
        found: list[tuple[Any, Any]] = []
        for receiver in receivers_of(sender, signal):
            try:
                result = await _awaited(called(receiver, named), receiver)
            except Exception as error:
                result = error
                if not isinstance(error, dont_log):
                    logger.exception(
                        "Error caught on signal handler: %s", receiver, extra={"spider": named.get("spider")}
                    )
            found.append((receiver, result))
        return found


async def _scrape(scraper: Scraper, scrape: Callable[..., Any], result: Response | Failure, request: Request) -> None:
    """As `Scraper._scrape`: what callbacks, errbacks and pipelines count is part of the page's run. What Scrapy lets
    pass (what is no Exception, a line that cannot be logged) is an error of the spider: the page would count as
    done."""
    with of_run(request.meta.get(RUN_ID) or "", request):
        try:
            with UNINTERRUPTED:
                await scrape(result, request)
        except Exception:  # noqa: BLE001 - it is logged there
            scraper.handle_spider_error(Failure(), request, result)  # type: ignore[no-untyped-call]
        finally:
            if isinstance(result, TextResponse):  # a page and its selector refer to each other: the parsed page, ten
                result._cached_selector = None  # times its size, would wait for the garbage collector


async def _process_start_item(scraper: Scraper, process: Callable[[Any], Awaitable[None]], item: Any) -> None:
    """As `Scraper._start_itemproc_nowait_async`, and tell a spider that closes, for which no page may be left to do it:
    it would wait for ever."""
    try:
        await process(item)
    finally:
        slot = scraper.slot
        if slot is not None and slot.closing is not None and not slot.closing.called:
            scraper._check_if_closing()


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
    items = ItemTasks(scraper, response)
    while True:
        try:
            output = await anext(result)
        except StopAsyncIteration:
            break
        except Exception:  # noqa: BLE001 - the spider's
            scraper.handle_spider_error(Failure(), request, response)  # type: ignore[no-untyped-call]
        else:
            if isinstance(output, Request):
                scraper.crawler.engine.crawl(output)
            elif output is not None:
                await items.start(output)
    await items.end()


class ItemTasks:
    """The items of one page on their way through the pipelines."""

    __slots__ = ("_changed", "_lost", "_response", "_running", "_scraper")

    def __init__(self, scraper: Scraper, response: Response | Failure) -> None:
        self._scraper = scraper
        self._response = response
        self._running: set[asyncio.Task[None]] = set()
        self._lost: list[asyncio.Task[None]] = []
        self._changed: asyncio.Future[None] | None = None

    async def start(self, item: Any) -> None:
        """Process *item*, once fewer than CONCURRENT_ITEMS are in work."""
        while len(self._running) >= self._scraper.concurrent_items:
            await self._change()
        task = asyncio.create_task(self._scraper.start_itemproc_async(item, response=self._response))
        self._running.add(task)
        task.add_done_callback(self._ended)

    async def end(self) -> None:
        """Wait for all; raises what one of them raised: then the page is not done."""
        while self._running:
            await self._change()
        if self._lost:
            self._lost[0].result()

    async def _change(self) -> None:
        self._changed = asyncio.get_running_loop().create_future()
        await self._changed

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._running.discard(task)
        if task.cancelled() or task.exception() is not None:
            self._lost.append(task)
        if self._changed is not None and not self._changed.done():
            self._changed.set_result(None)


async def _awaited(answer: Any, source: Callable[..., Any]) -> Any:
    if inspect.iscoroutine(answer):
        return await answer
    if answer is None:
        return None
    if isinstance(answer, Deferred) or inspect.isawaitable(answer):
        return await ensure_awaitable(answer, _warn=global_object_name(source))
    return answer
