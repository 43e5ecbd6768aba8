"""The download handler of the browser tier: scrapy-playwright with one real Chromium, replaced when it is old, hangs or
dies.

Requests reach it by their tier (engine/downloader.py). Only a page's document is paced; what else the page loads from
its host is limited by blocking resource types. docs/browser.md has the details.
"""

from __future__ import annotations

import asyncio
import logging
from time import monotonic
from typing import Any, cast
from urllib.parse import urlsplit

from playwright._impl._errors import TargetClosedError
from playwright.async_api import Browser, BrowserContext, Error, Page
from playwright.async_api import TimeoutError as PlaywrightTimeoutError
from scrapy import Request, Spider
from scrapy.crawler import Crawler
from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadCancelledError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
    NotSupported,
)
from scrapy.http import Response
from scrapy.settings import BaseSettings, Settings
from scrapy_playwright.handler import BrowserContextWrapper, Config, ScrapyPlaywrightDownloadHandler

from crawler import config
from crawler import stats as names
from crawler.errors import AddressRefusedError, BrowserError, PageTimeoutError, TabLostError
from crawler.handlers.browser import cookies
from crawler.handlers.browser.chromium import BrowserConfig, Chromium
from crawler.handlers.browser.contexts import ContextKey, Contexts, OpenContext
from crawler.handlers.browser.egress_proxy import EgressProxy, TunnelLimits
from crawler.handlers.browser.lifecycle import BrowserLifecycle
from crawler.handlers.browser.page_limits import PageLimits
from crawler.handlers.browser.page_load import LOGIN_ERROR, PageLoad, headers_of, wait_until_idle
from crawler.handlers.forwarding import ContextCredentials
from crawler.handlers.resolver import Resolver
from crawler.handlers.wire_turn import WireTurn

OPEN_SECONDS = 30.0  # for a tab to open; a browser that takes longer is hung
CLOSE_SECONDS = 5.0  # for a tab or context; a browser that takes longer is hung
IDLE_SECONDS = 60.0  # of a tunnel
INIT_CALLBACK = "playwright_page_init_callback"  # in meta

logger = logging.getLogger(__name__)


