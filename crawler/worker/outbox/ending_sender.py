"""Sends lease endings other than acknowledgements, one call each."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from scrapy import Request
from scrapy.statscollectors import StatsCollector

from crawler import stats as names
from crawler.frontier.frontier import Frontier
from crawler.frontier.messages import NackOutcome
from crawler.frontier.streams import tier_of
from crawler.worker.outbox.lease_endings import Bury, Ending, Gone, Move, Nack, Unsent

logger = logging.getLogger(__name__)


class EndingSender:
    """Sends and counts lease endings; the frontier's errors pass through."""

    def __init__(self, frontier: Frontier, stats: StatsCollector) -> None:
        self._frontier = frontier
        self._stats = stats

    async def send(self, batch: Sequence[Ending]) -> None:
        """Send all of *batch* but acknowledgements of what was sent, which go with starts and reports."""
        for ending in batch:
            match ending:
                case Nack():
                    await self._nack(ending)
                case Move(handle, stream, delay_ms, body, priority):
                    ours = await self._frontier.move(
                        *handle, stream=stream, delay_ms=delay_ms, body=body, priority=priority
                    )
                    self._count([ours], names.TIER_MOVES.format(tier_of(stream)))
                case Bury(handle, reason, detail, body, priority):
                    ours = await self._frontier.bury(
                        *handle, reason=reason, detail=detail, body=body, priority=priority
                    )
                    self._count([ours], names.BURIED.format(reason))
                case Gone(handle, reason, detail):
                    ours = await self._frontier.end_gone(*handle, reason=reason, detail=detail)
                    self._count([ours], names.ACKED, names.GONE.format(reason))
        if unsent := [ending.handle for ending in batch if isinstance(ending, Unsent)]:
            self._count(await self._frontier.skip(unsent), names.ACKED)

    async def _nack(self, nack: Nack) -> None:
        outcome = await self._frontier.nack(
            *nack.handle, delay_ms=nack.delay_ms, body=nack.body, priority=nack.priority, reason=nack.reason
        )
        self.count_stale([outcome])
        named = nack.about if isinstance(nack.about, Request) else nack.handle[0]
        extra = {"about": nack.about or {"request_id": nack.handle[0]}}
        if outcome is NackOutcome.GIVEN_UP:
            self._stats.inc_value(names.BURIED.format("host_down"))
            words = "%s became a dead letter: its host has been down for too long"
            logger.error(words, named, extra=extra)
            return
        for name in (names.NACKED, names.NACKED_FOR.format(nack.reason)):
            self._stats.inc_value(name, int(outcome))
        logger.debug("%s is put back for %d ms: %s", named, nack.delay_ms, nack.reason, extra=extra)

    def _count(self, ours: Sequence[bool], *stats: str) -> None:
        """Count in *stats* the leases that were *ours*, and those that were not."""
        for name in stats:
            self._stats.inc_value(name, sum(ours))
        self.count_stale(ours)

    def count_stale(self, answers: Sequence[int]) -> None:
        """Count leases that were no longer ours."""
        if stale := sum(not answer for answer in answers):
            self._stats.inc_value(names.STALE, stale)
