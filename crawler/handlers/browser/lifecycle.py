"""Keeps one browser running, and replaces it when it is old, hangs or has died.

One at a time: a replacement waits for the open pages, each bounded by its timeout, unless the browser hangs or uses far
too much memory.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Final

from playwright.async_api import Browser, Error
from scrapy.statscollectors import StatsCollector

from crawler import stats as names
from crawler.errors import BrowserError
from crawler.handlers.browser.chromium import BrowserConfig, Chromium
from crawler.handlers.browser.egress_proxy import EgressProxy
from crawler.utils import tasks

RUNAWAY: Final = 2  # times BROWSER_MEMORY_MB: then it is replaced without waiting for open pages
ENDED_AT_ONCE: Final = frozenset({"hung", "runaway", "flooded"})

logger = logging.getLogger(__name__)


class BrowserLifecycle:
    """*forget* is called when a browser is gone, before the next one starts."""

    def __init__(
        self,
        chromium: Chromium,
        settings: BrowserConfig,
        stats: StatsCollector,
        proxy: EgressProxy,
        forget: Callable[[], None],
    ) -> None:
        self.browser: Browser | None = None
        self._chromium = chromium
        self._settings = settings
        self._stats = stats
        self._proxy = proxy
        self._forget = forget
        self._seats = asyncio.Semaphore(settings.concurrency)
        self._renewal = asyncio.Lock()
        self._change = asyncio.Condition()
        self._open = self._served = 0
        self._retired = ""  # why the browser has to be replaced; empty if it need not
        self._checking: asyncio.Task[None] | None = None

    @asynccontextmanager
    async def seat(self) -> AsyncIterator[None]:
        """A slot for one page in a healthy browser; raises BrowserError if none starts."""
        async with self._seats:
            async with self._renewal:
                await self._fit()
                self._open += 1
                self._served += 1
            try:
                yield
            finally:
                self._open -= 1
                async with self._change:
                    self._change.notify_all()

    @property
    def is_flooded(self) -> bool:
        """Whether a page, which has failed by itself, has ended the browser with all others."""
        return self._retired == "flooded"

    def retire(self, reason: str) -> None:
        """Have the browser replaced before the next page."""
        self._retired = self._retired or reason
        if reason in ENDED_AT_ONCE:
            self._chromium.kill()

    async def close(self) -> None:
        """End the browser, for good."""
        if self._checking is not None:
            await tasks.end(self._checking)
        await self._end()

    async def _fit(self) -> None:
        if self._served >= self._settings.pages:
            self.retire("pages")
        if self._retired:
            async with self._change:
                await self._change.wait_for(lambda: not self._open)
            self._stats.inc_value(names.BROWSER_RESTARTS.format(self._retired))
            logger.info("Replacing the browser after %d pages: %s", self._served, self._retired)
            await self._end()
        if self.browser is None:
            await self._launch()

    async def _launch(self) -> None:
        if self._checking is None:
            await self._proxy.start()
            self._checking = asyncio.ensure_future(self._check_often())
        try:
            browser = await self._chromium.launch(self._proxy.url)
        except (Error, OSError) as error:
            await self._chromium.close()
            raise BrowserError(f"{self._settings.executable} does not start: {error}") from error
        self._retired, self._served, self.browser = "", 0, browser
        browser.on("disconnected", lambda *_: self._lost(browser))
        logger.info("Chromium %s started: %s", browser.version, self._settings.executable)

    def _lost(self, browser: Browser) -> None:
        if self.browser is browser:
            self.retire("died")

    async def _end(self) -> None:
        self.browser = None
        self._forget()
        await self._chromium.close()

    async def _check_often(self) -> None:
        while True:
            await asyncio.sleep(self._settings.check_seconds)
            if self.browser is not None and not self._retired:
                await self._look()

    async def _look(self) -> None:
        """Check that the browser answers, and how much memory it uses."""
        try:
            memory = await self._chromium.memory()
        except (TimeoutError, Error) as error:
            logger.warning("The browser does not answer and is killed: %s", error)
            self.retire("hung")
            return
        self._stats.set_value(names.BROWSER_MEMORY, memory)
        if memory > RUNAWAY * self._settings.memory_bytes:
            self.retire("runaway")
        elif memory > self._settings.memory_bytes:
            self.retire("memory")
