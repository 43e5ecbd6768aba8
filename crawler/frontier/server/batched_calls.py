"""Calls that come while one of their kind is on its way to Redis: they go together in the next."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Generic, TypeVar

Entry = TypeVar("Entry")


class BatchedCalls(Generic[Entry]):
    """Sends entries with *send*, which takes up to *most* and returns an answer for each; one call at a time.

    All entries of a call that fails get its error.
    """

    def __init__(self, send: Callable[[list[Entry]], Awaitable[Sequence[Any]]], most: int) -> None:
        self._send = send
        self._most = most
        self._waiting: deque[tuple[Entry, asyncio.Future[Any]]] = deque()
        self._sending: asyncio.Task[None] | None = None

    async def ask(self, entry: Entry) -> Any:
        """The answer to *entry*; raises what its call raises."""
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting.append((entry, future))
        if self._sending is None or self._sending.done():
            self._sending = asyncio.create_task(self._run())
        return await future

    async def _run(self) -> None:
        while self._waiting:
            some = [self._waiting.popleft() for _ in range(min(self._most, len(self._waiting)))]
            some = [(entry, future) for entry, future in some if not future.done()]  # nobody waits for the others
            try:
                answers = await self._send([entry for entry, _ in some]) if some else ()
                for (_, future), answer in zip(some, answers, strict=True):
                    if not future.done():
                        future.set_result(answer)
            except BaseException as error:
                for _, future in some:
                    if not future.done():
                        future.set_exception(error) if isinstance(error, Exception) else future.cancel()
                if not isinstance(error, Exception):
                    raise
