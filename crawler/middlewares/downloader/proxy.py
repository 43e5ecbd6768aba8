"""Downloader middleware that sends requests through proxies: Scrapy's, and our pools.

When a proxy fails, the same worker tries a fresh one, paced as usual and charged neither to the host nor to the
request's retries. While no proxy of its pool is usable, the request waits in the frontier.
"""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import Collection
from typing import Final, NoReturn, Self
from urllib.request import getproxies
from weakref import WeakKeyDictionary

from scrapy import Request, signals
from scrapy.crawler import Crawler
from scrapy.downloadermiddlewares.httpproxy import HttpProxyMiddleware
from scrapy.exceptions import NotConfigured
from scrapy.http import Response

from crawler import stats as names
from crawler.errors import ConfigError, ProxyError
from crawler.frontier.state.proxy_health import ProxyHealth
from crawler.meta import POOL_LAST, POOL_NAME, POOL_PROXY, PROXY_DOUBTED, PROXY_RETRIES, PROXY_TRIED, count, pooled
from crawler.policy.proxies.pools import ProxyPool, basic_auth
from crawler.proxies.choice import MIN_WAIT_MS, Attempt, Chooser
from crawler.proxies.faults import Fault, fault
from crawler.proxies.pools import PoolSource, ProxyConfig
from crawler.proxies.usage import ProxyUsage
from crawler.routing.host_rules import HostRules
from crawler.urls import SCHEMES
from crawler.worker.leases.lease_book import LeaseBook
from crawler.worker.lookup import worker_if_any, worker_of
from crawler.worker.scheduler import in_use
from crawler.worker.turns.turn import TooLateError

MOST_TRIED: Final = 100  # proxies that one page remembers
POLL_SECONDS: Final = 1.0  # for requests without a lease, which cannot wait in the frontier (robots.txt)

logger = logging.getLogger(__name__)


