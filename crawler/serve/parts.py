"""What the service does. A part is added here: its routes read memory, its tasks run on the leader alone."""

from __future__ import annotations

import logging

from crawler.frontier.frontier import Frontier
from crawler.frontier.state.leader import Lead
from crawler.producers.ticks import TickRunner
from crawler.serve.leadership import LeaderTask
from crawler.serve.schedules import ScheduleKeeper
from crawler.serve.service import Part

logger = logging.getLogger(__name__)


def parts(frontier: Frontier, runner: TickRunner) -> list[Part]:
    """All of them."""
    return [_schedules(frontier, runner), _runs(frontier)]


def _schedules(frontier: Frontier, runner: TickRunner) -> Part:
    keeper = ScheduleKeeper(frontier, runner)
    return Part(tasks=[LeaderTask("schedules", 1.0, keeper.keep)])


def _runs(frontier: Frontier) -> Part:
    async def settle(_: Lead) -> None:
        for run in await frontier.runs.settle():
            logger.info("%s", run.told())

    return Part(tasks=[LeaderTask("ends of runs", 2.0, settle)])
