"""Sends rows to the frontier, several batches at once, while the next one is prepared."""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Sequence
from types import TracebackType
from typing import Final, Self

from crawler.frontier.frontier import Frontier
from crawler.frontier.messages import PushOutcome
from crawler.frontier.pushing import Row
from crawler.utils import tasks

IN_FLIGHT: Final = 3  # batches: Redis always has one to work on, and others' calls get in between
FULL: Final[dict[PushOutcome, str]] = {
    PushOutcome.REFUSED_FULL: "it holds as many requests as FRONTIER_QUEUE_LIMIT allows",
    PushOutcome.REFUSED_MEMORY: "Redis uses more of its maxmemory than FRONTIER_MEMORY_LIMIT allows",
}


def takes_no_more(outcome: PushOutcome) -> str:
    """Why the frontier has refused some, as a person reads it; *outcome* is one of FULL."""
    return f"the frontier takes no more ({outcome}): {FULL[outcome]}"


class Sender:
    """Use with `async with`; on exit everything is sent, except after an error. Raises FrontierError: then it is
    unknown which batches in flight were stored, and pushing them again is harmless."""

    def __init__(self, frontier: Frontier) -> None:
        self._frontier = frontier
        self._flying: deque[asyncio.Task[None]] = deque()
        self.outcomes: Counter[PushOutcome] = Counter()

    @property
    def full(self) -> bool:
        """Whether the frontier has refused some for lack of room."""
        return any(self.outcomes[outcome] for outcome in FULL)

    @property
    def stopped(self) -> bool:
        """Whether it makes no sense to send more: there is no room, or the run was cancelled."""
        return self.full or bool(self.outcomes[PushOutcome.CANCELLED])

    async def send(self, rows: Sequence[Row]) -> None:
        """Send *rows*; waits while too many batches are in flight."""
        if len(self._flying) >= IN_FLIGHT:
            await self._flying.popleft()
        self._flying.append(asyncio.create_task(self._send(rows)))
        await asyncio.sleep(0)

    async def flush(self) -> None:
        """Wait for all batches in flight."""
        while self._flying:
            await self._flying.popleft()

    async def _send(self, rows: Sequence[Row]) -> None:
        self.outcomes.update(await self._frontier.push_rows(rows))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if error is None:
                await self.flush()
        finally:
            await tasks.end(*self._flying)
            for task in self._flying:
                task.cancelled() or task.exception()  # the first error is reported