class ProxyMiddleware(HttpProxyMiddleware):
    """Scrapy's middleware with pools on top.

    Order: `meta["proxy"]` as in Scrapy (None: no proxy), then the pool of `meta["proxy_pool"]`, of the domain, or
    PROXY_POOL, then the proxies of the environment. Credentials are on the request for one attempt only. Known
    weakness: when the proxy of a sticky session fails, only the worker that saw it changes the session id; others
    follow once it fails them.
    """

    def __init__(
        self, crawler: Crawler, settings: ProxyConfig, source: PoolSource, rules: HostRules, rng: random.Random
    ) -> None:
        super().__init__(settings.auth_encoding)
        _check_environment(self.proxies, settings.auth_encoding)
        self._crawler = crawler
        self._settings = settings
        self._source = source
        self._rules = rules
        self._rng = rng
        self._patience = crawler.settings.getfloat("DOWNLOAD_TIMEOUT")
        self._usage = ProxyUsage(crawler.stats)
        self._attempts: WeakKeyDictionary[Request, Attempt] = WeakKeyDictionary()
        self._exhausted: set[str] = set()  # pools without a usable proxy at the last try
        self._reloading: asyncio.Task[None] | None = None
        self._health: ProxyHealth
        self._chooser: Chooser
        self._book: LeaseBook

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self | HttpProxyMiddleware:  # type: ignore[override]
        """Scrapy's own where the spider does not use the shared frontier; raises ConfigError on broken pools."""
        if not in_use(crawler.settings):
            return HttpProxyMiddleware.from_crawler(crawler)
        settings, rules = ProxyConfig.from_settings(crawler.settings), HostRules.from_settings(crawler.settings)
        source = PoolSource(settings, rules.domains)
        if not crawler.settings.getbool("HTTPPROXY_ENABLED"):
            if source:
                raise ConfigError("HTTPPROXY_ENABLED", False, "True while proxy pools are configured")
            raise NotConfigured
        middleware = cls(crawler, settings, source, rules, random.Random())  # noqa: S311 - no secret comes of it
        crawler.signals.connect(middleware._opened, signals.spider_opened)
        crawler.signals.connect(middleware._closed, signals.spider_closed)
        return middleware

    def _opened(self) -> None:
        worker = worker_of(self._crawler)
        self._book = worker.book
        self._health = ProxyHealth(worker.frontier.shards, self._settings.health, self._crawler.stats)
        chosen_by = (self._health, self._settings.default, self._rng, time.time)
        self._chooser = Chooser(self._source, self._rules, *chosen_by)
        self._reloading = asyncio.get_running_loop().create_task(self._source.keep_loaded())

    def _closed(self) -> None:
        if self._reloading is not None:
            self._reloading.cancel()

    async def process_request(self, request: Request) -> None:  # type: ignore[override]
        """Give *request* its proxy; raises TooLateError when it has to wait for one."""
        pool = self._chooser.pool(request)
        request.meta.pop(POOL_NAME, None)
        if pooled(request):  # left by an earlier attempt, or by the request that redirected here
            del request.meta["proxy"]
        if pool is None:
            super().process_request(request)
            return
        attempt = await self._attempt(request, pool)
        user, password = self._chooser.credentials(attempt)
        creds = basic_auth(user, password, self.auth_encoding) if user or password else None
        self._set_proxy_and_creds(request, attempt.endpoint.url, creds, None)
        request.meta[POOL_PROXY] = attempt.endpoint.url
        request.meta[POOL_NAME] = attempt.pool.name
        request.meta[POOL_LAST] = count(request, PROXY_RETRIES) >= self._settings.retry_times
        self._attempts[request] = attempt

    async def process_response(self, request: Request, response: Response) -> Request | Response:
        """Note how the proxy did; retry through a fresh one if the proxy itself answered."""
        if (attempt := self._ended(request)) is None:
            return response
        cost = self._usage.sent(attempt.pool, request) + self._usage.received(attempt.pool, response)
        self._paid(request, cost)
        if (found := fault(request, response)) is None:
            await self._succeeded(request, attempt)
            return response
        return await self._failed(request, attempt, found, f"it answered {response.status}") or response

    async def process_exception(self, request: Request, exception: Exception) -> Request | None:
        """Retry through a fresh proxy if the proxy failed."""
        if (attempt := self._ended(request)) is None or isinstance(exception, TooLateError):
            return None
        self._paid(request, self._usage.sent(attempt.pool, request))
        if (found := fault(request, exception)) is None:
            return None
        return await self._failed(request, attempt, found, str(exception) or type(exception).__name__)

    async def _attempt(self, request: Request, pool: ProxyPool) -> Attempt:
        """What to try next; waits here for a proxy if the request cannot wait in the frontier."""
        give_up_at = time.time() + self._patience
        while isinstance(chosen := await self._chooser.choose(request, pool), int):
            if pool.name not in self._exhausted:
                self._exhausted.add(pool.name)
                logger.warning("No usable proxy in pool %s: its requests wait", pool.name)
            if self._book.of(request) is not None:
                self._postpone(request, pool, chosen)
            if time.time() > give_up_at:
                raise ProxyError(f"pool {pool.name} has no usable proxy")
            await asyncio.sleep(POLL_SECONDS)
        self._exhausted.discard(pool.name)
        return chosen

    def _paid(self, request: Request, cost: float) -> None:
        if cost and (worker := worker_if_any(self._crawler)) is not None:
            worker.budgets.paid(request, cost)

    def _postpone(self, request: Request, pool: ProxyPool, wait_ms: int) -> NoReturn:
        """Give *request* back to the frontier for about that long; then it begins anew."""
        _forget_tries(request)
        self._give_back(pool, wait_ms)

    def _give_back(self, pool: ProxyPool, wait_ms: int) -> NoReturn:
        self._crawler.stats.inc_value(names.PROXY_POSTPONED.format(pool.name))
        raise TooLateError(round(wait_ms * self._rng.uniform(1, 1.1)), "no_proxy")

    def _ended(self, request: Request) -> Attempt | None:
        """The attempt that *request* made; its credentials are taken off."""
        attempt = self._attempts.pop(request, None)
        if attempt is not None:
            request.headers.pop(b"Proxy-Authorization", None)
            request.meta.pop("_auth_proxy", None)
        return attempt

    async def _succeeded(self, request: Request, attempt: Attempt) -> None:
        """The proxy works, so those that failed this request before are to blame, not the host."""
        pool, proxy = attempt.pool, attempt.endpoint.name
        for other in set(request.meta.get(PROXY_DOUBTED, ())) - {proxy}:
            await self._blame(pool, other, "another one got an answer")
        _forget_tries(request)
        if await self._health.succeeded(pool.name, proxy):
            logger.info("Proxy %s of pool %s works again", proxy, pool.name)

    async def _failed(self, request: Request, attempt: Attempt, found: Fault, why: str) -> Request | None:
        """The next try; None when the failure is taken for the host's."""
        pool, proxy, trial = attempt.pool, attempt.endpoint.name, attempt.choice.probe
        self._usage.failed(pool)
        if attempt.needs.session:
            self._chooser.leave_session(attempt)
        host = attempt.group if found is Fault.UNCERTAIN and not trial else ""
        counted = await self._blame(pool, proxy, why, host, trial=trial)
        times = count(request, PROXY_RETRIES) + 1
        if times <= self._settings.retry_times:
            logger.debug("Proxy %s of pool %s failed %s (%s): trying a fresh one", proxy, pool.name, request, why)
            self._crawler.stats.inc_value(names.PROXY_RETRIES.format(pool.name))
            return _again(request, proxy, times, doubted=not counted)
        if found is Fault.PROXY:
            await self._wait_for_others(request, pool, proxy)
        _forget_tries(request)
        return None

    async def _wait_for_others(self, request: Request, pool: ProxyPool, proxy: str) -> NoReturn:
        """Give *request* back, for a quarantine if *proxy* is the last of *pool* that has failed it."""
        request.meta[PROXY_TRIED] = tried = [*request.meta.get(PROXY_TRIED, ()), proxy]
        fresh = await self._chooser.has_fresh(request, pool)
        if fresh and len(tried) < MOST_TRIED:
            request.meta.pop(PROXY_RETRIES, None)
            self._give_back(pool, MIN_WAIT_MS)
        self._postpone(request, pool, self._settings.health.quarantine_ms)

    async def _blame(self, pool: ProxyPool, proxy: str, why: str, host: str = "", *, trial: bool = False) -> bool:
        """Count a failure against the proxy; returns whether it counted."""
        aside_ms = await self._health.failed(pool.name, proxy, host, trial=trial)
        if aside_ms:
            self._crawler.stats.inc_value(names.PROXY_QUARANTINED.format(pool.name))
            logger.warning("Proxy %s of pool %s is quarantined for %d s: %s", proxy, pool.name, aside_ms / 1000, why)
        return aside_ms is not None


def _check_environment(read: Collection[str], encoding: str | None) -> None:
    """Raise ConfigError for a proxy of the environment that is not among those *read*: Scrapy would connect
    directly."""
    if lost := [scheme for scheme in SCHEMES if scheme in getproxies() and scheme not in read]:
        allowed = f"credentials percent-encoded and in {encoding or 'utf-8'} (HTTPPROXY_AUTH_ENCODING)"
        expected = f"http://[user:password@]host:port, the {allowed}"
        raise ConfigError(f"{lost[0]}_proxy of the environment", "...", expected)


def _again(request: Request, proxy: str, times: int, *, doubted: bool) -> Request:
    again = request.copy()
    again.dont_filter = True
    again.meta[PROXY_RETRIES] = times
    again.meta[PROXY_TRIED] = [*request.meta.get(PROXY_TRIED, ()), proxy]
    if doubted:
        again.meta[PROXY_DOUBTED] = [*request.meta.get(PROXY_DOUBTED, ()), proxy]
    return again


def _forget_tries(request: Request) -> None:
    for key in (PROXY_RETRIES, PROXY_TRIED, PROXY_DOUBTED):
        request.meta.pop(key, None)
