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
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        uniform: Callable[[float, float], float] = random.uniform,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._stats = stats
        self._where = where
        self._retry_max_seconds = retry_max_seconds
        self._sleep = sleep
        self._uniform = uniform
        self._clock = clock
        self._served = clock()  # when it last did
        self.since: float | None = None  # on the injected clock; None = serving

    async def insist(self, call: Callable[[], Awaitable[T]]) -> T:
        """The result of *call*, called until MongoDB serves it; any other error is the caller's."""
        attempt = 0
        while True:
            attempt += 1
            began = self._clock()
            try:
                result = await call()
            except (ConnectionFailure, OperationFailure, ServerError) as error:
                self._away(error, began)
                await self._sleep(0.02 + full_jitter(attempt, 0.1, self._retry_max_seconds, self._uniform))
            else:
                self._back()
                return result

    def _away(self, error: Exception, began: float) -> None:
        self._stats.inc_value(names.STORE_ERRORS)
        if self.since is None and began >= self._served:  # else another call has been served meanwhile
            self.since = began
            self._stats.inc_value(names.STORE_OUTAGES)
            self._stats.set_value(names.STORE_AWAY, 1)
            message = "MongoDB at %s does not store: %.300s. Items wait and no page is confirmed until it does"
            logger.error(message, self._where, error)

    def _back(self) -> None:
        self._served = self._clock()
        if self.since is not None:
            logger.warning("MongoDB at %s stores again after %.1f s", self._where, self._served - self.since)
            self._stats.set_value(names.STORE_AWAY, 0)
            self.since = None