class BrowserDownloadHandler(ScrapyPlaywrightDownloadHandler):  # type: ignore[misc]
    """Fetches every request given to it with Chromium; `meta["playwright"]` need not be set, nor PLAYWRIGHT_ settings.

    Raises BrowserError if the browser failed and not the host, DownloadTimeoutError after `download_timeout`, of which
    PageTimeoutError is the page's fault and not the host's,
    MissedError, AddressRefusedError, CannotResolveHostError, ProxyError, DownloadCancelledError (DOWNLOAD_MAXSIZE).
    """

    lazy = True
    guards_addresses = True

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._browser = BrowserConfig.from_settings(crawler.settings)
        most_bytes = crawler.settings.getint("DOWNLOAD_MAXSIZE")
        self._page_limits = PageLimits(self._browser.blocked, self._browser.page_requests, most_bytes)
        self._resolver = Resolver.of(crawler)
        resolves_proxied = config.boolean(crawler.settings, "GUARD_RESOLVE_PROXIED")
        self._limits = TunnelLimits(self._browser.connection_bytes, IDLE_SECONDS, resolves_proxied)
        self._proxy = EgressProxy(self._resolver, self._limits, crawler.stats)
        self._verifies = config.boolean(crawler.settings, "DOWNLOAD_VERIFY_CERTIFICATES")
        self._contexts = Contexts(self._browser.context_pages, self._browser.context_seconds, self._admit, monotonic)
        self._loads: dict[Request, tuple[PageLoad, OpenContext]] = {}
        self._lifecycle = BrowserLifecycle(
            Chromium(self._browser.executable), self._browser, crawler.stats, self._proxy, self._forget
        )
        self._take_no_settings_of_scrapy_playwright(crawler.settings)

    def _take_no_settings_of_scrapy_playwright(self, given: BaseSettings) -> None:
        """With PLAYWRIGHT_MAX_CONTEXTS, say, a page waited for a context that no other one ever closed."""
        if names_given := sorted(name for name in given if name.startswith("PLAYWRIGHT_")):
            logger.warning(
                "The browser tier does not read %s: it has BROWSER_ settings of its own (docs/browser.md)",
                ", ".join(names_given),
            )
        self.config = Config.from_settings(Settings())
        self.config.target_closed_max_retries = 0  # a retry takes its own turn
        self.config.max_pages_per_context = self._browser.concurrency
        self.__dict__.pop("context_semaphore", None)

    async def download_request(self, request: Request) -> Response:
        """The rendered page of *request*; the raw bytes if the document is not HTML."""
        wire_turn = WireTurn.of(request)
        _refuse_code_by_name(request)
        await self._judge(request)
        async with self._lifecycle.seat():
            attempt = request.copy()  # scrapy-playwright writes into headers and meta
            lent = self._contexts.lend(ContextKey.of(attempt))
            load = PageLoad(attempt, wire_turn, lent.admitted.written, self._page_limits, self.stats, self._flooded)
            response = await self._attempt(load, lent)
        request.meta["download_latency"] = attempt.meta.get("download_latency", 0.0)
        response.request = request
        return response

    async def _judge(self, request: Request) -> None:
        """Check the page's own address before a tab is opened."""
        host = urlsplit(request.url).hostname or ""
        try:
            if request.meta.get("proxy"):
                await self._resolver.check(host, resolving=self._limits.resolves_proxied)
            else:
                await self._resolver.resolve(host)
        except AddressRefusedError:
            self.stats.inc_value(names.ADDRESSES_REFUSED)
            raise

    async def _attempt(self, load: PageLoad, lent: OpenContext) -> Response:
        request, seconds = load.request, self._seconds(load.request)
        self._loads[request] = load, lent
        lent.admitted.pop_failure(request.url)  # for what an earlier page loaded from there: not this one's failure
        request.meta["playwright_context"] = lent.name
        # Of a page that fails it would say a traceback, and close its tab however long that takes: `_tidy` does that.
        request.meta["playwright_include_page"] = True
        request.meta["playwright_context_kwargs"] = _context_options(self._proxy.url, lent, verifies=self._verifies)
        request.meta["playwright_page_goto_kwargs"] = {"wait_until": "domcontentloaded", "timeout": seconds * 1000}
        try:
            async with asyncio.timeout(OPEN_SECONDS) as load.limit:
                return cast("Response", await self._download_request(request))
        except (TimeoutError, PlaywrightTimeoutError):
            if load.page is None:
                self._lifecycle.retire("hung")
                raise BrowserError(f"{request}: the browser opened no tab within {OPEN_SECONDS:g} s") from None
            if load.has_answered:
                raise PageTimeoutError(f"{request} came, and took longer than {seconds} s to load") from None
            raise DownloadTimeoutError(f"{request} took longer than {seconds} s in the browser") from None
        except Error as error:
            failure = self._failure(error, request, lent)
            raise failure from failure.__cause__ or error
        finally:
            del self._loads[request]
            load.close()
            self._contexts.give_back(lent)
            await self._tidy(load.page)

    def _seconds(self, request: Request) -> float:
        return float(request.meta.get("download_timeout") or self._crawler.settings.getfloat("DOWNLOAD_TIMEOUT"))

    def _failure(self, error: Error, request: Request, lent: OpenContext) -> Exception:
        if (failure := lent.admitted.pop_failure(request.url)) is not None:
            return failure
        words = error.message.splitlines()[0][:200]
        if self._lifecycle.is_flooded and request.method in {"GET", "HEAD"}:
            return TabLostError(f"{request}: another page ended the browser: {words}")
        if LOGIN_ERROR in words and self.browser is not None:
            return BrowserError(
                f"{request}: Chromium {self.browser.version} does not log in to the worker's own proxy, which all its "
                "requests go through. Releases before 156 may not: install a newer one, or name it in "
                "BROWSER_EXECUTABLE"
            )
        return BrowserError(f"{request}: {words}") if "net::ERR_" not in words else _network_failure(words)

    async def _create_browser_context(
        self, name: str, context_kwargs: dict[str, Any] | None, spider: Spider | None = None
    ) -> BrowserContextWrapper:
        wrapper = await super()._create_browser_context(name, context_kwargs, spider)
        await wrapper.context.route("**", lambda route: route.abort())  # of popups: a page's own route is asked first
        return wrapper

    async def _create_page(self, request: Request, spider: Spider) -> Page:
        page: Page = await super()._create_page(request, spider)
        load, _ = self._loads[request]
        load.page = page
        patience = self._seconds(request) + self._browser.idle_seconds  # from now on: to open a tab is not the page's
        load.limit.reschedule(asyncio.get_running_loop().time() + patience)
        if header := request.headers.get("Cookie"):
            await cookies.put(page.context, header, request.url)
        self.stats.inc_value(names.BROWSER_PAGES)
        return page

    async def _download_request_with_page(self, request: Request, page: Page, spider: Spider) -> Response:
        load, _ = self._loads[request]
        await load.open(page)  # after scrapy-playwright's own route: the last route is asked first
        return await load.end(self._load(load, page, spider))

    async def _load(self, load: PageLoad, page: Page, spider: Spider) -> Response:
        started, request = monotonic(), load.request
        answer, download = await self._get_response_and_download(request, page, spider)
        if answer is None:
            why = download.exception if download is not None else None
            raise BrowserError(f"{request}: {why or 'the browser shows no document'}")
        load.is_loaded = True
        headers = headers_of(await answer.headers_array())
        await wait_until_idle(page, self._browser.idle_seconds)
        await self._apply_page_methods(page, request, spider)
        headers["Content-Type"] = "text/html; charset=utf-8"
        body = (await page.content()).encode()
        request.meta["download_latency"] = monotonic() - started
        return load.response(answer.status, headers, self._within(request, body))

    async def _apply_page_methods(self, page: Page, request: Request, spider: Spider) -> None:
        try:
            await super()._apply_page_methods(page, request, spider)
        except Error as error:
            if isinstance(error, TargetClosedError) or "crashed" in error.message:
                raise
            why = error.message.splitlines()[0][:200]
            raise DownloadCancelledError(f"{request}: a method of playwright_page_methods failed: {why}") from error

    def _flooded(self) -> None:
        self._lifecycle.retire("flooded")

    def _within(self, request: Request, body: bytes) -> bytes:
        most = self._page_limits.most_bytes(request)
        if most and len(body) > most:
            raise DownloadCancelledError(f"{request}: {len(body)} bytes are more than DOWNLOAD_MAXSIZE, {most}")
        return body

    async def _tidy(self, page: Page | None) -> None:
        """Close what is no longer needed; a browser that fails to do that is hung."""
        over: list[Page | BrowserContext] = [page] if page is not None else []
        for lent in self._contexts.over():
            self._proxy.revoke(lent.admitted)
            if (wrapper := self.context_wrappers.pop(lent.name, None)) is not None:
                over.append(wrapper.context)
        try:
            async with asyncio.timeout(CLOSE_SECONDS):
                for one in over:
                    await _closed(one)
        except TimeoutError:
            self._lifecycle.retire("hung")

    def _admit(self, wants: ContextKey) -> ContextCredentials:
        if wants.proxy is not None and wants.proxy.scheme != "http":
            raise NotSupported(f"the browser goes through http proxies only, not {wants.proxy}")
        return self._proxy.admit(wants.proxy)

    @property
    def browser(self) -> Browser | None:
        """For scrapy-playwright."""
        return self._lifecycle.browser

    async def _maybe_launch_browser(self) -> None:
        """Does nothing: whoever has a slot has a browser."""

    async def _launch(self) -> None:
        """Nothing when the engine starts: the first page launches the browser."""

    def _forget(self) -> None:
        """The browser is gone, and its contexts too."""
        for lent in self._contexts.clear():
            self._proxy.revoke(lent.admitted)
        self.context_wrappers.clear()

    async def _close(self) -> None:
        await self._lifecycle.close()
        await self._proxy.close()
        self._resolver.close()


