"""Takes a request through download, callback and end in one task.

Scrapy's engine and scraper start two and join them by six Deferreds and three generators: as much as what our
downloader middlewares do with a page. What is fetched beside the pages (robots.txt, media) goes a way as short.
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from typing import Any, Final

from scrapy import Request, signals
from scrapy.core.engine import ExecutionEngine
from scrapy.http import Response
from scrapy.logformatter import LogFormatter
from scrapy.utils.log import logformatter_adapter
from twisted.internet.defer import AlreadyCalledError
from twisted.python.failure import Failure

from crawler.counting.by_run import of_run
from crawler.engine.downloader import Downloader
from crawler.meta import RUN_ID
from crawler.utils import tasks

# Scrapy's own, by whose names projects silence and filter these lines
logger = logging.getLogger("scrapy.core.engine")
scraper_logger = logging.getLogger("scrapy.core.scraper")

# After these a request ends as usual; not where the process ends, or closes a coroutine that its loop has left behind.
_ENDED: Final = (Exception, asyncio.CancelledError)


class PageTasks:
    """What `ExecutionEngine._start_scheduled_request` and `download_async` do, for one engine."""

    def __init__(self, engine: ExecutionEngine, downloader: Downloader) -> None:
        self._engine = engine
        self._downloader = downloader
        self._running: set[asyncio.Task[None]] = set()
        self._may_skip_lines = type(engine.logformatter).crawled is LogFormatter.crawled  # another may count them

    def start(self) -> bool:
        """Start the scheduler's next request; False if it has none."""
        engine = self._engine
        assert engine._slot is not None
        request = engine._slot.scheduler.next_request()
        if request is None:
            engine.signals.send_catch_log(signals.scheduler_empty)
            return False
        engine._slot.add_request(request)
        self._downloader.expect(request)
        with of_run(request.meta.get(RUN_ID) or "", request):
            task = asyncio.create_task(self._page(request, engine._slot))
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        return True

    async def download(self, request: Request) -> Response:
        """As `ExecutionEngine.download_async`: with the middlewares, but no callback. A task of its own, so that what
        is noted of *request* is not taken for the caller's; it ends with the caller, whatever it is waiting for."""
        if self._engine.spider is None:
            raise RuntimeError(f"No open spider to crawl: {request}")
        task = asyncio.create_task(self._beside(request))
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            await tasks.end(task)
            raise

    async def _beside(self, request: Request) -> Response:
        engine = self._engine
        while True:
            assert engine._slot is not None
            engine._slot.add_request(request)
            self._downloader.expect(request)
            try:
                with of_run(request.meta.get(RUN_ID) or "", request):
                    result = _checked(await self._downloader.download(request))
                if isinstance(result, Response):
                    self._crawled(result, request)
            finally:
                assert engine._slot is not None
                engine._slot.nextcall.schedule()
                with suppress(AlreadyCalledError):  # all pages have ended: a pipeline asks as it closes
                    engine._slot.remove_request(request)
            if isinstance(result, Response):
                return result
            request = result

    async def _page(self, request: Request, slot: Any) -> None:
        try:
            result = await self._downloaded(request)
            slot.nextcall.schedule()
            if isinstance(result, Request):
                self._engine.crawl(result)
            else:
                await self._scraped(result, request)
        except _ENDED:
            logger.info("Error while handling downloader output", exc_info=True, extra={"spider": self._engine.spider})
        try:
            slot.remove_request(request)
        except Exception:
            text = "Error while removing request from slot"
            logger.info(text, exc_info=True, extra={"spider": self._engine.spider})
        slot.nextcall.schedule()

    async def _downloaded(self, request: Request) -> Response | Request | Failure:
        """As `ExecutionEngine._download`."""
        try:
            result = _checked(await self._downloader.download(request))
            if isinstance(result, Response):
                self._crawled(result, request)
        except _ENDED:
            return Failure()  # type: ignore[no-untyped-call]
        return result

    def _crawled(self, response: Response, request: Request) -> None:
        engine = self._engine
        if response.request is None:
            response.request = request
        assert engine.spider is not None
        if not self._may_skip_lines or logger.isEnabledFor(logging.DEBUG):
            text = engine.logformatter.crawled(response.request, response, engine.spider)
            if text is not None:
                logger.log(*logformatter_adapter(text), extra={"spider": engine.spider})
        engine.signals.send_catch_log(
            signal=signals.response_received, response=response, request=response.request, spider=engine.spider
        )

    async def _scraped(self, result: Response | Failure, request: Request) -> None:
        """As `Scraper.enqueue_scrape`."""
        scraper = self._engine.scraper
        assert scraper.slot is not None
        scraper.slot.add_response_request(result, request)
        scraper.slot.queue.pop()  # nothing waits there: it is scraped at once
        scraper.slot.active.add(request)
        try:
            await scraper._scrape(result, request)
        except _ENDED:
            extra = {"spider": self._engine.spider}
            scraper_logger.exception("Scraper bug processing %(request)s", {"request": request}, extra=extra)
        scraper.slot.finish_response(result, request)
        scraper._check_if_closing()


def _checked(result: object) -> Response | Request:
    if isinstance(result, (Response, Request)):
        return result
    raise TypeError(f"Incorrect type: expected Response or Request, got {type(result)}: {result!r}")


def install(engine: ExecutionEngine) -> None:
    """Use it for *engine*, unless a project's downloader has its own way of fetching."""
    downloader = engine.downloader
    if isinstance(downloader, Downloader) and type(downloader).fetch is Downloader.fetch:
        pages = PageTasks(engine, downloader)
        engine._start_scheduled_request = pages.start  # type: ignore[method-assign]
        engine.download_async = pages.download  # type: ignore[method-assign]
