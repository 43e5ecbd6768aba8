"""A worker's periodic duties: which of its parts does what, and how often."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from scrapy.settings import BaseSettings

from crawler import config
from crawler.errors import ServiceError
from crawler.frontier.errors import FrontierUnavailableError
from crawler.worker.worker import Worker

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class MaintenanceConfig:
    """How often, in seconds."""

    seeds: float
    tiers: float
    heartbeat: float = 5.0
    rules: float = 2.0
    tidy: float = 60.0
    idle: float = 1.0
    control: float = 1.0
    stats: float = 2.0  # a worker that is killed loses what it counted since the last time
    room: float = 1.0
    shards: float = 1.0

    @classmethod
    def from_settings(cls, settings: BaseSettings) -> MaintenanceConfig:
        """Raises ConfigError for a value out of range."""
        poll = config.number(settings, "FRONTIER_POLL_SECONDS")
        return cls(
            seeds=poll,
            idle=min(1.0, 2 * poll),
            tiers=config.number(settings, "TIER_REFRESH_SECONDS"),
        )


class Maintenance:
    """Runs each duty of *worker* at its interval; an unreachable Redis delays them all and breaks none."""

    def __init__(self, worker: Worker, intervals: MaintenanceConfig) -> None:
        self._worker = worker
        self._intervals = intervals

    async def first(self) -> None:
        """Runs before the first lease."""
        worker = self._worker
        await worker.heartbeat.beat()
        await worker.heartbeat.compare_databases()
        await worker.frontier.rules.state()
        await worker.budgets.state()
        await worker.tiers.refresh()
        await worker.generation.ask()
        await worker.damage.begin()

    async def last(self) -> None:
        """Runs after the last lease: sign this worker off."""
        worker = self._worker
        try:
            await worker.tallies.send()
            await worker.tiers.refresh()
            await worker.heartbeat.beat()
            await worker.damage.tell()
            await worker.run_stats.tell()
            await worker.runs.last(worker.name)
            await worker.frontier.workers.leave(worker.name)
        except ServiceError as error:  # also where another release's data have taken the place of ours
            logger.warning("Could not sign off (%s): this worker's heartbeat will expire", error)

    def begin(self) -> None:
        """Begin all duties, as tasks of the worker: each has ended before it signs off, or a heartbeat might follow."""
        worker, every = self._worker, self._intervals
        frontier = worker.frontier
        duties: tuple[tuple[float, Callable[[], Awaitable[Any]]], ...] = (
            (every.seeds, worker.seeds.read),
            (frontier.config.renew_seconds, worker.renewal.renew),
            (every.heartbeat, worker.heartbeat.beat),
            (every.heartbeat, worker.tallies.send),
            (every.heartbeat, worker.feeds.keep),
            (every.stats, worker.run_stats.tell),
            (every.rules, frontier.rules.state),
            (every.tiers, worker.tiers.refresh),
            (every.tidy, worker.generation.ask),
            (every.tidy, worker.budgets.state),
            (every.room, self._look_for_room),
            (every.shards, frontier.seek),
            (every.tidy, frontier.generations.tidy),
            (every.control, self._obey),
            (every.control, frontier.shares.turn),
            (every.tidy, self._clear),
            (every.idle, worker.idleness.look),
            (every.idle, partial(worker.runs.look, every.idle)),
            (every.idle, worker.runs.drop_spent),
        )
        for seconds, duty in duties:
            worker.tasks.spawn(self._every(seconds, duty))

    async def _every(self, seconds: float, duty: Callable[[], Awaitable[None]]) -> None:
        worker = self._worker
        while True:
            await asyncio.sleep(seconds)
            try:
                await duty()
                if worker.outage.on:
                    await worker.heartbeat.beat()  # a write: a server that only serves reads is not back
            except FrontierUnavailableError as error:
                worker.idleness.unknown()
                await worker.outage.wait(error)
            else:
                worker.outage.over()

    async def _look_for_room(self) -> None:
        outbox = self._worker.outbox
        if await self._worker.room.look(refused=outbox.new.slows):
            outbox.offer_again()
        await self._worker.heartbeat.beat_if_urgent()

    async def _obey(self) -> None:
        """What operators have said since: leases in hand that may not go out are given back."""
        said = await self._worker.frontier.control.said()
        for held in self._worker.book.obey(said):
            self._worker.outbox.give_back(held.handle)

    async def _clear(self) -> None:
        """What the operator's own command has left undone."""
        if await self._worker.frontier.runs.clear():
            self._worker.prefetcher.wake()
