"""Logs once when Redis goes away and once when it is back, however many calls fail in between."""

from __future__ import annotations

import logging
import math
import random
from collections.abc import Callable, Collection
from time import monotonic
from typing import Final

from scrapy.statscollectors import StatsCollector

from crawler import stats as names
from crawler.frontier.errors import FrontierUnavailableError, ShardAwayError
from crawler.outage import Outage

LONGEST_WAIT: Final = 5.0  # seconds between tries
STEADY_SECONDS: Final = LONGEST_WAIT + 1  # a Cluster with a node still away fails again before that

logger = logging.getLogger(__name__)


class RedisOutage(Outage):
    """Shared by all loops that call Redis. A permanent refusal is a FrontierRefusedError, not an outage.

    *forget* clears this worker's caches: a server that comes back may have lost its last second. It is not back while
    some shards are *away*, whoever serves the others: to hear that of a node that is silent takes half a minute. That
    others go on is told once one of them has served.
    """

    errors = (FrontierUnavailableError,)

    def __init__(
        self,
        stats: StatsCollector,
        forget: Callable[[], None],
        uniform: Callable[[float, float], float] = random.uniform,
        clock: Callable[[], float] = monotonic,
        steady_seconds: float = 0.0,
        away: Collection[int] = (),
    ) -> None:
        super().__init__(
            longest_wait=LONGEST_WAIT,
            shortest_wait=0.05,
            steady_seconds=steady_seconds,
            uniform=uniform,
            clock=clock,
        )
        self._stats = stats
        self._forget = forget
        self._away = away
        self._attempts = 0
        self._is_part_told = False  # that some shards go on

    async def wait(self, error: FrontierUnavailableError) -> None:
        """For loops that start afresh on each try: note a failed call, and sleep before the next one. Not longer each
        time where only some shards are away, which are looked for beside these loops."""
        self.failed(error, self._clock())
        self._attempts += not isinstance(error, ShardAwayError)
        await self.pause(self._attempts)

    def over(self, began: float = math.inf) -> None:
        if not self._away:
            super().over(began)
        elif self._is_told and not self._is_part_told and began >= self._noted:
            self._is_part_told = True
            shards = f"shard{'s' if len(self._away) > 1 else ''} {', '.join(map(str, sorted(self._away)))}"
            logger.warning("Hosts of %s wait, those of others go on", shards)

    def counted(self) -> None:
        self._stats.inc_value(names.REDIS_ERRORS)

    def gone(self) -> None:
        self._is_part_told = False
        self._forget()

    def back(self) -> None:
        self._attempts = 0
        self._forget()

    def tell_gone(self, error: Exception) -> None:
        logger.warning("Redis does not answer (%s): waiting; nothing is lost.%s", error, self.often)

    def tell_back(self, seconds: float) -> None:
        logger.warning("Redis answers again after %.1f s", seconds)
