"""Requests that are lost because what Redis held of them was damaged."""

from __future__ import annotations

import logging

from scrapy.statscollectors import StatsCollector

from crawler import stats as names
from crawler.frontier.inspection.inspection import Inspection
from crawler.utils.plural import several

logger = logging.getLogger(__name__)


class DamageWatch:
    """Counts those of *spider* that are lost while this worker crawls: its crawl is not complete."""

    def __init__(self, inspection: Inspection, stats: StatsCollector, spider: str) -> None:
        self._inspection = inspection
        self._stats = stats
        self._spider = spider
        self._before = 0

    async def begin(self) -> None:
        """What was lost until now does not count."""
        self._before = await self._count()

    async def tell(self) -> None:
        """Say what was lost since."""
        if (lost := await self._count() - self._before) > 0:
            self._stats.inc_value(names.DAMAGED, lost)
            text = "Since this worker began %s lost, as what Redis held of them was damaged: push them again. %s"
            were = f"{several(lost, 'request')} {'was' if lost == 1 else 'were'}"
            logger.error(text, were, "`scrapy status` names what was moved away")

    async def _count(self) -> int:
        return (await self._inspection.stats(self._spider)).damaged
