"""What the service does. A part is added here: its routes read memory, its tasks run on the leader alone."""

from __future__ import annotations

from crawler.frontier.frontier import Frontier
from crawler.producers.ticks import TickRunner
from crawler.serve.leadership import LeaderTask
from crawler.serve.schedules import ScheduleKeeper
from crawler.serve.service import Part


def parts(frontier: Frontier, runner: TickRunner) -> list[Part]:
    """All of them."""
    return [_schedules(frontier, runner)]


def _schedules(frontier: Frontier, runner: TickRunner) -> Part:
    keeper = ScheduleKeeper(frontier, runner)
    return Part(tasks=[LeaderTask("schedules", 1.0, keeper.keep)])