def _refuse_code_by_name(request: Request) -> None:
    """scrapy-playwright imports what the string names, and whoever writes to the queue may have written it."""
    if isinstance(named := request.meta.get(INIT_CALLBACK), str):
        raise NotSupported(
            f"{request}: meta[{INIT_CALLBACK!r}] = {named[:200]!r} would import code that the queue names: "
            "list what the page has to do in meta['playwright_page_methods']"
        )


async def _closed(one: Page | BrowserContext) -> None:
    try:
        await one.close()
    except Error as error:  # crashed, or gone with its browser
        logger.debug("A tab or context was gone before it was closed: %s", error)


def _context_options(proxy_url: str, lent: OpenContext, *, verifies: bool) -> dict[str, Any]:
    shown = lent.admitted
    proxy = {"server": proxy_url, "bypass": "<-loopback>", "username": shown.username, "password": shown.password}
    agent = {"user_agent": lent.wants.user_agent} if lent.wants.user_agent else {}
    blocked = {"service_workers": "block", "accept_downloads": False}
    return {"proxy": proxy, "ignore_https_errors": not verifies} | blocked | agent


def _network_failure(words: str) -> Exception:
    """Scrapy's exception for what Chromium calls net::ERR_…"""
    if "TIMED_OUT" in words:
        return DownloadTimeoutError(words)
    if "NAME_NOT_RESOLVED" in words:
        return CannotResolveHostError(words)
    return DownloadConnectionRefusedError(words) if "CONNECTION_REFUSED" in words else DownloadFailedError(words)
