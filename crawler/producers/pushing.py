"""Pushes the lines of a schedule into a run."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Sequence
from typing import Final

from crawler.errors import CodecError, MessageError, ShoalError
from crawler.frontier.frontier import Frontier
from crawler.frontier.messages import Message, PushOutcome
from crawler.frontier.state.tiers import Tiers
from crawler.meta import MIN_TIER
from crawler.producers.schedule import Schedule
from crawler.producers.sources import Line
from crawler.routing.encoder import Encoder
from crawler.routing.push_schema import parse_line

FULL: Final = (PushOutcome.REFUSED_FULL, PushOutcome.REFUSED_MEMORY)
SAID: Final = 5  # refused lines of a batch that are named in the log

logger = logging.getLogger(__name__)


class FullError(ShoalError):
    """The frontier takes no more for now."""


class LinePusher:
    """Turns lines into messages of one generation; counts what became of them."""

    def __init__(self, frontier: Frontier, encoder: Encoder, schedule: Schedule, generation: str) -> None:
        self._frontier = frontier
        self._encoder = encoder
        self._schedule = schedule
        self._generation = generation
        self._spider = encoder.spider if isinstance(encoder.spider, type) else type(encoder.spider)
        self.outcomes: Counter[PushOutcome] = Counter()
        self.refused = 0

    async def learn(self) -> None:
        """What the fleet knows of tiers, for the requests to go to the right queues at once."""
        tier_routing, tiers = self._encoder.tier_routing, Tiers(self._frontier.shards, keep_ms=0)
        tier_routing.hosts = {host: change.known for host, change in (await tiers.changes()).items()}
        tier_routing.served = await tiers.served(self._schedule.spider)

    async def push(self, lines: Sequence[Line]) -> None:
        """Push every good line; may be repeated. Raises FullError where the frontier has no room."""
        messages = [message for line in lines if (message := self._message(*line)) is not None]
        outcomes = Counter(await self._frontier.push(messages))
        self.outcomes += outcomes
        if full := [outcome for outcome in FULL if outcomes[outcome]]:
            raise FullError(f"the frontier takes no more for now ({full[0]})")

    def _message(self, where: str, line: str) -> Message | None:
        try:
            request = parse_line(line, self._spider, self._schedule.priority)
            if self._schedule.tier:
                request.meta.setdefault(MIN_TIER, self._schedule.tier)
            # Known URLs are refused even where the line says dont_filter: a push that is continued repeats some.
            return self._encoder.message(request, generation=self._generation, dedupe=True)
        except (MessageError, CodecError, ValueError) as error:
            self.refused += 1
            if self.refused <= SAID:
                logger.warning("Schedule %s: %s: %s", self._schedule.name, where, error)
            return None
