"""Downloader middleware for cookies: Scrapy's jars, and jars shared by the fleet for domains that ask for them."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from http.cookiejar import Cookie
from itertools import accumulate
from typing import Final, Self
from weakref import WeakKeyDictionary

from scrapy import Request, signals
from scrapy.crawler import Crawler
from scrapy.downloadermiddlewares.cookies import CookiesMiddleware
from scrapy.exceptions import NotConfigured
from scrapy.http import Response
from scrapy.http.cookies import CookieJar

from crawler import config, scrapy_hooks
from crawler import stats as names
from crawler.frontier.state.cookie_jars import CookieJars
from crawler.middlewares.downloader.cookie_jar_limit import CookieJarLimit
from crawler.policy.cookies import Records, changes, cookie_of, records
from crawler.routing.host_rules import HostRules
from crawler.urls import group
from crawler.worker.lookup import worker_of
from crawler.worker.scheduler import in_use

logger = logging.getLogger(__name__)

MOST: Final = 180  # cookies of a domain in a jar, as in browsers
DOMAIN_BYTES: Final = 64 * 1024  # of their names, values and paths: servers refuse headers of a quarter of that
COUNTED: Final = 10_000  # domains of which it is noted; then counting begins anew
NAMED: Final = 5  # damaged ones in a log line
SLACK: Final = 500  # set before they are counted again; long ones count as several


@dataclass(slots=True)
class JarUse:
    """One request of a session: whose jar it uses, and which of its cookies Redis has."""

    host: str
    session: str
    known: Records
    jar: CookieJar


class SessionsMiddleware(CookiesMiddleware):
    """`cookies = "host"` or `"session"` of a domain: one jar per politeness group, and per `meta["session"]` or, as
    projects have it, `meta["cookiejar"]`, in Redis.

    Requests of other domains, and with "host" those with a `cookiejar`, are left to Scrapy (COOKIES_ENABLED);
    `meta["dont_merge_cookies"]` works as in Scrapy. What a response sets or deletes is merged cookie by cookie with
    what other workers received meanwhile. The Cookie header is on the request for one attempt only. Values are never
    logged, not even with COOKIES_DEBUG.
    """

    def __init__(self, crawler: Crawler, rules: HostRules) -> None:
        super().__init__(crawler.settings.getbool("COOKIES_DEBUG"))
        self.crawler = crawler
        self._rules = rules
        self._ttl_ms = config.integer(crawler.settings, "SESSION_SECONDS") * 1000
        self._scrapys = crawler.settings.getbool("COOKIES_ENABLED")
        self._uses: WeakKeyDictionary[Request, JarUse] = WeakKeyDictionary()
        self._set: WeakKeyDictionary[CookieJar, Counter[str]] = WeakKeyDictionary()  # since they were counted
        self._room = CookieJarLimit(self.jars)
        self._sessions: CookieJars

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self | CookiesMiddleware:  # type: ignore[override]
        """Scrapy's own where the spider does not use the shared frontier; off where nothing uses cookies."""
        if not in_use(crawler.settings):
            return CookiesMiddleware.from_crawler(crawler)
        middleware = cls(crawler, HostRules.from_settings(crawler.settings))
        domains = middleware._rules.domains
        if not middleware._scrapys and not any(
            rule.cookies in {"host", "session"} for rule in (domains.default, *domains.by_host.values())
        ):
            raise NotConfigured
        scrapy_hooks.know_public_suffixes()
        crawler.signals.connect(middleware._opened, signals.spider_opened)
        return middleware

    def _opened(self) -> None:
        worker = worker_of(self.crawler)
        self._sessions = CookieJars(worker.frontier.shards, worker.outage, self._ttl_ms)
        worker.losses.listen(self._forget)

    def _forget(self) -> None:
        """Redis may have lost a session's cookies: store all of them with the next one that is set."""
        for use in list(self._uses.values()):
            use.known = {}

    async def process_request(self, request: Request) -> None:  # type: ignore[override]
        """Send the session's cookies and those of the request, which become part of the session."""
        if (named := self._named(request)) is None:
            if self._scrapys:
                super().process_request(request)
            return
        known = (await self._sessions.load(*named)).cookies
        use = JarUse(*named, known, jar := CookieJar())
        if foreign := _fill(jar, known):
            words = "Redis held foreign values in the hash %s, removed: %r. Does another program write there?"
            logger.error(words, self._sessions.key(*named), foreign[:NAMED])
            await self._store(use)
        jar.jar.clear_expired_cookies()
        if cookies := self._get_request_cookies(jar, request):
            self._process_cookies(cookies, jar=jar, request=request)
            await self._store(use)
        request.headers.pop("Cookie", None)
        jar.add_cookie_header(request)
        self._debug_cookie(request)
        self._uses[request] = use

    async def process_response(self, request: Request, response: Response) -> Request | Response:  # type: ignore[override]
        """Store the cookies that *response* sets."""
        if (use := self._ended(request)) is None:
            return (
                super().process_response(request, response) if self._scrapys and not self._named(request) else response
            )
        if response.headers.getlist("Set-Cookie"):
            cookies = use.jar.make_cookies(response, request)
            self._process_cookies(cookies, jar=use.jar, request=request)
            self._debug_set_cookie(response)
            await self._store(use)
        return response

    def process_exception(self, request: Request, exception: Exception) -> None:
        """Take the cookies off the request."""
        self._ended(request)

    def _named(self, request: Request) -> tuple[str, str] | None:
        """The host and session whose shared jar *request* uses; None if it uses none."""
        kind, meta = self._rules.domains.for_url(request.url).cookies, request.meta
        if kind not in {"host", "session"} or meta.get("dont_merge_cookies"):
            return None
        if kind == "host":
            return None if "cookiejar" in meta else (self._rules.of(request).group, "")
        named = (meta.get(key) for key in ("session", "cookiejar"))
        return self._rules.of(request).group, str(next((name for name in named if name is not None), ""))

    def _ended(self, request: Request) -> JarUse | None:
        use = self._uses.pop(request, None)
        if use is not None:
            request.headers.pop("Cookie", None)
        return use

    def _process_cookies(self, cookies: Iterable[Cookie], *, jar: CookieJar, request: Request) -> None:
        """As Scrapy's; a site that sets new ones with each page does not fill the memory and its own requests, nor do
        any number of sites."""
        cookies = list(cookies)
        self._make_room(cookies, jar, request)
        super()._process_cookies(cookies, jar=jar, request=request)
        counted = self._set.setdefault(jar, Counter())
        if len(counted) > COUNTED:
            counted.clear()
        for cookie in cookies:
            counted[cookie.domain] += 1 + SLACK * _length(cookie) // DOMAIN_BYTES
            if counted[cookie.domain] > SLACK:
                del counted[cookie.domain]
                self._drop_oldest(jar, cookie.domain)

    def _make_room(self, cookies: list[Cookie], jar: CookieJar, request: Request) -> None:
        name = request.meta.get("cookiejar")
        if self.jars.get(name) is jar and (dropped := self._room.use(name, group(request.url), cookies)):
            self.crawler.stats.inc_value(names.COOKIES_REFUSED, dropped)
            logger.warning("Dropped %d cookies of the sites used longest ago: all jars together were full", dropped)

    def _drop_oldest(self, jar: CookieJar, domain: str) -> None:
        own = [each for each in jar if each.domain == domain]
        surplus = _surplus(own)
        with suppress(KeyError):
            jar.clear(domain)  # as a whole: it keeps an empty place for each path that ever had a cookie
        for cookie in own[len(surplus) :]:
            jar.set_cookie(cookie)
        if surplus:
            self.crawler.stats.inc_value(names.COOKIES_REFUSED, len(surplus))
            words = "Dropped the %d oldest cookies of %s: a jar keeps %d of a domain, and %d KB"
            logger.warning(words, len(surplus), domain, MOST, DOMAIN_BYTES // 1024)

    async def _store(self, use: JarUse) -> None:
        found = changes(use.known, use.jar)
        jar = await self._sessions.merge(use.host, use.session, found) if found else None
        use.known = records(use.jar, use.known)
        refused = found.too_long + (jar.refused if jar else 0)
        self.crawler.stats.inc_value(names.COOKIES_SET, len(found.changed))
        if refused:
            self.crawler.stats.inc_value(names.COOKIES_REFUSED, refused)
            logger.warning("Dropped %d cookies of %s: too long or too many", refused, use.host)

    def _debug_cookie(self, request: Request) -> None:
        if self.debug and (header := request.headers.get("Cookie")):
            logger.debug("Sending cookies to %s: %s", request, _keys(header.split(b";")))

    def _debug_set_cookie(self, response: Response) -> None:
        if self.debug and (headers := response.headers.getlist("Set-Cookie")):
            logger.debug("Received cookies from %s: %s", response, _keys(headers))


def _fill(jar: CookieJar, known: Records) -> list[str]:
    """Put the cookies that are *known* into *jar*; returns the names of those that are none."""
    foreign = []
    for name, record in known.items():
        try:
            jar.set_cookie(cookie_of(name, record))
        except (ValueError, OverflowError, RecursionError):
            foreign.append(name)
    return foreign


def _length(cookie: Cookie) -> int:
    return len(cookie.name) + len(cookie.value or "") + len(cookie.path)


def _surplus(cookies: Sequence[Cookie]) -> Sequence[Cookie]:
    """All but the newest that fit; the last of *cookies* always stays."""
    taken = accumulate(_length(cookie) for cookie in reversed(cookies[-MOST:]))
    return cookies[: -max(1, sum(size <= DOMAIN_BYTES for size in taken))]


def _keys(cookies: list[bytes]) -> str:
    """The names alone."""
    return ", ".join(cookie.partition(b"=")[0].strip().decode("latin-1") for cookie in cookies)
