"""Leases that go back without an ending, uncharged."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence

from scrapy.statscollectors import StatsCollector

from crawler import stats as names
from crawler.frontier.frontier import Frontier
from crawler.frontier.messages import Handle
from crawler.worker.outbox.lost_links import LostLinks
from crawler.worker.outbox.queues import drain


class Returns:
    """Queues of those that were not started, and of pages whose links found no room for too long."""

    def __init__(
        self,
        frontier: Frontier,
        stats: StatsCollector,
        links: LostLinks,
        count_stale: Callable[[Sequence[int]], None],
    ) -> None:
        self._frontier = frontier
        self._stats = stats
        self._lost_links = links
        self._count_stale = count_stale
        self.put_off: deque[Handle] = deque()
        self.given_back: deque[Handle] = deque()

    @property
    def queues(self) -> tuple[deque[Handle], ...]:
        """Both."""
        return self.put_off, self.given_back

    async def send(self) -> None:
        """Send all."""
        await drain(self.put_off, len(self.put_off), self._send_put_off)
        await drain(self.given_back, len(self.given_back), self._send_given_back)

    async def _send_put_off(self, batch: Sequence[Handle]) -> None:
        answers = await self._frontier.put_off(batch, delay_ms=self._frontier.config.lease_ms)
        self._stats.inc_value(names.PUT_OFF, sum(answers))
        self._count_stale(answers)
        self._lost_links.ended(batch)

    async def _send_given_back(self, batch: Sequence[Handle]) -> None:
        answers = await self._frontier.give_back(batch)
        self._stats.inc_value(names.GIVEN_BACK, sum(answers))
        self._lost_links.ended(batch)
