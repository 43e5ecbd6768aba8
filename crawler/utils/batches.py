"""Rows that come one by one, in batches."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator
from typing import TypeVar

T = TypeVar("T")


async def in_batches(rows: AsyncIterable[T], size: int) -> AsyncIterator[list[T]]:
    """*rows* in order, *size* at a time; the last batch may be shorter, none is empty."""
    batch: list[T] = []
    async for row in rows:
        batch.append(row)
        if len(batch) == size:
            yield batch
            batch = []
    if batch:
        yield batch
