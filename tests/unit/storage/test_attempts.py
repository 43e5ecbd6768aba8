"""The sample that the attempts log takes of each second, and its settings."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from functools import partial
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pymongo.errors import OperationFailure

from crawler.storage.attempts import AttemptsConfig, AttemptsLog, Sample
from crawler.storage.outage import NoStats
from tests.shipped import shipped


def taken(sample: Sample, number: int) -> list[dict[str, Any]]:
    for each in range(number):
        sample.add(partial(partial, dict, number=each))
    return sample.take()


@given(st.integers(1, 50), st.lists(st.integers(0, 200), max_size=4), st.integers())
def test_the_weights_add_up_to_what_was_seen(size: int, intervals: list[int], seed: int) -> None:
    sample = Sample(size, random.Random(seed))
    for number in intervals:
        found = taken(sample, number)
        assert len(found) == min(size, number)
        assert len({one["number"] for one in found}) == len(found)
        assert sum(one["weight"] for one in found) == pytest.approx(number)


def test_each_attempt_is_as_likely_as_the_others() -> None:
    sample = Sample(10, random.Random(1))
    kept = [one["number"] for _ in range(2_000) for one in taken(sample, 40)]
    counts = [kept.count(number) for number in range(40)]
    assert min(counts) > 400  # 500 on average
    assert max(counts) < 600


def test_what_is_not_kept_is_not_looked_at() -> None:
    sample, looks = Sample(10, random.Random(1)), list[int]()

    def look(number: int) -> Callable[[], dict[str, int]]:
        looks.append(number)
        return partial(dict, number=number)

    for number in range(1_000):
        sample.add(partial(look, number))
    assert {one["number"] for one in sample.take()} <= set(looks)
    assert len(looks) < 100


def test_shipped_settings_are_the_defaults_of_the_dataclass() -> None:
    assert AttemptsConfig.from_settings(shipped()) == AttemptsConfig()


async def test_a_batch_that_is_being_stored_is_stored_once_though_the_log_ends() -> None:
    stored, begun, may_go_on = list[Any](), asyncio.Event(), asyncio.Event()

    class Slow(dict[str, Any]):
        async def create_collection(self, *_: object, **__: object) -> None:
            return

        async def insert_many(self, batch: list[Any], *, ordered: bool) -> None:
            stored.extend(batch)
            begun.set()
            await may_go_on.wait()

    database = Slow()
    database["attempts"] = database
    log = AttemptsLog(cast("Any", database), AttemptsConfig(), NoStats(), random.Random(1))
    log.add(lambda: lambda: {"at": 0})
    flushing = asyncio.create_task(log.flush())
    await begun.wait()
    flushing.cancel()
    asyncio.get_running_loop().call_soon(may_go_on.set)
    await log.close()
    assert stored == [{"at": 0, "weight": 1.0}]


async def test_a_right_that_the_user_lacks_is_named_with_the_cure(caplog: pytest.LogCaptureFixture) -> None:
    class Refusing:
        async def create_collection(self, *_: object, **__: object) -> None:
            text = 'not authorized on shoal to execute command { collMod: "attempts", lsid: { id: 1 } }, full error: {}'
            raise OperationFailure(text, 13)

    log = AttemptsLog(cast("Any", Refusing()), AttemptsConfig(), NoStats(), random.Random(1))
    log.add(lambda: lambda: {"at": 0})
    await log.flush()
    [said] = caplog.messages
    assert "may not run collMod on attempts in database shoal: docs/operations.md has the roles" in said
