"""Tells the frontier which leased requests were sent, how their hosts answered, and how their leases ended."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from itertools import islice
from typing import Any

from scrapy.statscollectors import StatsCollector

from crawler import stats as names
from crawler.frontier.frontier import Frontier
from crawler.frontier.messages import Report
from crawler.frontier.server.drops import same_server
from crawler.frontier.server.shards import BATCH
from crawler.worker.outbox.breakers import NOTED, Breakers
from crawler.worker.outbox.ending_sender import EndingSender
from crawler.worker.outbox.lease_endings import Ending, handle_of
from crawler.worker.outbox.lost_links import LostLinks
from crawler.worker.outbox.queues import Start, drain, drop, resolve


class Settler:
    """Queues of starts, reports and endings; a batch leaves them only once it was sent."""

    def __init__(self, frontier: Frontier, stats: StatsCollector, links: LostLinks, wake: Callable[[], None]) -> None:
        """*wake* is called when a host may have become free."""
        self._frontier = frontier
        self._stats = stats
        self._lost_links = links
        self._wake = wake
        self.suspects: deque[Start] = deque()  # their deliveries are charged before they are sent
        self.starts: deque[Start] = deque()
        self.reports: deque[Report] = deque()
        self.endings: deque[Ending] = deque()
        self.sender = EndingSender(frontier, stats)
        self.breakers = Breakers(frontier, stats)

    @property
    def queues(self) -> tuple[deque[Any], ...]:
        """All of them."""
        return self.suspects, self.starts, self.reports, self.endings

    async def send_suspects(self) -> None:
        """Charge those that wait to be sent."""
        await drain(self.suspects, len(self.suspects), self._charge)

    async def _charge(self, batch: Sequence[Start]) -> None:
        resolve(batch, await self._frontier.start([handle for handle, _ in batch]))

    async def send(self, endings: int) -> None:
        """Send starts, reports and the first *endings* endings: one call for all but endings other than
        acknowledgements."""
        while self.starts or self.reports or endings > 0:
            starts, reports = list(islice(self.starts, BATCH)), list(islice(self.reports, BATCH))
            with same_server(self._frontier.client) if endings > 0 else nullcontext():  # of another, judge them again
                ended = [self._lost_links.judged(one) for one in islice(self.endings, min(endings, BATCH))]
                await self._settle(starts, reports, ended)
                await self.sender.send(ended)
            self._lost_links.ended([handle_of(ending) for ending in ended])
            drop(self.endings, len(ended))
            endings -= len(ended)

    async def _settle(self, starts: Sequence[Start], reports: Sequence[Report], ended: Sequence[Ending]) -> None:
        acks = [ending for ending in ended if isinstance(ending, tuple)]
        if not (starts or reports or acks):
            return
        answers = await self._frontier.settle([handle for handle, _ in starts], reports, acks)
        resolve(starts, answers[0])
        drop(self.starts, len(starts))
        self._reported(reports, answers[1])
        drop(self.reports, len(reports))
        if acks:
            self._stats.inc_value(names.ACKED, sum(answers[2]))
            self.sender.count_stale(answers[2])

    def _reported(self, batch: Sequence[Report], answers: Sequence[int]) -> None:
        self.sender.count_stale(answers)
        for report, answer in zip(batch, answers, strict=True):
            if answer != NOTED:
                self.breakers.told(report, answer)
        if batch:
            self._wake()
