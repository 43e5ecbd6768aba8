"""Queues that lose nothing: an entry leaves only once its batch was sent."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from itertools import islice
from typing import Any, TypeVar

from crawler.frontier.messages import Handle
from crawler.frontier.server.shards import BATCH

T = TypeVar("T")
Start = tuple[Handle, asyncio.Future[bool]]  # a lease, and who waits to hear whether it may start


async def drain(queue: deque[T], count: int, send: Callable[[Sequence[T]], Awaitable[None]]) -> None:
    """Send the first *count* entries, BATCH at once; raises what *send* raises, and keeps that batch."""
    while count > 0:
        batch = list(islice(queue, min(count, BATCH)))
        await send(batch)
        drop(queue, len(batch))
        count -= len(batch)


def drop(queue: deque[Any], count: int) -> None:
    """Remove the first *count* entries."""
    for _ in range(count):
        queue.popleft()


def resolve(batch: Sequence[Start], answers: Sequence[bool]) -> None:
    """Tell those who wait whether each lease is still ours."""
    for (_, future), ours in zip(batch, answers, strict=True):
        if not future.done():  # its request may have been cancelled meanwhile
            future.set_result(ours)


async def both(one: Awaitable[None], other: Awaitable[None]) -> None:
    """Run both to their end, then raise the first error."""
    for result in await asyncio.gather(one, other, return_exceptions=True):
        if result is not None:
            raise result
