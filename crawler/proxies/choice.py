"""Which pool, which proxy and which credentials a request gets."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from scrapy import Request
from scrapy.utils.datatypes import LocalCache

from crawler.errors import ConfigError
from crawler.frontier.state.proxy_health import ProxyHealth
from crawler.meta import PROXY_TRIED, pooled
from crawler.policy.proxies.pools import Choice, Endpoint, ProxyNeeds, ProxyPool, choose, session_id
from crawler.proxies.pools import PoolSource
from crawler.routing.host_rules import HostRules
from crawler.utils import caches

MIN_WAIT_MS = 1_000  # shorter waits would only churn the frontier
SESSIONS = 10_000  # remembered sessions whose proxy has failed


@dataclass(frozen=True, slots=True)
class Attempt:
    """One request sent through a proxy of a pool."""

    pool: ProxyPool
    choice: Choice
    group: str  # the politeness group of its host
    needs: ProxyNeeds

    @property
    def endpoint(self) -> Endpoint:
        """The proxy."""
        return self.choice.endpoint


class Chooser:
    """Chooses for one worker. *default* is the pool of domains without one; "" means no pool."""

    def __init__(
        self,
        source: PoolSource,
        rules: HostRules,
        health: ProxyHealth,
        default: str,
        rng: random.Random,
        clock: Callable[[], float],
    ) -> None:
        self._source = source
        self._rules = rules
        self._health = health
        self._default = default
        self._rng = rng
        self._clock = clock
        self._waits: dict[tuple[str, str], tuple[float, int]] = {}  # pool, country -> when it was asked, ms
        self._turn = rng.getrandbits(30)
        domains = rules.domains
        self._named_by_domains = any(one.proxy_pool is not None for one in (domains.default, *domains.by_host.values()))
        self._salts: LocalCache[tuple[str, str], int] = LocalCache(SESSIONS)

    def pool(self, request: Request) -> ProxyPool | None:
        """The pool for *request*; None if its proxy is left to Scrapy. Raises ConfigError for an unknown pool."""
        if ("proxy" in request.meta and not pooled(request)) or request.meta.get("tier") == "api":
            return None  # set by the user, or the scraping API has its own proxies
        name = request.meta.get("proxy_pool")
        if name is None and self._named_by_domains:
            name = self._rules.domains.for_url(request.url).proxy_pool
        if name is None:
            name = self._default
        return self._source.get(name) if name else None

    async def choose(self, request: Request, pool: ProxyPool) -> Attempt | int:
        """A proxy of *pool*, its trial claimed if it is on trial; or the ms until one is usable."""
        needs = self._needs(request, pool)
        if not (serving := pool.serving(needs.country)):
            raise ConfigError("country", needs.country, f"a country that a proxy of pool {pool.name!r} serves")
        self._turn += 1
        while choice := choose(pool, await self._health.sick(pool.name), needs, self._turn):
            if not choice.probe or await self._health.claim(pool.name, choice.endpoint.name):
                return Attempt(pool, choice, self._rules.of(request).group, needs)
        return self._wait_ms(pool, needs.country, serving)

    async def has_fresh(self, request: Request, pool: ProxyPool) -> bool:
        """Whether *pool* has a usable proxy that has not failed *request*."""
        needs = self._needs(request, pool)
        choice = choose(pool, await self._health.sick(pool.name), needs, self._turn)
        return choice is not None and choice.endpoint.name not in needs.tried

    def _wait_ms(self, pool: ProxyPool, country: str, serving: Sequence[Endpoint]) -> int:
        """Asked for each request that waits: of thousands of proxies the answer holds for a second."""
        at, wait_ms = self._waits.get((pool.name, country), (-math.inf, 0))
        now = self._clock()
        if not 0 <= now - at < MIN_WAIT_MS / 1000:
            at, wait_ms = now, self._health.wait_ms(pool.name, [one.name for one in serving])
            self._waits[pool.name, country] = at, wait_ms
        return max(MIN_WAIT_MS, wait_ms - round((now - at) * 1000))

    def credentials(self, attempt: Attempt) -> tuple[str, str]:
        """User name and password, with the id of the request's session, or else a fresh one."""
        pool, needs, endpoint = attempt.pool, attempt.needs, attempt.endpoint
        session = session_id(pool, needs, self._clock()) if needs.session else f"{self._rng.getrandbits(48):012x}"
        return endpoint.credentials(session, needs.country or endpoint.country or pool.country)

    def leave_session(self, attempt: Attempt) -> None:
        """The session's proxy failed: it continues under another id."""
        self._salts[attempt.pool.name, caches.key(attempt.needs.session)] = attempt.needs.salt + 1

    def _needs(self, request: Request, pool: ProxyPool) -> ProxyNeeds:
        rule = self._rules.domains.for_url(request.url)
        country = str(request.meta.get("country") or rule.proxy_country or "").lower()
        needs = ProxyNeeds(country, tried=frozenset(request.meta.get(PROXY_TRIED, ())))
        if rule.proxy_session in {None, "request"}:
            return needs
        own = request.meta.get("session", "") if rule.proxy_session == "session" else ""
        session = f"{self._rules.of(request).group}/{own}"
        return replace(needs, session=session, salt=self._salts.get((pool.name, caches.key(session)), 0))
