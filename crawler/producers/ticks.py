"""Runs a tick of a schedule: opens its run, pushes its source, seals it. Whoever leads next goes on where it ended."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import asdict, dataclass, replace
from dataclasses import fields as dataclass_fields
from datetime import UTC, datetime
from typing import Any, Final, Self

from scrapy.settings import BaseSettings

from crawler.frontier.frontier import Frontier
from crawler.frontier.run_record import Overlap, Run, RunSkippedError
from crawler.frontier.server.drops import same_server
from crawler.frontier.state.leader import DeposedError, Lead
from crawler.frontier.state.schedules import Tick
from crawler.policy.schedules import following
from crawler.producers.rejects import Rejects
from crawler.producers.schedule import Schedule
from crawler.producers.schedule_chunks import placed_chunks, still_valid
from crawler.producers.schedule_push import CancelledRunError, ChunkPusher, check_taken, sitemap_pusher
from crawler.routing.encoder import Encoder

PUSHES: Final = 4  # at once

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a tick is, as the next leader needs it. *pushed*, *refused*: lines before *position*, also those that
    stand there twice. *error*: why it is tried again."""

    run: str = ""
    position: str = ""
    pushed: int = 0
    refused: int = 0
    error: str = ""

    @classmethod
    def read(cls, text: str) -> Self:
        """What was stored; from the beginning where that cannot be read: nothing is pushed twice into a run."""
        try:
            found = cls(**json.loads(text))
        except (ValueError, TypeError, RecursionError):
            return cls()
        kinds = (type(getattr(found, one.name)) is type(one.default) for one in dataclass_fields(cls))
        return found if all(kinds) else cls()

    def text(self) -> str:
        """As it is stored."""
        return json.dumps({name: value for name, value in asdict(self).items() if value})


