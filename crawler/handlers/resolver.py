"""Resolves a host name to addresses that may be dialled: one look-up for all waiters, cached, checked.

Callers must dial one of the returned addresses and never resolve the name again: the next answer may differ (DNS
rebinding).
"""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from ipaddress import ip_address
from time import monotonic
from typing import Final, Self
from weakref import WeakKeyDictionary

from scrapy.crawler import Crawler
from scrapy.exceptions import CannotResolveHostError
from scrapy.settings import BaseSettings

from crawler import config
from crawler.errors import AddressRefusedError
from crawler.policy.address_guard import Address, AddressPolicy, literal
from crawler.utils.caches import Recent
from crawler.utils.lookups import MOST_THREADS, LookupThreads

MOST_ADDRESSES: Final = 32  # of a name; an answer may have four thousand, and a zone any number of names

logger = logging.getLogger(__name__)

Lookup = Callable[[str], Awaitable[list[Address]]]  # raises OSError or UnicodeError


@dataclass(frozen=True, slots=True)
class ResolverConfig:
    """The limits of one worker."""

    seconds: float  # how long an answer is cached; 0 = not at all
    size: int  # names cached
    timeout: float  # seconds
    threads: int  # a name whose servers hang holds one until the system's resolver gives up

    @classmethod
    def from_settings(cls, settings: BaseSettings) -> Self:
        """Scrapy's settings where those exist; at least one thread per concurrent request. Raises ConfigError."""
        most = config.integer(settings, "CONCURRENT_REQUESTS")
        cached = config.boolean(settings, "DNSCACHE_ENABLED")
        return cls(
            seconds=config.number(settings, "DNSCACHE_SECONDS") if cached else 0,
            size=config.integer(settings, "DNSCACHE_SIZE", 0, 10_000_000),
            timeout=config.number(settings, "DNS_TIMEOUT"),
            threads=max(
                config.integer(settings, "REACTOR_THREADPOOL_MAXSIZE", 1, MOST_THREADS), min(most, MOST_THREADS)
            ),
        )


class Resolver:
    """Resolves for one worker. Known weakness: the system reports no TTLs, so `seconds` applies to every answer."""

    def __init__(
        self,
        policy: AddressPolicy,
        settings: ResolverConfig,
        lookup: Lookup | None = None,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._policy = policy
        self._config = settings
        self._threads = LookupThreads(settings.threads)
        self._lookup = lookup or self._ask_system
        self._clock = clock
        self._known: Recent[str, tuple[float, list[Address]]] = Recent(settings.size)
        self._asked: dict[str, asyncio.Future[list[Address]]] = {}
        self.on_answer: Callable[[str, list[str]], None] | None = None  # called with each new answer

    @classmethod
    def from_settings(cls, settings: BaseSettings) -> Self:
        """Raises ConfigError."""
        return cls(AddressPolicy.from_settings(settings), ResolverConfig.from_settings(settings))

    @classmethod
    def of(cls, crawler: Crawler) -> Resolver:
        """The resolver that all handlers of *crawler* share: most hosts redirect from http to https. Raises
        ConfigError."""
        if crawler not in _shared:
            _shared[crawler] = cls.from_settings(crawler.settings)
        return _shared[crawler]

    async def resolve(self, host: str, *, trusted: bool = False) -> list[str]:
        """The addresses of *host* that may be dialled, in the order to try them.

        All addresses for a *trusted* host: a proxy, which only settings or the operator's code can name.

        Raises AddressRefusedError if no address is allowed, CannotResolveHostError if there is none.
        """
        found = await self._addresses(host)
        refused = {address: None if trusted else self._policy.refusal(address) for address in found}
        allowed = [str(address) for address in found if refused[address] is None]
        if not allowed:
            raise _refused(host, *next(iter(refused.items())))
        return allowed

    async def check(self, host: str, *, resolving: bool) -> None:
        """Check a *host* that a proxy will resolve: a literal address, and with *resolving* what it resolves to here.

        Raises AddressRefusedError; a name that does not resolve here passes.
        """
        try:
            found = await self._addresses(host) if resolving or literal(host) is not None else []
        except (CannotResolveHostError, ValueError) as error:
            logger.debug("%s does not resolve here and is left to the proxy: %s", host, error)
            return
        for address in found:
            if (reason := self._policy.refusal(address)) is not None:
                raise _refused(host, address, reason)

    def close(self) -> None:
        """Drop pending look-ups; each sharer may call it."""
        self._threads.close()

    async def _addresses(self, host: str) -> list[Address]:
        try:
            if (address := literal(host)) is not None:
                return [address]
        except ValueError as error:
            raise CannotResolveHostError(str(error)) from None
        if (known := self._known.get(host)) is not None and self._clock() < known[0]:
            return known[1]
        if (asked := self._asked.get(host)) is None:
            asked = self._asked[host] = asyncio.ensure_future(self._ask(host))
            asked.add_done_callback(lambda done: self._answered(host, done))
        return await asyncio.shield(asked)  # a waiter that gives up must not cancel it for the others

    async def _ask(self, host: str) -> list[Address]:
        try:
            async with asyncio.timeout(self._config.timeout):
                found = await self._lookup(host)
        except TimeoutError:
            raise CannotResolveHostError(f"{host}: no answer within {self._config.timeout} s (DNS_TIMEOUT)") from None
        except (OSError, UnicodeError) as error:
            cause = _no_socket() or error
            raise CannotResolveHostError(f"{host}: {cause}") from cause
        if not found:
            raise CannotResolveHostError(f"{host} has no address")
        return found if len(found) <= MOST_ADDRESSES else self._few(found)

    def _few(self, found: list[Address]) -> list[Address]:
        """The first addresses that may be dialled, and one of those that may not: `check` refuses the name for it."""
        refused = [address for address in found if self._policy.refusal(address) is not None]
        allowed = [address for address in found if address not in set(refused)]
        return allowed[:MOST_ADDRESSES] + refused[:1]

    def _answered(self, host: str, done: asyncio.Future[list[Address]]) -> None:
        del self._asked[host]
        if done.cancelled() or done.exception() is not None:
            return
        if self.on_answer is not None:
            self.on_answer(host, [str(address) for address in done.result()])
        self._known[host] = (self._clock() + self._config.seconds, done.result())

    async def _ask_system(self, host: str) -> list[Address]:
        return list(dict.fromkeys(await self._threads.run(_getaddrinfo, host)))


def _no_socket() -> OSError | None:
    """Why this process can open no socket, if so: the system's look-up says "Invalid argument" then."""
    try:
        socket.socket().close()
    except OSError as error:
        return error
    return None


_shared: WeakKeyDictionary[Crawler, Resolver] = WeakKeyDictionary()


def _getaddrinfo(host: str) -> list[Address]:
    infos = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    return [ip_address(str(info[4][0])) for info in infos]


def _refused(host: str, address: Address, reason: str | None) -> AddressRefusedError:
    same = host.strip("[]") == str(address)
    who = f"{host} ({reason})" if same else f"{host} resolves to {address} ({reason}), which"
    return AddressRefusedError(
        f"{who} is not the public internet; an operator may allow its network in GUARD_ALLOWED_NETWORKS"
    )
