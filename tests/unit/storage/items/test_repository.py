"""Batches of large documents."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from crawler.storage.items.repository import BATCH_BYTES, parts


@given(st.lists(st.integers(0, 2 * BATCH_BYTES), max_size=40))
def test_what_is_sent_at_once_is_bounded_and_stays_in_order(sizes: list[int]) -> None:
    found = list(parts(sizes, lambda size: size))
    assert [size for part in found for size in part] == sizes
    assert all(part and (len(part) == 1 or sum(part) <= BATCH_BYTES) for part in found)
    assert all(sum(one) + sum(other[:1]) > BATCH_BYTES for one, other in pairwise(found))
