"""What this worker has to add to figures that the frontier keeps: what answers cost, and links that were cut.

The outbox sends them with each flush, before the endings of the pages that they are about.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from crawler.frontier.errors import FrontierUnavailableError
from crawler.frontier.frontier import Frontier


class PendingCounts:
    """Collected without waiting; `send` sends them. *filled* is called when there is something to send."""

    def __init__(self, frontier: Frontier, filled: Callable[[], None]) -> None:
        self._frontier = frontier
        self._filled = filled
        self._charges: dict[tuple[str, str, str], tuple[float, float, float]] = {}
        self._cuts: Counter[tuple[str, str, str]] = Counter()  # by spider, generation and rule

    def __len__(self) -> int:
        """Kinds of cuts that are not sent yet: a worker that has some is not done."""
        return len(self._cuts)

    @property
    def due(self) -> bool:
        """Whether there is anything to send."""
        return bool(self._cuts or self._charges)

    def charge(self, key: tuple[str, str, str], size: float, browser_ms: float, cost: float) -> None:
        """An answer came to so much, by host, spider and generation."""
        before = self._charges.get(key, (0.0, 0.0, 0.0))
        self._charges[key] = (before[0] + size, before[1] + browser_ms, before[2] + cost)
        self._filled()

    def cut(self, spider: str, generation: str, rule: str) -> None:
        """Count a link that is out of scope by *rule*; sent before its page ends."""
        self._cuts[spider, generation, rule] += 1
        self._filled()

    async def _send_charges(self) -> None:
        """Each shard's in a call of their own, so that none is charged again because another one failed."""
        shards = self._frontier.shards
        for shard in {shards.of_host(host) for host, _, _ in self._charges} - shards.away:
            charges = {key: self._charges.pop(key) for key in [*self._charges] if shards.of_host(key[0]) == shard}
            try:
                await self._frontier.budgets.charge(charges)
            except FrontierUnavailableError:
                for key, amounts in charges.items():
                    self.charge(key, *amounts)
                raise

    async def send(self) -> None:
        """Counted once even if Redis is away for a while; twice if its answer was lost."""
        await self._send_charges()
        if self._cuts:
            sent = self._cuts.copy()
            await self._frontier.scopes.count_cuts(sent)
            self._cuts -= sent