class TickRunner:
    """One tick at a time and schedule; raises DeposedError where another replica leads, ShoalError for what may end."""

    def __init__(self, frontier: Frontier, encoder_of: Callable[[str], Encoder], settings: BaseSettings) -> None:
        self._frontier = frontier
        self._encoder_of = encoder_of
        self._settings = settings
        self._room = asyncio.Semaphore(PUSHES)

    async def run(self, tick: Tick, schedule: Schedule | None, lead: Lead) -> None:
        """From where it is to its end. May be repeated, by several replicas at once too: so it is where Redis has
        restarted, and may have lost chunks beside what is noted of them."""
        with same_server(self._frontier.client):
            await self._run(tick, schedule, lead)

    async def _run(self, tick: Tick, schedule: Schedule | None, lead: Lead) -> None:
        progress = Progress.read(tick.state)
        if schedule is None:
            await self._end(tick, lead, progress, "its schedule was removed")
            return
        try:
            run = await self._open(tick, schedule, lead)
        except RunSkippedError as error:
            await self._end(tick, lead, progress, f"skipped: {error}")
            return
        if progress.run != run.id:
            progress = Progress(run=run.id)
            noted = await self._noted(tick, progress, lead)
            if noted is None:
                await self._frontier.runs.seal_seen(run)  # opened after its first, which was over, was forgotten
                return
            tick = noted
        is_cancelled = bool(run.cancelled_ms)
        if run.state == "open" and not is_cancelled:
            try:
                async with self._room:
                    tick, progress = await self._push(tick, schedule, run, progress, lead)
            except CancelledRunError:
                tick, is_cancelled = await self._now(tick), True
                progress = Progress.read(tick.state)
        why = "its run was cancelled" if is_cancelled else ""
        await self._end(tick, lead, progress, why, is_left_open=schedule.source.is_sitemaps and progress.pushed > 0)

    async def note(self, tick: Tick, error: str, lead: Lead) -> None:
        """Keep why it is tried again, for `scrapy schedule show`. Raises DeposedError."""
        now = await self._now(tick)
        progress = replace(Progress.read(now.state), error=error)
        await self._frontier.schedules.save(lead.token, now, progress.text())

    async def give_up(self, tick: Tick, error: str, lead: Lead) -> None:
        """End it as far as it is. Raises DeposedError."""
        now = await self._now(tick)
        await self._end(now, lead, Progress.read(now.state), f"given up: {error}")

    async def _now(self, tick: Tick) -> Tick:
        """It as far as it is."""
        found = [one for one in (await self._frontier.schedules.look()).ticks if one == tick]
        return found[0] if found else replace(tick, state="{}")

    async def _noted(self, tick: Tick, progress: Progress, lead: Lead) -> Tick | None:
        """Note the run; None when somebody has ended the tick. Raises DeposedError while it is another leader's."""
        schedules = self._frontier.schedules
        try:
            return await schedules.save(lead.token, tick, progress.text())
        except DeposedError:
            if tick in (await schedules.look()).ticks:
                raise
            return None

    async def _open(self, tick: Tick, schedule: Schedule, lead: Lead) -> Run:
        """The run of *tick*; raises RunSkippedError where the last one is in its way."""
        first: Overlap = "skip" if schedule.overlap == "queue" else schedule.overlap
        try:
            return await self._opened(tick, schedule, first, lead)
        except RunSkippedError as error:
            if not await self._cancel_stuck(schedule, error.run) and schedule.overlap == "skip":
                raise
        return await self._opened(tick, schedule, schedule.overlap, lead)

    async def _opened(self, tick: Tick, schedule: Schedule, overlap: Overlap, lead: Lead) -> Run:
        lead.check()
        producer = f"schedule {schedule.name}"
        return await self._frontier.runs.open(
            schedule.spider, name=schedule.name, fresh=True, producer=producer, key=tick.id, overlap=overlap
        )

    async def _cancel_stuck(self, schedule: Schedule, run: Run | None) -> bool:
        """Cancel *run* where an earlier tick left it to its sitemaps and one of them could not be read: nothing would
        end it, and it must not count as finished."""
        if run is None or run.state != "open" or run.producer != f"schedule {schedule.name}":
            return False
        counted = await self._frontier.runs.get(run.id)
        if not schedule.source.is_sitemaps or counted is None or counted.counts.pending or not counted.counts.accepted:
            return False
        words = "Schedule %s: run %s is cancelled: a sitemap of it could not be read (`scrapy dead list %s`)"
        logger.warning(words, schedule.name, run.id, schedule.spider)
        await self._frontier.runs.cancel(run.id, run.opened_ms)
        return True

    async def _push(
        self, tick: Tick, schedule: Schedule, run: Run, progress: Progress, lead: Lead
    ) -> tuple[Tick, Progress]:
        """Push what is left; raises ShoalError where it is to be tried again."""
        if schedule.source.is_sitemaps:
            return tick, await self._push_sitemaps(schedule, run, progress, lead)
        pusher = ChunkPusher(self._frontier, self._encoder_of(schedule.spider), schedule, run.generation)
        await pusher.prepare()
        if progress.position and not still_valid(schedule.source, progress.position):
            progress = Progress(run=run.id)
        days = _days(schedule, tick)
        source = placed_chunks(schedule.source, schedule.spider, self._settings, progress.position, days=days)
        now = progress
        async with aclosing(source) as found:
            async for chunk, position in found:
                lead.check()
                await pusher.push(chunk)
                pushed, refused = progress.pushed + pusher.pushed, progress.refused + pusher.refused
                now = replace(progress, position=position, pushed=pushed, refused=refused, error="")
                if (saved := await self._frontier.schedules.save(lead.token, tick, now.text())) is None:
                    break  # somebody else has ended it
                tick = saved
        return tick, now

    async def _push_sitemaps(self, schedule: Schedule, run: Run, progress: Progress, lead: Lead) -> Progress:
        rejects = Rejects("", str, logger.warning)
        pusher = sitemap_pusher(self._encoder_of(schedule.spider), schedule, rejects)
        roots = await pusher.roots()
        lead.check()
        await pusher.push_roots(self._frontier, roots, run.generation)
        check_taken(pusher.outcomes)
        return replace(progress, pushed=len(roots), refused=rejects.count, error="")

    async def _end(self, tick: Tick, lead: Lead, progress: Progress, why: str, *, is_left_open: bool = False) -> None:
        lead.check()
        if progress.run and not is_left_open:
            await self._seal(tick, progress.run)
        outcome: dict[str, Any] = {"epoch": tick.epoch, "ended": datetime.now(UTC).isoformat(timespec="seconds")}
        outcome |= {"run": progress.run, "pushed": progress.pushed, "refused": progress.refused, "words": why}
        if await self._frontier.schedules.end(lead.token, tick, json.dumps(outcome)):
            told = f"run {progress.run}, {progress.pushed} pushed, {progress.refused} refused" if progress.run else ""
            words = "Schedule %s: tick %s is over: %s"
            logger.info(words, tick.name, tick.epoch, "; ".join(filter(None, (told, why))))

    async def _seal(self, tick: Tick, run_id: str) -> None:
        """Not where it was forgotten, as it was over long ago, nor another's that was given its number."""
        run = await self._frontier.runs.get(run_id)
        if run is not None and run.key == tick.id:
            await self._frontier.runs.seal_seen(run)


def _days(schedule: Schedule, tick: Tick) -> float:
    """The time from *tick* to the next one, at most a week."""
    after = following(schedule.timing, tick.due_s)
    return min(7.0, (after - tick.due_s) / 86_400) if after else 1.0
