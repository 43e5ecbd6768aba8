"""Circuit breakers that just opened or closed: logged, counted, and evaluated at the next flush."""

from __future__ import annotations

import logging
from typing import Final

from scrapy.statscollectors import StatsCollector

from crawler import stats as names
from crawler.frontier.frontier import Frontier
from crawler.frontier.messages import Report

NOTED: Final = 1  # answers to a report, as in lua/lib/hosts/breaker.lua; more: for how many ms the breaker opened
CLOSED: Final = -1

logger = logging.getLogger(__name__)


class Breakers:
    """Tells the frontier which hosts have recovered and which were down for the whole term."""

    def __init__(self, frontier: Frontier, stats: StatsCollector) -> None:
        self._frontier = frontier
        self._stats = stats
        # by host: None where it closed, else the origin because of which it opened, "" if none, or once that is told
        self._changed: dict[str, str | None] = {}

    def told(self, report: Report, answer: int) -> None:
        """Note what *report* did to its host's breaker, by the answer of `Frontier.report`."""
        if answer > NOTED:
            self.opened(report.host, answer, report.origin)
        elif answer == CLOSED:
            self.closed(report.host)

    def opened(self, host: str, rest_ms: int, origin: str = "") -> None:
        """Log and count that *host*'s circuit breaker opened, because of that *origin* if one is given."""
        self._stats.inc_value(names.BREAKER_OPENED)
        self._changed[host] = origin
        logger.warning("Circuit breaker opened for %s: paused %.0f s, then one probe", host, rest_ms / 1000)

    def closed(self, host: str) -> None:
        """Log that *host* answers again."""
        self._stats.inc_value(names.BREAKER_CLOSED)
        self._changed[host] = None
        logger.info("Circuit breaker closed for %s: it answers again", host)

    async def judge(self) -> None:
        """Report hosts that work again, and dead-letter the queue of those that were down for their whole term."""
        while (host := next(filter(self._frontier.shards.serves, self._changed), None)) is not None:
            origin = self._changed[host]
            if origin is None:
                await self._frontier.breakers.host_up(host)
            elif origin:
                await self._frontier.breakers.probe_other(host, origin)
            elif await self._bury(host):
                continue  # there may be more
            if self._changed[host] != origin:
                continue  # a block page has opened it meanwhile
            if origin:
                self._changed[host] = ""
            else:
                del self._changed[host]

    async def _bury(self, host: str) -> int:
        """How many pages of *host* became dead letters now."""
        down, buried = await self._frontier.breakers.host_down(host)
        if buried:
            self._stats.inc_value(names.BURIED.format("host_down"), buried)
            logger.error("%s has been down for %.0f s, dead letters now: %d", host, down / 1000, buried)
        return buried
