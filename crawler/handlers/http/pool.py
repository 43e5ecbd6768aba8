"""Kept connections by route: the most recently used is reused first, idle ones are closed."""

from __future__ import annotations

import asyncio
import logging
import resource
from collections import OrderedDict, defaultdict
from dataclasses import dataclass
from time import monotonic
from typing import Final, Self
from weakref import WeakKeyDictionary

from scrapy.crawler import Crawler
from scrapy.settings import BaseSettings

from crawler import config
from crawler.handlers.http.connection import Connection
from crawler.handlers.http.sessions import TLSSessions
from crawler.handlers.route import Route

logger = logging.getLogger(__name__)

MB: Final = 1024 * 1024
SESSIONS_SHARE: Final = 8
FILES_SHARE: Final = 2  # idle connections take at most one in this many of the files that the process may open
SELDOM: Final = 2  # a connection with this many requests, robots.txt included, belongs to a host that is slow, not done
EARLIER_SECONDS: Final = 1.0  # before the server says it closes it: a request takes time to arrive


@dataclass(frozen=True, slots=True)
class PoolConfig:
    """How much is kept, and for how long."""

    seconds: float
    limit: int  # connections
    room: int  # bytes, one in SESSIONS_SHARE of it for TLS sessions of closed connections

    @classmethod
    def from_settings(cls, settings: BaseSettings) -> Self:
        """Raises ConfigError."""
        return cls(
            seconds=config.number(settings, "CONNECTION_IDLE_SECONDS"),
            limit=config.integer(settings, "CONNECTION_IDLE_LIMIT"),
            room=config.integer(settings, "CONNECTION_IDLE_MB") * MB,
        )

    @property
    def sessions(self) -> int:
        """Bytes of it for TLS sessions."""
        return self.room // SESSIONS_SHARE


@dataclass(frozen=True, slots=True)
class _Idle:
    """A kept connection: its route, since when it is idle, until when it may be used, what it counts as."""

    route: Route
    since: float
    until: float
    weight: int


class ConnectionPool:
    """Keeps idle connections within *kept*, and within half of the files that the process may open."""

    def __init__(self, kept: PoolConfig) -> None:
        self._config = kept
        self._limit = min(kept.limit, _open_files(FILES_SHARE * kept.limit) // FILES_SHARE)
        self._room = kept.room - kept.sessions
        self.sessions = TLSSessions(kept.sessions)
        self._taken = 0  # bytes
        self._by_route: defaultdict[Route, list[Connection]] = defaultdict(list)
        self._idle: OrderedDict[Connection, _Idle] = OrderedDict()  # oldest first
        self._timer: asyncio.TimerHandle | None = None

    @classmethod
    def of(cls, crawler: Crawler) -> ConnectionPool:
        """The pool that all handlers of *crawler* share. Raises ConfigError."""
        if crawler not in _shared:
            _shared[crawler] = cls(PoolConfig.from_settings(crawler.settings))
        return _shared[crawler]

    def take(self, route: Route) -> Connection | None:
        """An open connection to *route* that its server is not closing; None if there is none."""
        while kept := self._by_route.get(route):
            connection = kept[-1]
            until = self._drop(connection).until
            if connection.is_open and monotonic() < until and not connection.has_news:
                return connection
            connection.abort()
            self._keep_session(route, connection)
        return None

    def put(self, route: Route, connection: Connection, server_seconds: float | None = None) -> None:
        """Keep *connection* for the next request to *route*; its server keeps it for *server_seconds*. If it is closed
        already only its TLS session is kept."""
        if not connection.is_open:
            self._keep_session(route, connection)
            return
        now, seconds = monotonic(), self._config.seconds
        if server_seconds is not None:
            seconds = min(seconds, server_seconds - EARLIER_SECONDS)
        self._by_route[route].append(connection)
        self._idle[connection] = _Idle(route, now, now + seconds, connection.weight)
        self._taken += connection.weight
        connection.on_lost = self._lost
        while self._idle and (len(self._idle) > self._limit or self._taken > self._room):
            self._close_oldest()
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(self._config.seconds, self._sweep)

    def forget(self, route: Route) -> None:
        """Close the connections to *route*: one turned out to be closed, and the others are older."""
        for connection in [*self._by_route.get(route, ())]:
            self._drop(connection)
            connection.abort()

    def close(self) -> None:
        """Close all connections; each sharer may call it."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        for connection in [*self._idle]:
            self._drop(connection)
            connection.abort()

    def _close_oldest(self) -> None:
        connection = next(iter(self._idle))
        route = self._drop(connection).route
        connection.abort()
        self._keep_session(route, connection)

    def _lost(self, connection: Connection) -> None:
        self._keep_session(self._drop(connection).route, connection)

    def _keep_session(self, route: Route, connection: Connection) -> None:
        layer = connection.tls_session
        if route.scheme == "https" and layer is not None and connection.is_usual:
            self.sessions.keep(route, layer, connection.ticket_bytes)

    def _drop(self, connection: Connection) -> _Idle:
        connection.on_lost = None
        idle = self._idle.pop(connection)
        self._taken -= idle.weight
        kept = self._by_route[idle.route]
        kept.remove(connection)
        if not kept:
            del self._by_route[idle.route]
        return idle

    def _sweep(self) -> None:
        """Close connections that were idle for too long; runs again when the next one is due."""
        self._timer = None
        now = monotonic()
        while self._idle:
            connection, idle = next(iter(self._idle.items()))
            until = idle.since + self._config.seconds
            if until > now:
                self._timer = asyncio.get_running_loop().call_later(until - now, self._sweep)
                return
            self._drop(connection)
            connection.abort()
            if connection.exchanges <= SELDOM:
                self._keep_session(idle.route, connection)


_shared: WeakKeyDictionary[Crawler, ConnectionPool] = WeakKeyDictionary()


def _open_files(wanted: int) -> int:
    """How many files this process may open, raised to *wanted* if the system allows (shells start with 1,024)."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return wanted
    raised = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (raised, hard))
    except (OSError, ValueError) as error:  # macOS has its own limit
        logger.debug("The limit of %d open files could not be raised: %s", soft, error)
        return soft
    return raised
