"""Pushes the chunks of a schedule into a run."""

from __future__ import annotations

import logging
from typing import Final

from crawler.errors import ShoalError
from crawler.frontier.frontier import Frontier
from crawler.frontier.messages import PushOutcome
from crawler.producers.lines import Chunk
from crawler.producers.push import learn_tiers
from crawler.producers.rejects import Rejects
from crawler.producers.rows import Rows
from crawler.producers.schedule import Schedule
from crawler.producers.sender import Sender
from crawler.routing.encoder import Encoder

SAID: Final = 20  # refused lines of a tick that the log names

logger = logging.getLogger(__name__)


class FullError(ShoalError):
    """The frontier takes no more for now."""


class CancelledRunError(ShoalError):
    """The run is cancelled: it takes nothing any more."""


class ChunkPusher:
    """Pushes chunks into the run of one *generation*; counts what became of their lines."""

    def __init__(self, frontier: Frontier, encoder: Encoder, schedule: Schedule, generation: str) -> None:
        self._frontier = frontier
        self._encoder = encoder
        self._schedule = schedule
        self._generation = generation
        self._rejects = Rejects("", str, self._say)
        self._rows = Rows(encoder, generation, schedule.priority, self._rejects, tier=schedule.tier)
        self.pushed = 0  # lines that are in the run, some of them because they were before

    @property
    def refused(self) -> int:
        """How many lines were bad."""
        return self._rejects.count

    async def prepare(self) -> None:
        """Make known to the fleet what holds for this run, and learn what the fleet knows."""
        await learn_tiers(self._frontier, self._encoder)
        if self._schedule.scope:
            await self._frontier.scopes.put(self._schedule.spider, self._generation, self._schedule.scope)
            self._encoder.scopes.learn(self._generation, self._schedule.scope)

    async def push(self, chunk: Chunk) -> None:
        """Return once all of it is stored; may be repeated. Raises FullError where the frontier has no room, and
        CancelledRunError."""
        async with Sender(self._frontier) as sender:
            for batch in self._rows.of(chunk):
                await sender.send(batch)
        if sender.outcomes[PushOutcome.CANCELLED]:
            raise CancelledRunError("the run was cancelled")
        if sender.full:
            raise FullError("the frontier takes no more for now")
        self.pushed += sender.outcomes.total()

    def _say(self, words: str) -> None:
        if self._rejects.count <= SAID:
            logger.warning("Schedule %s: %s", self._schedule.name, words)
