"""What a worker does for runs: takes part in one, says where its start URLs come from, and ends what is over."""

from __future__ import annotations

import logging

from scrapy.crawler import Crawler

from crawler import stats as names
from crawler.frontier.state.run_record import Run
from crawler.frontier.state.runs import Runs
from crawler.frontier.state.seeds import Seeds

logger = logging.getLogger(__name__)


class RunKeeper:
    """Of all workers one looks at a time: what is over costs the fleet a few calls a second, however large it is."""

    def __init__(self, crawler: Crawler, runs: Runs, seeds: Seeds | None, seconds: float) -> None:
        self._crawler = crawler
        self._runs = runs
        self._seeds = seeds
        self._turn_ms = max(1, round(seconds * 1000))

    async def begin(self, generation: str) -> Run | None:
        """The run of this start; None for a spider that waits for start URLs: their first one begins a run."""
        assert self._crawler.spider is not None
        name = self._crawler.spider.name
        if self._seeds is not None:
            await self._runs.plain.serves(name, self._seeds.key, self._seeds.kind)
            return None
        await self._runs.plain.serves(name, "", "")
        return await self._runs.begin(name, generation)

    async def look(self) -> None:
        """End what is over, unless another worker has looked a moment ago."""
        self._tell(await self._runs.settle(turn_ms=self._turn_ms))

    async def last(self, worker: str) -> None:
        """The same before *worker*, which this is, leaves, whoever else has looked."""
        self._tell(await self._runs.settle(leaving=worker))

    def _tell(self, ended: list[Run]) -> None:
        assert self._crawler.stats is not None
        for run in ended:
            self._crawler.stats.inc_value(names.RUNS_ENDED)
            logger.info("%s", run.told())
