"""Hands the engine archived pages as its requests, and takes none of the new ones."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from datetime import datetime
from typing import Any, Final, Self
from weakref import WeakKeyDictionary

from scrapy import Request, Spider
from scrapy.core.scheduler import BaseScheduler
from scrapy.crawler import Crawler
from scrapy.http import Headers, Response
from scrapy.responsetypes import responsetypes
from scrapy.utils.defer import deferred_from_coro
from twisted.internet.defer import Deferred

from crawler.errors import CodecError
from crawler.frontier import codec, endings
from crawler.replay import counts
from crawler.spiders.base import FrontierSpider
from crawler.storage import connection
from crawler.storage.archive.config import ArchiveConfig
from crawler.storage.archive.index import Entry, Index
from crawler.storage.archive.reader import Reader, Selection
from crawler.storage.archive.records import Page
from crawler.storage.archive.store import Store

logger = logging.getLogger(__name__)

BUFFERED: Final = 128  # pages in memory ahead of the engine
FAILED: Final = "replay_error"  # reason for which the crawl closes when the archive cannot be read


class ReplayScheduler(BaseScheduler):
    """Reads REPLAY_SELECTION ahead of the engine; what callbacks ask for is counted and forgotten."""

    def __init__(self, crawler: Crawler, client: connection.Client, selection: Selection) -> None:
        self._crawler = crawler
        self._client = client
        index = Index(connection.database(client, crawler.settings))
        self._pages = Reader(index, Store(ArchiveConfig.from_settings(crawler.settings))).pages(selection)
        self._ready: deque[Request] = deque()
        self._answers: dict[Request, Response] = {}
        self._entries: WeakKeyDictionary[Response, Entry] = WeakKeyDictionary()
        self._room = asyncio.Event()
        self._reading = True
        self._task: asyncio.Task[None] | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Built by the engine."""
        return cls(crawler, connection.connect(crawler.settings), selection(crawler.settings["REPLAY_SELECTION"]))

    def open(self, spider: Spider) -> None:
        """Begin to read."""
        if isinstance(spider, FrontierSpider):
            spider.follows = False
        self._task = asyncio.create_task(self._fill(spider))

    def close(self, reason: str) -> Deferred[None]:
        """Stop reading."""
        return deferred_from_coro(self._close())

    def has_pending_requests(self) -> bool:
        """Whether pages are left."""
        return self._reading or bool(self._ready)

    def enqueue_request(self, request: Request) -> bool:
        """Discard it: a re-parse sends nothing."""
        self._count(counts.DISCARDED)
        return True

    def next_request(self) -> Request | None:
        """The request of the next page."""
        self._room.set()
        return self._ready.popleft() if self._ready else None

    def answer(self, request: Request) -> Response | None:
        """The archived page of *request*, once; None for a request that is not from here."""
        return self._answers.pop(request, None)

    def entry(self, response: Response) -> Entry | None:
        """What the index says about an archived page."""
        return self._entries.get(response)

    async def _close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        await self._client.close()

    async def _fill(self, spider: Spider) -> None:
        try:
            async for stored in self._pages:
                while len(self._ready) >= BUFFERED:
                    self._room.clear()
                    await self._room.wait()
                if stored.page is None:
                    self._count(counts.MISSING)
                    logger.warning("The archive file %s is gone: %s", stored.entry["file"], stored.entry["url"])
                    continue
                self._put(stored.entry, stored.page, spider)
        except Exception:  # the crawl would wait for pages for ever
            logger.exception("The archive cannot be read")
            assert self._crawler.engine is not None
            self._closing = asyncio.ensure_future(self._crawler.engine.close_spider_async(reason=FAILED))
        finally:
            self._reading = False
            self._wake()

    def _put(self, entry: Entry, page: Page, spider: Spider) -> None:
        request = self._request(page, spider)
        request.meta["request_id"] = page.request_id
        response = _response(page, request)
        self._answers[request] = response
        self._entries[response] = entry | {
            "at": page.fetched_at,
            "source": {name: getattr(page, name) for name in ("worker", "request_id", "tier", "generation")},
        }
        self._ready.append(request)
        self._wake()

    def _request(self, page: Page, spider: Spider) -> Request:
        if page.request:
            try:
                return codec.decode(page.request, spider)
            except CodecError as error:  # such as a callback that was renamed
                self._count(counts.DEFAULTED)
                logger.warning("%s goes to the default callback: %s", page.url, error)
        return Request(page.url)

    def _wake(self) -> None:
        if self._crawler.engine is not None:
            endings.wake(self._crawler.engine)

    def _count(self, name: str) -> None:
        assert self._crawler.stats is not None
        self._crawler.stats.inc_value(name)


def selection(values: dict[str, Any]) -> Selection:
    """What `scrapy reparse` wrote as JSON."""
    times = {name: datetime.fromisoformat(values[name]) for name in ("since", "until") if values.get(name)}
    return Selection(**(values | times))


def _response(page: Page, request: Request) -> Response:
    headers = Headers()
    for name, value in page.headers:
        headers.appendlist(name, value)
    kind = responsetypes.from_args(headers=headers, url=page.url, body=page.body)
    return kind(page.url, status=page.status, headers=headers, body=page.body, request=request)
