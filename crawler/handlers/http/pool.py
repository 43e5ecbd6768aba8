"""Connections that may be used again: by route, the one used last first, closed when nobody needs them for a while."""

from __future__ import annotations

import asyncio
from collections import OrderedDict, defaultdict
from collections.abc import Callable
from time import monotonic

from crawler.handlers.http.connection import Connection
from crawler.handlers.route import Route


class ConnectionPool:
    """Keeps at most *limit* idle connections, each for at most *seconds*."""

    def __init__(self, limit: int, seconds: float, clock: Callable[[], float] = monotonic) -> None:
        self._limit = limit
        self._seconds = seconds
        self._clock = clock
        self._idle: defaultdict[Route, list[Connection]] = defaultdict(list)
        self._since: OrderedDict[Connection, tuple[float, Route]] = OrderedDict()  # oldest first
        self._timer: asyncio.TimerHandle | None = None

    def take(self, route: Route) -> Connection | None:
        """An open connection to *route*, None if there is none."""
        if not (idle := self._idle.get(route)):
            return None
        connection = idle[-1]
        self._drop(connection)
        return connection if connection.is_open else self.take(route)

    def put(self, route: Route, connection: Connection) -> None:
        """Keep *connection* for the next request to *route*, if it is still open."""
        if not connection.is_open:
            return
        self._idle[route].append(connection)
        self._since[connection] = (self._clock(), route)
        connection.on_lost = self._drop
        if len(self._since) > self._limit:
            self._close_oldest()
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(self._seconds, self._sweep)

    def close(self) -> None:
        """Close all of them."""
        if self._timer is not None:
            self._timer.cancel()
        while self._since:
            self._close_oldest()

    def _close_oldest(self) -> None:
        connection = next(iter(self._since))
        self._drop(connection)
        connection.abort()

    def _drop(self, connection: Connection) -> None:
        connection.on_lost = None
        _, route = self._since.pop(connection)
        idle = self._idle[route]
        idle.remove(connection)
        if not idle:
            del self._idle[route]

    def _sweep(self) -> None:
        """Close what was idle for too long; come back when the next one will have been."""
        self._timer = None
        now = self._clock()
        while self._since:
            since, _ = next(iter(self._since.values()))
            if since + self._seconds > now:
                self._timer = asyncio.get_running_loop().call_later(since + self._seconds - now, self._sweep)
                return
            self._close_oldest()
