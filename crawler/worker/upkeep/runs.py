"""A worker's part in runs: joins one, reports its start-URLs key, and ends finished ones."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any, Final

from scrapy.crawler import Crawler

from crawler import stats as names
from crawler.frontier.joining import Joined
from crawler.frontier.run_record import Run
from crawler.frontier.runs.runs import Runs
from crawler.frontier.runs.spent_runs import SpentRuns
from crawler.frontier.state.seeds import Seeds
from crawler.utils import tasks

logger = logging.getLogger(__name__)

LAST_SECONDS: Final = 5.0  # for what is under way as the worker closes


class WorkerRuns:
    """One worker of the fleet checks at a time: ending runs costs a few calls a second, for any size of fleet."""

    def __init__(self, crawler: Crawler, runs: Runs, spent: SpentRuns, seeds: Seeds | None) -> None:
        self._crawler = crawler
        self._runs = runs
        self._spent = spent
        self._seeds = seeds
        self._under_way: dict[str, asyncio.Task[None]] = {}

    async def begin(self, joined: Joined) -> Run | None:
        """The run of this start; None where the first request that is accepted begins one: for a spider that waits for
        start URLs, and in a crawl that others have opened and that has no run under way."""
        assert self._crawler.spider is not None
        name = self._crawler.spider.name
        if self._seeds is not None:
            await self._runs.plain.serves(name, self._seeds.key, self._seeds.kind)
            return None
        await self._runs.plain.serves(name, "", "")
        if not joined.opened:
            return await self._runs.plain.begin(name, joined.generation, accepted=0)
        return await self._runs.begin(name, joined.generation)

    async def look(self, seconds: float) -> None:
        """End finished runs, unless another worker has checked in the last *seconds*."""
        await self._shielded("look", self._settle(turn_ms=max(1, round(seconds * 1000))))

    async def drop_spent(self) -> None:
        """Drop what is left of runs that have spent their own budget, unless another worker looks."""
        await self._shielded("drop", self._drop())

    async def last(self, worker: str) -> None:
        """End finished runs before this *worker* signs off, even if another one has just checked."""
        if going_on := list(self._under_way.values()):
            await asyncio.wait(going_on, timeout=LAST_SECONDS)
            await tasks.end(*going_on)  # another worker drops the rest
            await asyncio.gather(*going_on, return_exceptions=True)  # what failed is asked again
        await self._settle(leaving=worker)

    async def _shielded(self, name: str, work: Coroutine[Any, Any, None]) -> None:
        """Go on when this is cancelled, as the closing worker does: a run ends once, and what is left of it is dropped
        once, so that only who did it can tell."""
        self._under_way[name] = asyncio.create_task(work)
        await asyncio.shield(self._under_way[name])

    async def _drop(self) -> None:
        async for one in self._spent.drop():
            self._crawler.stats.inc_value(names.BUDGET_DROPPED, one.requests)
            logger.warning("%s", one.told)

    async def _settle(self, *, turn_ms: int = 0, leaving: str = "") -> None:
        for run in await self._runs.settle(turn_ms=turn_ms, leaving=leaving):
            self._crawler.stats.inc_value(names.RUNS_ENDED)
            logger.info("%s", run.told())
