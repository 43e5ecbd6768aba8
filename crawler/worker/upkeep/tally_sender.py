"""Tells Redis what hosts answered a worker and which fields its items have, for the figures of the fleet."""

from __future__ import annotations

from functools import partial

from crawler.counting.tallies import Tallies
from crawler.frontier.errors import FrontierError
from crawler.frontier.runs.coverage import Coverage
from crawler.frontier.state.domains import Domains


class TallySender:
    """What Redis does not take is kept, and sent the next time."""

    def __init__(self, tallies: Tallies, domains: Domains, coverage: Coverage, spider: str) -> None:
        self._ways = (
            (tallies.answers, domains.add),
            (tallies.fields, partial(coverage.add, spider)),
        )

    async def send(self) -> None:
        """Send what was counted since the last call."""
        for tally, tell in self._ways:
            counts = tally.take()
            try:
                await tell(counts)
            except FrontierError:
                tally.give_back(counts)
                raise
