"""Collects writes of many coroutines into batches and gives each its own result."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Hashable, Sequence
from typing import Final, Generic, TypeVar

T = TypeVar("T")
R = TypeVar("R")

Flush = Callable[[Sequence[T]], Awaitable[Sequence[R | Exception]]]


IN_FLIGHT: Final = 2  # concurrent flushes: one is prepared here while the server works on the other


class Batcher(Generic[T, R]):
    """Flushes at *size* entries, or *seconds* after the first one arrived.

    Entries with the same key are written in order of arrival: the second waits for the first, because an unordered bulk
    write or concurrent flushes would reorder them. Bounded by its callers, each of which waits for its result.
    """

    def __init__(self, flush: Flush[T, R], size: int, seconds: float) -> None:
        self._flush = flush
        self._size = size
        self._seconds = seconds
        self._waiting: deque[tuple[Hashable, T, asyncio.Future[R]]] = deque()
        self._busy: set[Hashable] = set()  # keys in flight
        self._some = asyncio.Event()
        self._full = asyncio.Event()
        self._closing = False
        self._task: asyncio.Task[None] | None = None

    async def submit(self, key: Hashable, entry: T) -> R:
        """Write *entry* and return its result; raises the error that the flush has for this entry."""
        if self._closing:
            raise RuntimeError("this batcher is closed")
        if self._task is None:
            self._task = asyncio.create_task(self._run())
        future: asyncio.Future[R] = asyncio.get_running_loop().create_future()
        self._waiting.append((key, entry, future))
        self._some.set()
        if len(self._waiting) >= self._size:
            self._full.set()
        return await future

    async def close(self) -> None:
        """Write what is pending, then stop; not limited in time."""
        self._closing = True
        self._some.set()
        self._full.set()
        if self._task is not None:
            await self._task

    async def _run(self) -> None:
        running: set[asyncio.Task[None]] = set()
        while await self._some.wait() and self._waiting:  # it is empty only if close() woke us
            await self._fill()
            while len(running) == IN_FLIGHT or not (batch := self._take()):
                await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
            task = asyncio.create_task(self._deliver(batch))
            running.add(task)
            task.add_done_callback(running.discard)
        if running:
            await asyncio.wait(running)

    async def _fill(self) -> None:
        try:
            async with asyncio.timeout(self._seconds):
                await self._full.wait()
        except TimeoutError:
            return

    def _take(self) -> dict[Hashable, tuple[T, asyncio.Future[R]]]:
        batch: dict[Hashable, tuple[T, asyncio.Future[R]]] = {}
        later: list[tuple[Hashable, T, asyncio.Future[R]]] = []
        while self._waiting and len(batch) < self._size:
            key, entry, future = self._waiting.popleft()
            if key in batch or key in self._busy:
                later.append((key, entry, future))
            else:
                batch[key] = (entry, future)
        self._waiting.extendleft(reversed(later))
        self._busy.update(batch)
        self._mark()
        return batch

    def _mark(self) -> None:
        if not self._waiting and not self._closing:
            self._some.clear()
        if len(self._waiting) < self._size and not self._closing:
            self._full.clear()

    async def _deliver(self, batch: dict[Hashable, tuple[T, asyncio.Future[R]]]) -> None:
        try:
            results = await self._flush([entry for entry, _ in batch.values()])
        except Exception as error:  # noqa: BLE001 - not swallowed: every caller of this batch gets it
            results = [error] * len(batch)
        self._busy.difference_update(batch)
        for (_, future), result in zip(batch.values(), results, strict=True):
            if future.done():  # its caller was cancelled; the write stands
                continue
            if isinstance(result, Exception):
                future.set_exception(result)
            else:
                future.set_result(result)
