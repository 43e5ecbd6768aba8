"""Sends lease endings other than acknowledgements, one call each."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from scrapy import Request
from scrapy.statscollectors import StatsCollector

from crawler import stats as names
from crawler.frontier.frontier import Frontier
from crawler.frontier.messages import Handle, NackOutcome
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
            if isinstance(ending, Nack):
                await self._nack(ending)
            elif isinstance(ending, Move):
                await self._move(ending)
            elif isinstance(ending, Bury):
                await self._bury(ending)
            elif isinstance(ending, Gone):
                await self._end_gone(ending)
        if unsent := [ending.handle for ending in batch if isinstance(ending, Unsent)]:
            await self._skip(unsent)

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

    async def _move(self, move: Move) -> None:
        ours = await self._frontier.move(
            *move.handle, stream=move.stream, delay_ms=move.delay_ms, body=move.body, priority=move.priority
        )
        self._stats.inc_value(names.TIER_MOVES.format(tier_of(move.stream)), int(ours))
        self.count_stale([ours])

    async def _bury(self, bury: Bury) -> None:
        ours = await self._frontier.bury(
            *bury.handle, reason=bury.reason, detail=bury.detail, body=bury.body, priority=bury.priority
        )
        self._stats.inc_value(names.BURIED.format(bury.reason), int(ours))
        self.count_stale([ours])

    async def _end_gone(self, gone: Gone) -> None:
        ours = await self._frontier.end_gone(*gone.handle, reason=gone.reason, detail=gone.detail)
        for name in (names.ACKED, names.GONE.format(gone.reason)):
            self._stats.inc_value(name, int(ours))
        self.count_stale([ours])

    async def _skip(self, unsent: Sequence[Handle]) -> None:
        ours = await self._frontier.skip(unsent)
        self._stats.inc_value(names.ACKED, sum(ours))
        self.count_stale(ours)

    def count_stale(self, answers: Sequence[int]) -> None:
        """Count leases that were no longer ours."""
        if stale := sum(not answer for answer in answers):
            self._stats.inc_value(names.STALE, stale)
