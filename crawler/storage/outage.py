"""Keeps trying while MongoDB is away, and says so once when it goes and once when it is back."""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import Awaitable, Callable
from typing import Protocol, TypeVar

from pymongo.errors import ConnectionFailure, OperationFailure

from crawler import stats as names
from crawler.policy.backoff import full_jitter

logger = logging.getLogger(__name__)
T = TypeVar("T")


class Stats(Protocol):
    """What the writer needs of Scrapy's stats collector."""

    def inc_value(self, key: str, count: int = 1) -> None: ...

    def set_value(self, key: str, value: float) -> None: ...


class ServerError(Exception):
    """The server could not take these writes now, through no fault of theirs."""


class AwayError(Exception):
    """MongoDB does not serve; it is counted and said, and the caller decides what becomes of its batch."""


class Outage:
    """The state of one MongoDB as its writer sees it: serving, or away since a moment.

    `insist` returns only with the result. While the server is away (unreachable, read-only, stepping down,
    out of space, refusing the credentials) it waits with full jitter up to *retry_max_seconds*; nobody is
    told that anything is stored meanwhile.
    """

    def __init__(
        self,
        stats: Stats,
        where: str,
        retry_max_seconds: float,
        *,
        meanwhile: str = "Items wait and no page is confirmed until it does",
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        uniform: Callable[[float, float], float] = random.uniform,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._stats = stats
        self._where = where
        self._retry_max_seconds = retry_max_seconds
        self._meanwhile = meanwhile
        self._sleep = sleep
        self._uniform = uniform
        self._clock = clock
        self._served = clock()  # when it last did
        self.since: float | None = None  # on the injected clock; None = serving
        self.changed: Callable[[], None] = lambda: None  # called when it goes and when it is back

    async def insist(self, call: Callable[[], Awaitable[T]]) -> T:
        """The result of *call*, called until MongoDB serves it; any other error is the caller's."""
        attempt = 0
        while True:
            attempt += 1
            try:
                return await self.attempt(call)
            except AwayError:
                await self.pause(attempt)

    async def attempt(self, call: Callable[[], Awaitable[T]]) -> T:
        """The result of *call*; raises AwayError when MongoDB does not serve it."""
        began = self._clock()
        try:
            result = await call()
        except (ConnectionFailure, OperationFailure, ServerError) as error:
            self._away(error, began)
            raise AwayError(str(error)) from error
        self._back()
        return result

    async def pause(self, attempt: int) -> None:
        """Sleep before try number *attempt* + 1."""
        await self._sleep(0.02 + full_jitter(attempt, 0.1, self._retry_max_seconds, self._uniform))

    def _away(self, error: Exception, began: float) -> None:
        self._stats.inc_value(names.STORE_ERRORS)
        if self.since is None and began >= self._served:  # else another call has been served meanwhile
            self.since = began
            self._stats.inc_value(names.STORE_OUTAGES)
            self._stats.set_value(names.STORE_AWAY, 1)
            reason = str(error).partition(" (configured timeouts:")[0]
            logger.error("MongoDB at %s does not store: %.300s. %s", self._where, reason, self._meanwhile)
            self.changed()

    def _back(self) -> None:
        self._served = self._clock()
        if self.since is not None:
            logger.warning("MongoDB at %s stores again after %.1f s", self._where, self._served - self.since)
            self._stats.set_value(names.STORE_AWAY, 0)
            self.since = None
            self.changed()
