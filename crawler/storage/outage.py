"""Retries while MongoDB is away; logs when it goes and once when it is back."""

from __future__ import annotations

import asyncio
import logging
import math
import random
import time
from collections.abc import Awaitable, Callable
from typing import Final, Protocol, TypeVar

from pymongo.errors import ConnectionFailure, OperationFailure

from crawler import stats as names
from crawler.outage import Outage
from crawler.storage.connection import first_clause

logger = logging.getLogger(__name__)
T = TypeVar("T")

ITEMS_WAIT: Final = "Items wait and no page is acknowledged until it does"


class Stats(Protocol):
    """What the writer needs of Scrapy's stats collector."""

    def inc_value(self, key: str, count: int = 1) -> None: ...

    def set_value(self, key: str, value: float) -> None: ...


class NoStats:
    """Stats that nobody reads: those of a command."""

    def inc_value(self, key: str, count: int = 1) -> None:
        """Ignored."""

    def set_value(self, key: str, value: float) -> None:
        """Ignored."""


class ServerError(Exception):
    """The server could not take these writes now; the writes are not at fault."""


class AwayError(Exception):
    """MongoDB is away; this is counted and logged already, the caller decides about its batch."""


class MongoOutage(Outage):
    """The state of one MongoDB as its writer sees it.

    Away means unreachable, read-only, stepping down, out of space, or refusing the credentials; nothing counts as
    stored meanwhile. A failure is outdated if a call that started later was served.
    """

    errors = (ConnectionFailure, OperationFailure, ServerError)

    def __init__(
        self,
        stats: Stats,
        where: str,
        retry_max_seconds: float,
        *,
        meanwhile: str = ITEMS_WAIT,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        uniform: Callable[[float, float], float] = random.uniform,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(longest_wait=retry_max_seconds, shortest_wait=0.02, sleep=sleep, uniform=uniform, clock=clock)
        self._stats = stats
        self._where = where
        self._meanwhile = meanwhile
        self._served = clock()  # when it last served a call
        self.changed: Callable[[], None] = lambda: None  # called when it goes and when it returns

    async def attempt(self, call: Callable[[], Awaitable[T]]) -> T:
        """The result of *call*; raises AwayError if MongoDB does not serve it."""
        began = self._clock()
        try:
            result = await call()
        except self.errors as error:
            self.failed(error, began)
            raise AwayError(str(error)) from error
        self.over(began)
        return result

    def failed(self, error: Exception, began: float) -> None:
        if began >= self._served:
            super().failed(error, began)
        else:
            self.counted()

    def over(self, began: float = math.inf) -> None:
        super().over(began)
        if not self.on:
            self._served = self._clock()

    def counted(self) -> None:
        self._stats.inc_value(names.STORE_ERRORS)

    def gone(self) -> None:
        self._stats.inc_value(names.STORE_OUTAGES)
        self._stats.set_value(names.STORE_AWAY, 1)
        self.changed()

    def back(self) -> None:
        self._stats.set_value(names.STORE_AWAY, 0)
        self.changed()

    def tell_gone(self, error: Exception) -> None:
        text = "MongoDB at %s does not store: %.300s. %s.%s"
        logger.error(text, self._where, first_clause(error), self._meanwhile, self.often)

    def tell_back(self, seconds: float) -> None:
        logger.warning("MongoDB at %s stores again after %.1f s", self._where, seconds)
