"""Feeds archived pages to the engine's scraper as if they were responses; takes no requests."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace
from datetime import datetime
from typing import Any, Final, Self
from weakref import WeakKeyDictionary

from scrapy import Request, Spider, signals
from scrapy.core.scheduler import BaseScheduler
from scrapy.crawler import Crawler
from scrapy.http import Headers, Response
from scrapy.responsetypes import responsetypes
from scrapy.utils.defer import deferred_from_coro
from twisted.internet.defer import Deferred
from twisted.python.failure import Failure

from crawler import scrapy_hooks
from crawler.errors import CodecError, ServiceError
from crawler.middlewares.downloader.charsets import corrected
from crawler.replay import counts
from crawler.routing import codec
from crawler.spiders.base import FrontierSpider
from crawler.storage import connection
from crawler.storage.archive.config import ArchiveConfig
from crawler.storage.archive.index import Entry, Index
from crawler.storage.archive.reader import Reader, Selection, Stored
from crawler.storage.archive.records import Page
from crawler.storage.archive.store import STORE_ERRORS, Store, in_words
from crawler.utils import tasks

logger = logging.getLogger(__name__)

FAILED: Final = "replay_error"  # finish reason when the archive cannot be read


class ReplayScheduler(BaseScheduler):
    """Reads REPLAY_SELECTION as fast as it is parsed; requests of callbacks are counted and discarded.

    Pages go straight to the scraper, not through the engine's requests and downloads.
    """

    def __init__(self, crawler: Crawler, client: connection.Client, selection: Selection) -> None:
        self._crawler = crawler
        self._client = client
        index = Index(connection.database(client, crawler.settings))
        self._pages = Reader(index, Store(ArchiveConfig.from_settings(crawler.settings))).pages(selection)
        self._entries: WeakKeyDictionary[Response, Entry] = WeakKeyDictionary()
        self._room = asyncio.Event()
        self._reading = True
        self._task: asyncio.Task[None] | None = None
        self._parsing: set[asyncio.Task[None]] = set()
        self._bytes = 0  # total size of the pages being parsed
        self._most_bytes = crawler.settings.getint("SCRAPER_SLOT_MAX_ACTIVE_SIZE")

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Built by the engine."""
        return cls(crawler, connection.connect(crawler.settings), selection(crawler.settings["REPLAY_SELECTION"]))

    def open(self, spider: Spider) -> None:
        """Start reading."""
        if isinstance(spider, FrontierSpider):
            spider.follows = False
        self._task = asyncio.create_task(self._fill(spider))

    def close(self, reason: str) -> Deferred[None]:
        """Stop reading."""
        return deferred_from_coro(self._close())

    def has_pending_requests(self) -> bool:
        """Whether pages are left or being parsed."""
        return self._reading or bool(self._parsing)

    def enqueue_request(self, request: Request) -> bool:
        """Discard *request*: a re-parse sends nothing."""
        self._count(counts.DISCARDED)
        return True

    def next_request(self) -> Request | None:
        """Always None; the engine's call only signals that it is ready for pages."""
        self._room.set()
        return None

    def entry(self, response: Response) -> Entry | None:
        """The index entry of an archived page."""
        return self._entries.get(response)

    async def _close(self) -> None:
        if self._task is not None:
            await tasks.end(self._task)
        await self._client.close()

    async def _fill(self, spider: Spider) -> None:
        try:
            await self._room.wait()
            async for stored in self._pages:
                while self._bytes > self._most_bytes or self._crawler.engine.needs_backout():
                    self._room.clear()
                    await self._room.wait()
                self._take(stored, spider)
        except Exception as error:
            known = isinstance(error, (ServiceError, *STORE_ERRORS))
            logger.error("The archive cannot be read: %s", in_words(error), exc_info=None if known else error)
            self._closing = asyncio.ensure_future(self._crawler.engine.close_spider_async(reason=FAILED))
        finally:
            self._reading = False
            self._wake()

    def _take(self, stored: Stored, spider: Spider) -> None:
        """Parse the page; one that cannot be parsed is logged and counted, and the others go on."""
        try:
            if stored.page is not None:
                self._put(stored.entry, stored.page, spider)
                return
        except Exception as error:  # noqa: BLE001 - said below
            stored = replace(stored, reason=f"{type(error).__name__}: {error!s:.200}")
        self._count(counts.DAMAGED if stored.reason else counts.MISSING)
        logger.error("An archived page was not parsed: %s", stored)

    def _put(self, entry: Entry, page: Page, spider: Spider) -> None:
        request = self._request(page, spider)
        request.meta["request_id"] = page.request_id
        response = _response(page, request)
        self._entries[response] = entry | {
            "at": page.fetched_at,
            "source": {name: getattr(page, name) for name in ("worker", "request_id", "tier", "generation")},
        }
        received = {"response": response, "request": request, "spider": spider}
        self._crawler.signals.send_catch_log(signals.response_received, **received)
        self._bytes += len(page.body)
        task = asyncio.create_task(self._parse(response, request))
        self._parsing.add(task)
        task.add_done_callback(self._parsed)

    async def _parse(self, response: Response, request: Request) -> None:
        """What Scrapy's scraper does with a page, without its queue, which only serves the engine."""
        scraper = self._crawler.engine.scraper
        try:
            output = await scraper.spidermw.scrape_response_async(scraper.call_spider_async, response, request)
        except Exception:  # noqa: BLE001 - a callback's; the next line logs and counts it
            scraper.handle_spider_error(Failure(), request, response)  # type: ignore[no-untyped-call]
        else:
            await scraper.handle_spider_output_async(output, request, response)
        finally:
            self._bytes -= len(response.body)

    def _parsed(self, task: asyncio.Task[None]) -> None:
        self._parsing.discard(task)
        self._room.set()
        if not self.has_pending_requests():
            self._wake()

    def _request(self, page: Page, spider: Spider) -> Request:
        if page.request:
            try:
                return codec.decode(page.request, spider)
            except CodecError as error:  # for example a renamed callback
                self._count(counts.DEFAULTED)
                logger.warning("%s goes to the default callback: %s", page.url, error)
        return Request(page.url)

    def _wake(self) -> None:
        scrapy_hooks.wake(self._crawler.engine)

    def _count(self, name: str) -> None:
        self._crawler.stats.inc_value(name)


def selection(values: dict[str, Any]) -> Selection:
    """The selection that `scrapy reparse` passed as JSON."""
    times = {name: datetime.fromisoformat(values[name]) for name in ("since", "until") if values.get(name)}
    return Selection(**(values | times))


def _response(page: Page, request: Request) -> Response:
    headers = Headers()
    for name, value in page.headers:
        headers.appendlist(name, value)
    kind = responsetypes.from_args(headers=headers, url=page.url, body=page.body)
    return corrected(kind(page.url, status=page.status, headers=headers, body=page.body, request=request))
