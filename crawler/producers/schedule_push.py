"""Pushes the chunks of a schedule into a run."""

from __future__ import annotations

import logging
from collections import Counter
from dataclasses import replace
from typing import Final

from crawler.errors import ShoalError
from crawler.frontier.frontier import Frontier
from crawler.frontier.messages import PushOutcome
from crawler.producers.lines import Chunk
from crawler.producers.rejects import Rejects
from crawler.producers.rows import Rows
from crawler.producers.run_setup import learn_tiers, share_scope
from crawler.producers.schedule import Schedule
from crawler.producers.sender import FULL, Sender
from crawler.producers.sitemap_push import ROBOTS, SitemapPusher, wanted_sitemaps
from crawler.routing.encoder import Encoder

SAID: Final = 20  # refused lines of a tick named in the log

logger = logging.getLogger(__name__)


class FullError(ShoalError):
    """The frontier takes no more for now."""


class CancelledRunError(ShoalError):
    """The run is cancelled and accepts nothing any more."""


def check_taken(outcomes: Counter[PushOutcome]) -> None:
    """Raise FullError or CancelledRunError if something was not accepted."""
    if outcomes[PushOutcome.CANCELLED]:
        raise CancelledRunError("the run was cancelled")
    if any(outcomes[outcome] for outcome in FULL):
        raise FullError("the frontier takes no more for now")


def sitemap_pusher(encoder: Encoder, schedule: Schedule, rejects: Rejects) -> SitemapPusher:
    """For a schedule whose source is sitemaps; raises ShoalError for a wrong pattern."""
    source = schedule.source
    sitemaps, sites = ([ROBOTS], source.values) if source.kind == "robots" else (source.values, ())
    wanted = wanted_sitemaps(sitemaps, sites, source.include, source.exclude, changed_only=source.changed_only)
    return SitemapPusher(encoder, replace(wanted, priority=schedule.priority, scope=schedule.scope), rejects)


class ChunkPusher:
    """Pushes chunks into the run of one *generation*; counts the outcomes of their lines."""

    def __init__(self, frontier: Frontier, encoder: Encoder, schedule: Schedule, generation: str) -> None:
        self._frontier = frontier
        self._encoder = encoder
        self._schedule = schedule
        self._generation = generation
        self._rejects = Rejects("", str, self._say)
        self.pushed = 0  # lines in the run, including those that were in it before

    @property
    def refused(self) -> int:
        """How many lines were refused."""
        return self._rejects.count

    async def prepare(self) -> None:
        """Publish the run's scope, and load what the fleet knows."""
        await learn_tiers(self._frontier, self._encoder)
        await share_scope(self._frontier, self._encoder, self._generation, self._schedule.scope)
        terms = self._generation, self._schedule.priority, self._rejects
        self._rows = Rows(self._encoder, *terms, tier=self._schedule.tier)  # only now: it asks once what the scope cuts

    async def push(self, chunk: Chunk) -> None:
        """Return once everything is stored; may be repeated. Raises FullError if the frontier has no room, and
        CancelledRunError."""
        async with Sender(self._frontier) as sender:
            for batch in self._rows.of(chunk):
                await sender.send(batch)
        check_taken(sender.outcomes)
        self.pushed += sender.outcomes.total()

    def _say(self, words: str) -> None:
        if self._rejects.count <= SAID:
            logger.warning("Schedule %s: %s", self._schedule.name, words)
