"""The parts of the service. Add a part here: its routes read memory, its tasks run on the leader only, or on each
replica."""

from __future__ import annotations

import logging

from crawler.frontier.frontier import Frontier
from crawler.frontier.state.leader import Lead
from crawler.producers.ticks import TickRunner
from crawler.serve.figures import FleetFiguresPart
from crawler.serve.leadership import LeaderTask
from crawler.serve.schedules import ScheduleDispatcher
from crawler.serve.service import Part, ReplicaTask

logger = logging.getLogger(__name__)


def parts(frontier: Frontier, runner: TickRunner, figures: FleetFiguresPart) -> list[Part]:
    """All parts."""
    return [_schedules(frontier, runner), _runs(frontier), _figures(figures)]


def _schedules(frontier: Frontier, runner: TickRunner) -> Part:
    dispatcher = ScheduleDispatcher(frontier, runner)
    return Part(tasks=[LeaderTask("schedules", 1.0, dispatcher.keep)])


def _runs(frontier: Frontier) -> Part:
    async def settle(_: Lead) -> None:
        for run in await frontier.runs.settle():
            logger.info("%s", run.told())

    async def drop_spent(_: Lead) -> None:
        async for one in frontier.spent.drop():
            logger.warning("%s", one.told)

    return Part(tasks=[LeaderTask("ends of runs", 2.0, settle), LeaderTask("spent runs", 2.0, drop_spent)])


def _figures(figures: FleetFiguresPart) -> Part:
    every = figures.collector.every_seconds
    return Part(
        routes={"/metrics": figures.metrics, "/scaling": figures.scale},
        tasks=[LeaderTask("figures of the fleet", every, figures.look)],
        everywhere=[ReplicaTask("scaling signal", every, figures.look_for_scaling)],
    )
