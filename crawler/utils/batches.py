"""Rows that come one by one, in batches: in order, the last one may be shorter, none is empty."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator
from itertools import islice
from typing import TypeVar

T = TypeVar("T")


def batched(rows: Iterable[T], size: int) -> Iterator[list[T]]:
    """*rows*, *size* at a time; those of a batch are taken when it is asked for."""
    rest = iter(rows)
    while batch := list(islice(rest, size)):
        yield batch


async def in_batches(rows: AsyncIterable[T], size: int) -> AsyncIterator[list[T]]:
    """As `batched`, of rows that have to be waited for."""
    batch: list[T] = []
    async for row in rows:
        batch.append(row)
        if len(batch) == size:
            yield batch
            batch = []
    if batch:
        yield batch
