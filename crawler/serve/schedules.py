"""Schedules, as the leader keeps them: claims the epochs that are due, and runs their ticks beside each other."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from time import monotonic
from typing import Final

from crawler.errors import ShoalError
from crawler.frontier.errors import FrontierUnavailableError
from crawler.frontier.frontier import Frontier
from crawler.frontier.state.leader import DeposedError, Lead
from crawler.frontier.state.schedules import MOST, Tick, Timetable
from crawler.policy.schedules import decide, following
from crawler.producers.schedule import Schedule, ScheduleError
from crawler.producers.ticks import TickRunner
from crawler.utils import tasks

LOOK_SECONDS: Final = 1.0
WAITING: Final = 100  # ticks of one schedule; beyond that its epochs are decided on later
RETRY_SECONDS: Final = 5.0  # after a tick failed for the first time, twice as long after each further time
RETRY_MOST_SECONDS: Final = 300.0
TRIES: Final = 5  # of a tick that others wait behind
AHEAD_S: Final = 7 * 86_400  # an epoch that far in the future was decided by a clock that was wrong

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class _Failure:
    """A tick that is tried again."""

    times: int
    at: float  # when it is


class ScheduleDispatcher:
    """What the leader does about schedules. A tick that fails is tried again, until others of its schedule wait too."""

    def __init__(self, frontier: Frontier, runner: TickRunner, clock: Callable[[], float] = monotonic) -> None:
        self._schedules = frontier.schedules
        self._runner = runner
        self._clock = clock
        self._read: dict[str, tuple[str, Schedule | None]] = {}  # by name: what was read, and what that is
        self._next: dict[str, tuple[str, int, int | None]] = {}  # by name: text, cursor, the epoch that follows
        self._failures: dict[Tick, _Failure] = {}

    async def keep(self, lead: Lead) -> None:
        """Until the lease is over, or another leads; what is under way is then left to that one."""
        running: dict[Tick, asyncio.Task[None]] = {}  # one of each schedule at a time
        try:
            while lead.holds():
                seen = await self._schedules.look()
                await _end_lost(running, seen)
                is_all = await self.claim(seen, lead)
                running = {tick: task for tick, task in running.items() if not task.done()}
                busy = {tick.name for tick in running}
                for tick in self.next_ticks(seen):
                    if tick.name not in busy:
                        running[tick] = asyncio.create_task(self._run(tick, seen, lead))
                await asyncio.sleep(LOOK_SECONDS if is_all else 0)
        finally:
            await tasks.end(*running.values())

    async def claim(self, seen: Timetable, lead: Lead) -> bool:
        """Claim what is due; False when there is more to do at once. Raises DeposedError."""
        now, is_all = seen.clock_ms // 1000, True
        waiting = {name: len(list(ticks)) for name, ticks in groupby(sorted(tick.name for tick in seen.ticks))}
        for name, text in seen.definitions.items():
            schedule = self.schedule(name, text)
            if schedule is None or schedule.paused or waiting.get(name, 0) >= WAITING:
                continue
            before = seen.cursors.get(name, "")
            if not before.isdecimal() or int(before) > now + AHEAD_S:  # lost, or of a clock that was wrong
                await self._schedules.claim(lead.token, name, text, before, now, 0, ())
            elif self._is_due(name, text, schedule, int(before), now):
                decision = decide(schedule.timing, schedule.missed, int(before), now)
                row = (decision.cursor, decision.passed_over, decision.run)
                if await self._schedules.claim(lead.token, name, text, before, *row) and decision.passed_over:
                    words = "Schedule %s: %d ticks were missed and are passed over (missed: %s)"
                    logger.warning(words, name, decision.passed_over, schedule.missed)
                is_all = is_all and not (decision.more or decision.run)
        return is_all

    def _is_due(self, name: str, text: str, schedule: Schedule, cursor: int, now: int) -> bool:
        known = self._next.get(name)
        if known is None or known[:2] != (text, cursor):
            known = self._next[name] = (text, cursor, following(schedule.timing, cursor))
        return known[2] is not None and known[2] <= now

    def schedule(self, name: str, text: str) -> Schedule | None:
        """What *text* says; None, and one line in the log, where it cannot be read."""
        if (known := self._read.get(name)) is None or known[0] != text:
            if len(self._read) > 2 * MOST:  # most of them are removed
                self._read.clear()
                self._next.clear()
            schedule = None
            try:
                schedule = Schedule.read(name, text)
            except ScheduleError as error:
                logger.error("%s", error)
            known = self._read[name] = (text, schedule)
        return known[1]

    def next_ticks(self, seen: Timetable) -> list[Tick]:
        """Of each schedule the tick that is to be run first, but for those that wait to be tried again."""
        self._failures = {tick: self._failures[tick] for tick in seen.ticks if tick in self._failures}
        by_name = groupby(sorted(seen.ticks, key=attrgetter("order")), key=attrgetter("name"))
        first = [next(ticks) for _, ticks in by_name]
        return [tick for tick in first if tick not in self._failures or self._failures[tick].at <= self._clock()]

    async def _run(self, tick: Tick, seen: Timetable, lead: Lead) -> None:
        text = seen.definitions.get(tick.name)
        schedule = None if text is None else self.schedule(tick.name, text)
        if text is not None and schedule is None:
            return
        try:
            await self._runner.run(tick, schedule, lead)
        except DeposedError:
            logger.info("Schedule %s: who leads goes on with tick %s, from where Redis has it", tick.name, tick.epoch)
        except ShoalError as error:
            await self._fail(tick, error, seen, lead)
        except Exception as error:
            logger.exception("Schedule %s: tick %s failed", tick.name, tick.epoch)
            await self._fail(tick, error, seen, lead)

    async def _fail(self, tick: Tick, error: Exception, seen: Timetable, lead: Lead) -> None:
        times = self._failures[tick].times + 1 if tick in self._failures else 1
        seconds = min(RETRY_MOST_SECONDS, RETRY_SECONDS * 2 ** (times - 1))
        self._failures[tick] = _Failure(times, self._clock() + seconds)
        words = "Schedule %s: tick %s is tried again in %.0f s: %s"
        logger.warning(words, tick.name, tick.epoch, seconds, error)
        is_last = not any(other.name == tick.name and other != tick for other in seen.ticks)
        with suppress(DeposedError, FrontierUnavailableError):
            if is_last or times < TRIES:
                await self._runner.note(tick, str(error), lead)
            else:
                await self._runner.give_up(tick, str(error), lead)


async def _end_lost(running: Mapping[Tick, asyncio.Task[None]], seen: Timetable) -> None:
    """End the tasks of ticks that are no more: most are at their end, but one whose schedule was removed may wait for
    another run, and would open its own."""
    if lost := [task for tick, task in running.items() if tick not in seen.ticks]:
        await asyncio.wait(lost, timeout=LOOK_SECONDS)
        await tasks.end(*lost)
