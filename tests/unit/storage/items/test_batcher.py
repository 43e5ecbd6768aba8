"""Batches: by size or time, one result each, equal keys in order."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.storage.items.batcher import Batcher


class Recorder:
    """A flush that doubles numbers, refuses negative ones, and fails as a whole on 13."""

    def __init__(self, seconds: float = 0.0) -> None:
        self.batches: list[list[int]] = []
        self._seconds = seconds

    async def __call__(self, entries: Sequence[int]) -> Sequence[int | Exception]:
        self.batches.append(list(entries))
        await asyncio.sleep(self._seconds)
        if 13 in entries:
            raise OSError("unlucky")
        return [entry * 2 if entry >= 0 else ValueError(str(entry)) for entry in entries]


async def submit_all(batcher: Batcher[int, int], entries: Sequence[int]) -> list[int | BaseException]:
    return await asyncio.gather(*(batcher.submit(entry, entry) for entry in entries), return_exceptions=True)


async def test_each_gets_its_own_result() -> None:
    flush = Recorder()
    batcher = Batcher(flush, 10, 0.01)
    results = await submit_all(batcher, [1, -2, 3])
    assert (results[0], results[2]) == (2, 6)
    assert isinstance(results[1], ValueError)
    assert flush.batches == [[1, -2, 3]]
    await batcher.close()


async def test_full_batch_does_not_wait() -> None:
    flush = Recorder()
    batcher = Batcher(flush, 2, 3_600.0)
    async with asyncio.timeout(60):
        await submit_all(batcher, [1, 2, 3, 4])
    assert flush.batches == [[1, 2], [3, 4]]
    await batcher.close()


async def test_part_of_a_batch_waits_its_time() -> None:
    batcher = Batcher(Recorder(), 100, 0.05)
    began = asyncio.get_running_loop().time()
    await batcher.submit(1, 1)
    assert asyncio.get_running_loop().time() - began >= 0.045
    await batcher.close()


async def test_equal_keys_go_into_batches_of_their_own_in_order() -> None:
    flush = Recorder()
    batcher = Batcher(flush, 10, 0.005)
    await asyncio.gather(*(batcher.submit(key, entry) for key, entry in [("a", 1), ("a", 2), ("b", 3), ("a", 4)]))
    assert flush.batches == [[1, 3], [2], [4]]
    await batcher.close()


async def test_failure_of_a_flush_reaches_its_callers_and_no_others() -> None:
    batcher = Batcher(Recorder(), 2, 0.005)
    results = await submit_all(batcher, [1, 13, 2, 3])
    assert [type(result) for result in results] == [OSError, OSError, int, int]
    await batcher.close()


async def test_close_flushes_and_refuses_later_entries() -> None:
    flush = Recorder()
    batcher = Batcher(flush, 100, 60.0)
    waiting = [asyncio.create_task(batcher.submit(n, n)) for n in range(3)]
    await asyncio.sleep(0)
    await batcher.close()
    assert await asyncio.gather(*waiting) == [0, 2, 4]
    with pytest.raises(RuntimeError):
        await batcher.submit(1, 1)


async def test_close_during_a_flush_writes_what_came_meanwhile() -> None:
    flush = Recorder(seconds=0.05)
    batcher = Batcher(flush, 2, 0.001)
    first = asyncio.create_task(submit_all(batcher, [1, 2]))
    await asyncio.sleep(0.02)
    later = asyncio.create_task(submit_all(batcher, [3, 3, 4]))
    await asyncio.sleep(0.005)
    await batcher.close()
    assert await first == [2, 4]
    assert await later == [6, 6, 8]


async def test_unused_batcher_closes() -> None:
    batcher = Batcher(Recorder(), 2, 1.0)
    await batcher.close()
    with pytest.raises(RuntimeError):
        await batcher.submit(1, 1)


@given(st.lists(st.integers(0, 5), max_size=40), st.integers(1, 7))
def test_any_load_is_flushed_once_in_order_per_key(keys: list[int], size: int) -> None:
    flushed: list[list[tuple[int, int]]] = []

    async def flush(entries: Sequence[tuple[int, int]]) -> Sequence[int]:
        flushed.append(list(entries))
        return [number for _, number in entries]

    async def run() -> list[int]:
        batcher: Batcher[tuple[int, int], int] = Batcher(flush, size, 0.0)
        tasks = [batcher.submit(key, (key, number)) for number, key in enumerate(keys)]
        results = await asyncio.gather(*tasks)
        await batcher.close()
        return results

    assert asyncio.run(run()) == list(range(len(keys)))
    assert all(len(batch) <= size for batch in flushed)
    assert all(len({key for key, _ in batch}) == len(batch) for batch in flushed)
    for key in set(keys):
        numbers = [number for batch in flushed for each, number in batch if each == key]
        assert numbers == sorted(numbers)
