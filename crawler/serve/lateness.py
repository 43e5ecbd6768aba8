"""By how many seconds schedules are overdue."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from crawler.frontier.state.schedules import Tick, Timetable
from crawler.metrics.fleet import ScheduleFigures
from crawler.policy.schedules import following
from crawler.producers.schedule import Schedule, ScheduleError
from crawler.producers.ticks import Progress


class Lateness:
    """Since when a schedule's oldest due tick stands still: since it was due, or since more of it was pushed last.

    A paused schedule is never late, and one that cannot be read is since its last tick. A tick under way that is looked
    at for the first time (a new leader's first look) counts from when it was due.
    """

    def __init__(self) -> None:
        self._steps: dict[Tick, tuple[Progress, float]] = {}  # how far each tick is, and when it got there

    def of(self, seen: Timetable, unfinished: Collection[tuple[str, str]]) -> list[ScheduleFigures]:
        """How late each is. *unfinished*: spider and name of the runs that are not over."""
        now, late = seen.clock_ms / 1000, dict[str, float]()
        self._steps = {tick: self._step(tick, now) for tick in seen.ticks}
        schedules = {name: _read(name, text) for name, text in seen.definitions.items()}
        for name, schedule in schedules.items():
            due = _due(schedule, seen.cursors.get(name, ""))
            late[name] = max(0.0, now - due) if due is not None else 0.0
        for tick, (progress, at) in self._steps.items():
            if tick.name in late and not _waits(schedules[tick.name], progress, unfinished):
                late[tick.name] = max(late[tick.name], now - at)
        return [ScheduleFigures(name, seconds) for name, seconds in late.items()]

    def _step(self, tick: Tick, now: float) -> tuple[Progress, float]:
        progress = replace(Progress.read(tick.state), error="")  # that it is tried again is no progress
        before = self._steps.get(tick, (progress, float(tick.due_s)))
        return before if before[0] == progress else (progress, now)


def _read(name: str, text: str) -> Schedule | None:
    try:
        return Schedule.read(name, text)
    except ScheduleError:  # the dispatcher logs it
        return None


def _due(schedule: Schedule | None, cursor: str) -> int | None:
    """When it was due after *cursor*; None if it is not to run again. Nobody knows of one that cannot be read."""
    if not cursor.isdecimal():
        return None
    if schedule is None:
        return int(cursor)
    return None if schedule.paused else following(schedule.timing, int(cursor))


def _waits(schedule: Schedule | None, progress: Progress, unfinished: Collection[tuple[str, str]]) -> bool:
    """Whether a tick that has no run yet is to wait for the run before, or to be skipped, as its schedule says."""
    if schedule is None or progress.run or schedule.overlap not in {"queue", "skip"}:
        return False
    return (schedule.spider, schedule.name) in unfinished
