"""Spider middleware that archives each page before it can be acknowledged.

A request ends after its callback's output, and that output ends only when the page is synced to disk, also for pages
without items and for errors that reach the spider. Redirects, retried responses and what a downloader middleware
refuses never reach the spider and are not archived.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from functools import partial
from typing import Any, Self
from weakref import WeakKeyDictionary

from scrapy import Request, Spider, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import CloseSpider, NotConfigured
from scrapy.http import Response
from twisted.python.reflect import safe_str

from crawler import scrapy_hooks
from crawler import stats as names
from crawler.errors import CodecError
from crawler.middlewares.outputs import OutputMiddleware
from crawler.middlewares.spider.provenance import fetched_at
from crawler.policy.endings.failures import FailureClass
from crawler.routing import codec
from crawler.storage import connection
from crawler.storage.archive import files
from crawler.storage.archive.archive import Archive, UnarchivedError
from crawler.storage.archive.config import ArchiveConfig, Keep
from crawler.storage.archive.index import Index
from crawler.storage.archive.records import Page
from crawler.storage.archive.store import Store
from crawler.urls import without_credentials
from crawler.utils.masking import mask
from crawler.worker.leases.held import HeldLease
from crawler.worker.lookup import stop_leasing, worker_if_any


class ArchiveMiddleware(OutputMiddleware[Response]):
    """Applies ARCHIVE_PAGES; a failed parse (a callback that raises, a rejected item) and a blocked page or empty shell
    are always kept, and the dead letter names the record."""

    def __init__(self, crawler: Crawler, config: ArchiveConfig, client: connection.Client) -> None:
        self._crawler = crawler
        self._config = config
        self._client = client
        index = Index(connection.database(client, crawler.settings))
        pause, gives_up = partial(stop_leasing, crawler, "archive"), partial(scrapy_hooks.gives_up, crawler)
        self._archive = Archive(config, index, Store(config), crawler.stats, pause, gives_up)
        self._written: WeakKeyDictionary[Response, asyncio.Task[str]] = WeakKeyDictionary()
        self._failures: WeakKeyDictionary[Response, asyncio.Task[str]] = WeakKeyDictionary()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Only under `scrapy crawl`; raises ConfigError when the directory cannot be written to."""
        config = ArchiveConfig.from_settings(crawler.settings)
        if config.keep is Keep.NONE or not crawler.settings.getbool("FRONTIER_ENABLED"):
            raise NotConfigured
        files.prepare(config.directory)
        middleware = cls(crawler, config, connection.connect(crawler.settings))
        crawler.signals.connect(middleware._archive.open, signals.spider_opened)
        crawler.signals.connect(middleware._closed, signals.spider_closed)
        crawler.signals.connect(middleware._item_dropped, signals.item_dropped)
        return middleware

    def begin(self, response: Response) -> Response | None:
        """Start to write the page; None for one that nobody has to wait for."""
        if self._config.keep is not Keep.FAILED and response.status != 304:  # it is archived already
            self._written[response] = asyncio.create_task(self._archive.add(self._page(response)))
            return response
        return response if self._block(response) is not None else None

    async def end(self, page: Response) -> None:
        """Returns when the page is synced."""
        if (block := self._block(page)) is not None:
            await self._failed(page, f"blocked: {block}")
        if (written := self._written.get(page)) is not None:
            await self._synced(page, written)

    def _block(self, response: Response) -> str | None:
        """What blocks the page."""
        held = self._held(response)
        return held.evidence.block if held is not None and held.evidence.failure is FailureClass.BLOCKED else None

    def process_spider_exception(self, response: Response, exception: Exception) -> AsyncIterator[Any] | None:
        """Raise it again, once the page is synced."""
        return None if isinstance(exception, CloseSpider) else self._raise(response, exception)

    async def _raise(self, response: Response, exception: Exception) -> AsyncIterator[Any]:
        await self._failed(response, f"{type(exception).__name__}: {safe_str(exception)}")
        raise exception
        yield  # type: ignore[unreachable]  # makes this a generator, which is what Scrapy can wait for

    async def _item_dropped(self, response: Response | None, exception: Exception) -> None:
        # RejectedItem has reasons; other drops are no failures
        if isinstance(response, Response) and (reasons := getattr(exception, "reasons", None)):
            await self._failed(response, "; ".join(reasons))

    async def _failed(self, response: Response, reason: str) -> None:
        if response not in self._failures:
            self._failures[response] = asyncio.create_task(self._keep(response, mask(reason)))
        record_id = await self._synced(response, self._failures[response])
        if (held := self._held(response)) is not None:
            held.evidence.page = record_id

    async def _synced(self, response: Response, written: asyncio.Task[str]) -> str:
        """The record's id; without one, the page is given back: its worker has to end, and the disk takes nothing."""
        try:
            return await written
        except UnarchivedError:
            if (held := self._held(response)) is not None:
                held.evidence.unstored = True
            return ""

    async def _keep(self, response: Response, reason: str) -> str:
        written = self._written.get(response)
        if written is not None and (record_id := await written):
            self._archive.fail(record_id, reason)
            return record_id
        return await self._archive.add(self._page(response), reason)

    def _held(self, response: Response) -> HeldLease | None:
        worker = worker_if_any(self._crawler)
        return worker.book.behind(response) if worker is not None else None

    async def _closed(self) -> None:
        await self._archive.close()
        await self._client.close()

    def _page(self, response: Response) -> Page:
        assert self._crawler.spider is not None
        worker = worker_if_any(self._crawler)
        held = self._held(response)
        headers = response.headers.items()
        return Page(
            url=without_credentials(response.url),
            status=response.status,
            headers=[(name.decode("latin-1"), value.decode("latin-1")) for name, values in headers for value in values],
            body=response.body,
            fetched_at=fetched_at(held, response),
            ip=str(response.ip_address or ""),
            spider=self._crawler.spider.name,
            worker=worker.name if worker is not None else "",
            tier=str(response.meta.get("tier", self._crawler.settings["TIER"])),
            generation=held.lease.generation if held is not None else "",
            request_id=str(response.meta.get("request_id", "")),
            request=self._how(response.request, self._crawler.spider),
        )

    def _how(self, request: Request | None, spider: Spider) -> bytes:
        """What a re-parse needs to call the spider: callback, cb_kwargs and meta, without headers, cookies and body."""
        if request is None:
            return b""
        try:
            again = Request(request.url, request.callback, meta=request.meta, cb_kwargs=request.cb_kwargs)
            return codec.encode(again, spider)
        except CodecError:
            self._crawler.stats.inc_value(names.ARCHIVE_CUT)
            return b""
