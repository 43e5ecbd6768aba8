"""A server that is away: retried with full jitter, logged once when it goes and once when it is back.

One that comes and goes fills no log."""

from __future__ import annotations

import asyncio
import math
import random
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable
from time import monotonic
from typing import ClassVar, TypeVar

from crawler.policy.endings.backoff import full_jitter

FIRST_WAIT = 0.1  # seconds: upper limit before the second try
MOST_TOLD, WITHIN_SECONDS = 3, 60.0  # outages that the log tells of; beyond that only
LASTING_SECONDS = 5.0  # those that last
T = TypeVar("T")


class Outage(ABC):
    """The state of one server for all its callers: serving, or away since some time.

    It is back with the first served call after *steady_seconds* without a failure (the nodes of a Cluster go and come
    one by one). Subclasses say which *errors* mean that it is away, count them, and word the messages.
    """

    errors: ClassVar[tuple[type[Exception], ...]]  # what an unserved call raises

    def __init__(
        self,
        *,
        longest_wait: float,
        shortest_wait: float,
        steady_seconds: float = 0.0,
        uniform: Callable[[float, float], float] = random.uniform,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._longest_wait = longest_wait
        self._shortest_wait = shortest_wait
        self._steady_seconds = steady_seconds
        self._uniform = uniform
        self._sleep = sleep
        self._clock = clock
        self._failed = clock()
        self.since: float | None = None  # on the injected clock; None = serving
        self._noted = clock()  # when the last outage was noticed
        self._told: list[float] = []  # when the last outages were logged
        self._is_told = False  # of this one
        self._untold = 0  # outages since one was logged

    @property
    def on(self) -> bool:
        """Whether the server is away."""
        return self.since is not None

    @property
    def seconds(self) -> float:
        """For how long the server has been away, 0 while it serves."""
        return 0.0 if self.since is None else self._clock() - self.since

    async def insist(self, call: Callable[[], Awaitable[T]], patience: float = math.inf) -> T:
        """The result of *call*, retried until the server serves it; other errors pass through, and these once it has
        been away for *patience* seconds."""
        attempt = 0
        while True:
            attempt += 1
            began = self._clock()
            try:
                result = await call()
            except self.errors as error:
                self.failed(error, began)
                if self.seconds >= patience:
                    raise
                await self.pause(attempt)
            else:
                self.over(began)
                return result

    async def pause(self, attempt: int) -> None:
        """Sleep before try number *attempt* + 1."""
        wait = full_jitter(attempt, FIRST_WAIT, self._longest_wait, self._uniform)
        await self._sleep(self._shortest_wait + wait)

    def failed(self, error: Exception, began: float) -> None:
        """Note an unserved call that started at *began*, on the injected clock."""
        self.counted()
        self._failed = self._clock()
        if self.since is None:
            self.since, self._noted, self._is_told = began, self._failed, False
            self._untold += 1
            self.gone()
        if not self._is_told and self._may_tell():
            self._is_told = True
            self.tell_gone(error)
            self._untold = 0

    def over(self, began: float = math.inf) -> None:
        """Note a served call that started at *began*; one from before the outage was noticed does not end it (its
        answer was on the way when the server went)."""
        if self.since is not None and began >= self._noted and self._clock() - self._failed >= self._steady_seconds:
            seconds, self.since = self._clock() - self.since, None
            self.back()
            if self._is_told:
                self.tell_back(seconds)

    @property
    def often(self) -> str:
        """What to add to the message about an outage, if others before it were not logged."""
        return f" It comes and goes: {self._untold} times since the last such line." if self._untold > 1 else ""

    def _may_tell(self) -> bool:
        now = self._clock()
        told = [at for at in self._told if now - at < WITHIN_SECONDS]
        if len(told) >= MOST_TOLD and self.seconds < LASTING_SECONDS:
            return False
        self._told = [*told, now]
        return True

    @abstractmethod
    def counted(self) -> None:
        """Count an unserved call."""

    def gone(self) -> None:  # noqa: B027 - need not be overridden
        """Called when an outage begins."""

    def back(self) -> None:  # noqa: B027 - need not be overridden
        """Called when an outage ends."""

    @abstractmethod
    def tell_gone(self, error: Exception) -> None:
        """Log that the server is away."""

    @abstractmethod
    def tell_back(self, seconds: float) -> None:
        """Log that it serves again, after *seconds*."""
