"""Sends rows to the frontier: some batches at once, while the next one is made."""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Sequence
from types import TracebackType
from typing import Final, Self

from crawler import tasks
from crawler.frontier.frontier import Frontier, Row
from crawler.frontier.messages import PushOutcome

IN_FLIGHT: Final = 3  # batches: Redis has always one to work on, and the calls of others come in between
FULL: Final = (PushOutcome.REFUSED_FULL, PushOutcome.REFUSED_MEMORY)


class Sender:
    """`async with` one; at its end all is sent, unless it ends with an error. Raises FrontierError: what of the batches
    in flight was stored is then unknown, and pushing it again is no harm."""

    def __init__(self, frontier: Frontier) -> None:
        self._frontier = frontier
        self._flying: deque[asyncio.Task[None]] = deque()
        self.outcomes: Counter[PushOutcome] = Counter()

    @property
    def full(self) -> bool:
        """Whether the frontier has refused some: it has no room."""
        return any(self.outcomes[outcome] for outcome in FULL)

    async def send(self, rows: Sequence[Row]) -> None:
        """Take *rows* on; waits while there are too many on the way."""
        if len(self._flying) >= IN_FLIGHT:
            await self._flying.popleft()
        self._flying.append(asyncio.create_task(self._send(rows)))
        await asyncio.sleep(0)

    async def flush(self) -> None:
        """Wait for all that is on the way."""
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
                task.cancelled() or task.exception()  # the error that ends this says enough
