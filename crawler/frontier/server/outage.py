"""Says once that a server is away and once that it is back, however many calls fail in between."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from time import monotonic
from typing import Final, TypeVar

from redis.exceptions import (
    AskError,
    ClusterError,
    OutOfMemoryError,
    ReadOnlyError,
    RedisError,
    ResponseError,
    TryAgainError,
)
from scrapy.statscollectors import StatsCollector

from crawler import stats as names
from crawler.errors import ServiceError
from crawler.policy.backoff import full_jitter

# Refusals of a server that fails over, is full, or cannot write its disk: they end when somebody has seen to it.
_PASSING: Final = (ReadOnlyError, OutOfMemoryError, ClusterError, TryAgainError, AskError)
_PASSING_CODES: Final = ("MISCONF", "NOREPLICAS", "BUSY", "LOADING")

# What a call of the frontier raises when Redis is away, or refuses: for whoever uses the frontier and knows no Redis.
UNAVAILABLE: Final = (RedisError, OSError)

LONGEST_WAIT: Final = 5.0  # seconds, between two tries
STEADY_SECONDS: Final = LONGEST_WAIT + 1  # a Cluster of which one node is still away fails again before that

logger = logging.getLogger(__name__)
T = TypeVar("T")


class Outage:
    """Shared by every loop that talks to Redis.

    *forget* drops what this worker believes Redis knows: a server that comes back may have lost its last second.
    Nodes of a Cluster go and come one by one: it is over once no call has failed for *steady_seconds*.
    """

    def __init__(
        self,
        stats: StatsCollector,
        uniform: Callable[[float, float], float],
        forget: Callable[[], None],
        clock: Callable[[], float] = monotonic,
        steady_seconds: float = 0.0,
    ) -> None:
        self._stats = stats
        self._uniform = uniform
        self._forget = forget
        self._clock = clock
        self._steady = steady_seconds
        self._since: float | None = None
        self._failed = 0.0
        self._attempts = 0

    @property
    def on(self) -> bool:
        """Whether the last call failed."""
        return self._since is not None

    async def insist(self, call: Callable[[], Awaitable[T]]) -> T:
        """The result of *call*, called until Redis serves it; raises ServiceError as `wait` does."""
        while True:
            try:
                return await call()
            except UNAVAILABLE as error:
                await self.wait(error)

    async def wait(self, error: Exception) -> None:
        """Note a failed call and sleep before the next try: full jitter, at most 5 s.

        Raises ServiceError when Redis did answer, with a refusal that no waiting will change.
        """
        self._stats.inc_value(names.REDIS_ERRORS)
        if isinstance(error, ResponseError) and not _passes(error):
            raise ServiceError(
                f"Redis refuses what this worker asks for, and waiting would not help: {error}"
            ) from error
        if self._since is None:
            self._since = self._clock()
            self._forget()
            logger.warning("Redis does not answer (%s): waiting, nothing is lost", error)
        self._attempts += 1
        self._failed = self._clock()
        await asyncio.sleep(0.05 + full_jitter(self._attempts, 0.1, LONGEST_WAIT, self._uniform))

    def over(self) -> None:
        """Note a call that worked."""
        if self._since is not None and self._clock() - self._failed >= self._steady:
            logger.warning("Redis answers again after %.1f s", self._clock() - self._since)
            self._since = None
            self._attempts = 0
            self._forget()


def _passes(error: ResponseError) -> bool:
    return isinstance(error, _PASSING) or str(error).startswith(_PASSING_CODES)
