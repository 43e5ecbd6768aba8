"""Measures the downloader middlewares of a running worker, from inside."""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Final, Self

from scrapy import Request, signals
from scrapy.core.downloader.middleware import DownloaderMiddlewareManager
from scrapy.crawler import Crawler
from scrapy.http import HtmlResponse, Response
from scrapy.middleware import MiddlewareManager

from benchmarks.handlers import EMPTY, PLAN, WHOLE
from crawler.engine.middleware_chain import MiddlewareChain

PAGES: Final = 400


class ChainExtension:
    """Measures once the worker is up, writes the figures where the plan says, and ends the worker."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        crawler.signals.connect(self._started, signals.engine_started)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    async def _started(self) -> None:
        self._task = asyncio.ensure_future(self._measure())

    async def _measure(self) -> None:
        engine, (url, rounds, result) = self._crawler.engine, json.loads(os.environ[PLAN])
        assert engine is not None
        real = await engine.download_async(Request(url))  # robots.txt is known from now on
        assert isinstance(real, HtmlResponse)
        page = _Page(real)
        managers = self._managers(engine.downloader.middleware)
        found: dict[str, list[float]] = {name: [] for name in managers}
        for _ in range(rounds):
            for name, manager in managers.items():
                found[name].append(await page.cost(manager))
        await asyncio.to_thread(Path(result).write_text, json.dumps(found))
        await engine.close_spider_async(reason="measured")

    def _managers(self, whole: DownloaderMiddlewareManager) -> Mapping[str, DownloaderMiddlewareManager]:
        """The worker's own, one without any, and one for each middleware."""

        def manager(*middlewares: object) -> DownloaderMiddlewareManager:
            return type(whole)(*middlewares, crawler=self._crawler)

        assert isinstance(whole, MiddlewareManager)
        alone = {type(one).__name__: manager(one) for one in whole.middlewares}
        return {EMPTY: manager(), WHOLE: whole, **alone}


class _Page:
    """A page that comes at once."""

    def __init__(self, real: Response) -> None:
        self._real = real

    async def cost(self, manager: DownloaderMiddlewareManager) -> float:
        """CPU microseconds of one passage through *manager*, the request and the response being made included."""
        chain = MiddlewareChain(manager)
        begun = time.process_time()
        for _ in range(PAGES):
            await chain.download(self._answer, Request(self._real.url))
        return (time.process_time() - begun) / PAGES * 1e6

    async def _answer(self, request: Request) -> Response:
        real = self._real
        return HtmlResponse(real.url, real.status, real.headers.copy(), real.body, request=request)
