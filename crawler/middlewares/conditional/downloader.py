"""Makes requests of a recrawl conditional: a 304 saves transfer, parsing and storing.

An unchanged page keeps its items, whose `last_seen_at` moves on, and its callback is not called, but the links that it
yielded last time are queued, so that a recrawl reaches the same pages as without this.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from datetime import datetime
from time import monotonic
from typing import Final, Self, TypeVar
from weakref import WeakKeyDictionary

from scrapy import Request, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.http import Response
from scrapy.settings import BaseSettings

from crawler import components, config, urls
from crawler import stats as names
from crawler.errors import ServiceError
from crawler.frontier.errors import FrontierError
from crawler.meta import CONDITIONAL, CONDITIONAL_WHOLE, RUN_ID
from crawler.middlewares.conditional import page_links
from crawler.storage import connection
from crawler.storage.page_versions import PageVersions, StoredVersion
from crawler.worker.leases.held import HeldLease
from crawler.worker.lookup import worker_of
from crawler.worker.scheduler import in_use

AWAY_SECONDS: Final = 30.0  # pause after a MongoDB error
REFUSED: Final = frozenset({400, 412})  # what servers and firewalls say that do not like a condition
CONDITIONS: Final = ("If-None-Match", "If-Modified-Since")

logger = logging.getLogger(__name__)
T = TypeVar("T")
U = TypeVar("U")


class ConditionalMiddleware:
    """Works on leased GET requests of the http tier, in a run that crawls known pages once more: `push --recrawl`, a
    schedule.

    Off without the frontier or the MongoDB pipeline; with feeds, which hold what was scraped; and with
    HTTPCACHE_ENABLED: Scrapy's cache does its own validation. While MongoDB is away pages are fetched whole, which is
    counted.
    """

    def __init__(self, crawler: Crawler, clock: Callable[[], float] = monotonic) -> None:
        self._crawler = crawler
        settings = crawler.settings
        self._client = connection.connect(settings)
        days, kept = config.integer(settings, "CONDITIONAL_DAYS"), config.integer(settings, "RUN_ITEMS_KEPT")
        self._versions = PageVersions(connection.database(self._client, settings), days, kept)
        self._clock = clock
        self._away_until = 0.0
        self._asked: WeakKeyDictionary[Request, StoredVersion] = WeakKeyDictionary()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Raises NotConfigured when there is nothing to do."""
        if not wanted(crawler.settings):
            raise NotConfigured
        middleware = cls(crawler)
        crawler.signals.connect(middleware._close, signals.spider_closed)
        return middleware

    async def process_request(self, request: Request) -> None:
        """Add the conditional headers, if the page has a stored version."""
        if request.meta.pop(CONDITIONAL, False):  # left by an earlier attempt, or by the page that redirected here
            _without_conditions(request)
        held = self._held(request)
        if held is None or not plainly(held) or request.meta.get(CONDITIONAL_WHOLE):
            return
        if request.method != "GET" or not await self._revisits(held.lease.generation):
            return
        if any(name in request.headers for name in CONDITIONS):
            return
        page = await self._find(request)
        if page is None:
            return
        for name, value in zip(CONDITIONS, (page.etag, page.modified), strict=True):
            if value:
                request.headers[name] = value.encode("latin-1")  # the bytes that came
        request.meta[CONDITIONAL] = True
        self._asked[request] = page
        self._count(names.CONDITIONAL_ASKED)

    async def process_response(self, request: Request, response: Response) -> Request | Response:
        """An unchanged page with its stored links; the request again, unconditional, where the 304 is unusable."""
        page = self._asked.pop(request, None)
        if page is not None and response.status in REFUSED:
            return self._again(request, f"status_{response.status}")
        if response.status != 304 or (held := self._held(request)) is None:
            return response
        if page is None:
            own = any(name in request.headers for name in CONDITIONS)
            return response if own or request.meta.get(CONDITIONAL_WHOLE) else self._again(request, "not_asked")
        if not await self._seen(page, held.fetched_at, request.meta.get(RUN_ID) or ""):
            return self._again(request, "not_stored")
        assert self._crawler.spider is not None
        try:
            links = page_links.read(page.links, self._crawler.spider)
        except ValueError:  # another program has written the record
            return self._again(request, "links_unreadable")
        request.callback = _yielding(links)
        request.meta["handle_httpstatus_list"] = [304]  # or Scrapy would keep it from the callback
        self._count(names.CONDITIONAL_UNCHANGED)
        self._count(names.ITEMS.format("unchanged"), len(page.items))
        return response

    async def store(self, page: StoredVersion) -> None:
        """Remember *page* for the next crawl."""
        if await self._served(lambda: self._versions.store(page), otherwise=False):
            self._count(names.CONDITIONAL_REMEMBERED)

    async def _revisits(self, generation: str) -> bool:
        try:
            return await worker_of(self._crawler).frontier.runs.revisits(generation)
        except FrontierError:
            return False  # whoever needs Redis says that it is away

    async def _find(self, request: Request) -> StoredVersion | None:
        page = page_id(self._crawler, request.url)
        return await self._served(lambda: self._versions.find(page), otherwise=None)

    async def _seen(self, page: StoredVersion, at: datetime, run: str) -> bool:
        return await self._served(lambda: self._versions.seen(page, at, run), otherwise=False)

    def _again(self, request: Request, why: str) -> Request:
        """*request* without conditions, under the same lease."""
        self._count(names.CONDITIONAL_REFETCHED.format(why))
        logger.info("The answer to the condition of %s is unusable (%s): fetching the whole page", request, why)
        whole = request.replace(dont_filter=True)
        _without_conditions(whole)
        whole.headers["Cache-Control"] = "no-cache"
        whole.meta.pop(CONDITIONAL, None)
        whole.meta[CONDITIONAL_WHOLE] = True
        return whole

    async def _served(self, call: Callable[[], Awaitable[T]], otherwise: U) -> T | U:
        """The result of *call*, or *otherwise* while MongoDB is away."""
        if self._clock() < self._away_until:
            self._count(names.CONDITIONAL_ERRORS)
            return otherwise
        try:
            return await call()
        except ServiceError as error:
            self._count(names.CONDITIONAL_ERRORS)
            if self._clock() >= self._away_until:
                logger.warning("No conditional requests for %.0f s: %s", AWAY_SECONDS, error)
            self._away_until = self._clock() + AWAY_SECONDS
            return otherwise

    def _held(self, request: Request) -> HeldLease | None:
        return worker_of(self._crawler).book.of(request)

    def _count(self, name: str, by: int = 1) -> None:
        self._crawler.stats.inc_value(name, by)

    async def _close(self) -> None:
        await self._versions.close()
        await self._client.close()


def wanted(settings: BaseSettings) -> bool:
    """Whether a crawl with *settings* makes conditional requests: not where feeds would lack what is unchanged."""
    stores = bool(components.storing(settings))
    whole = settings.getbool("HTTPCACHE_ENABLED") or config.mapping(settings, "FEEDS") or settings.get("FEED_URI")
    return config.boolean(settings, "CONDITIONAL_REQUESTS") and in_use(settings) and stores and not whole


def plainly(held: HeldLease) -> bool:
    """Whether the page is fetched by plain HTTP: in a browser the ETag is that of the shell, not of its content."""
    return ":" not in held.lease.stream  # "<spider>:<tier>" for the other tiers


def page_id(crawler: Crawler, url: str) -> str:
    """The key of the page at *url*: each spider has its own, as it yields different things."""
    return f"{getattr(crawler.spider, 'name', '')} {urls.canonicalize(url)}"


def _yielding(requests: list[Request]) -> Callable[..., list[Request]]:
    def callback(*_: Response, **_kwargs: object) -> list[Request]:
        return requests

    return callback


def _without_conditions(request: Request) -> None:
    for name in CONDITIONS:
        request.headers.pop(name, None)
