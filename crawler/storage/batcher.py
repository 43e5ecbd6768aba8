"""Gathers what many coroutines want written into batches, and gives each its own result."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Hashable, Sequence
from typing import Generic, TypeVar

T = TypeVar("T")
R = TypeVar("R")

Flush = Callable[[Sequence[T]], Awaitable[Sequence[R | Exception]]]


class Batcher(Generic[T, R]):
    """Flushes at *size* entries or *seconds* after the first one waits, one flush at a time.

    Entries of one key are written in the order they came: the second waits for the next batch, because an
    unordered bulk write would reorder them. Bounded by its callers, each of which waits for its own result.
    """

    def __init__(self, flush: Flush[T, R], size: int, seconds: float) -> None:
        self._flush = flush
        self._size = size
        self._seconds = seconds
        self._waiting: deque[tuple[Hashable, T, asyncio.Future[R]]] = deque()
        self._some = asyncio.Event()
        self._full = asyncio.Event()
        self._closing = False
        self._task: asyncio.Task[None] | None = None

    async def submit(self, key: Hashable, entry: T) -> R:
        """The result of *entry*'s write, once it is done; raises what the flush says about this entry."""
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
        """Write what waits, then stop; takes as long as that takes."""
        self._closing = True
        self._some.set()
        self._full.set()
        if self._task is not None:
            await self._task

    async def _run(self) -> None:
        while True:
            await self._some.wait()
            if not self._waiting:
                return  # woken by close()
            await self._fill()
            await self._deliver(self._take())

    async def _fill(self) -> None:
        try:
            async with asyncio.timeout(self._seconds):
                await self._full.wait()
        except TimeoutError:
            return

    def _take(self) -> list[tuple[T, asyncio.Future[R]]]:
        batch: dict[Hashable, tuple[T, asyncio.Future[R]]] = {}
        later: list[tuple[Hashable, T, asyncio.Future[R]]] = []
        while self._waiting and len(batch) < self._size:
            key, entry, future = self._waiting.popleft()
            if key in batch:
                later.append((key, entry, future))
            else:
                batch[key] = (entry, future)
        self._waiting.extendleft(reversed(later))
        self._mark()
        return list(batch.values())

    def _mark(self) -> None:
        if not self._waiting and not self._closing:
            self._some.clear()
        if len(self._waiting) < self._size and not self._closing:
            self._full.clear()

    async def _deliver(self, batch: list[tuple[T, asyncio.Future[R]]]) -> None:
        try:
            results = await self._flush([entry for entry, _ in batch])
        except Exception as error:  # noqa: BLE001 - not swallowed: every caller of this batch gets it
            results = [error] * len(batch)
        for (_, future), result in zip(batch, results, strict=True):
            if future.done():  # its caller was cancelled; the write stands
                continue
            if isinstance(result, Exception):
                future.set_exception(result)
            else:
                future.set_result(result)
