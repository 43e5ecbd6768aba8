"""Rows in batches: all of them, in their order, and no batch without any."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from crawler.utils.batches import in_batches


async def rows(number: int) -> AsyncIterator[int]:
    for row in range(number):
        yield row


@pytest.mark.parametrize(("number", "sizes"), [(0, []), (2, [2]), (3, [3]), (7, [3, 3, 1])])
async def test_all_rows_come_in_batches(number: int, sizes: list[int]) -> None:
    batches = [batch async for batch in in_batches(rows(number), 3)]
    assert [len(batch) for batch in batches] == sizes
    assert [row for batch in batches for row in batch] == list(range(number))
