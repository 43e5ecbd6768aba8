"""Whole workers of the api tier against a fake provider of each shape: pages as their hosts sent them, none lost."""

from __future__ import annotations

import asyncio
import json
import time
from typing import Any

import pytest
from pymongo.asynchronous.database import AsyncDatabase

from tests.crawling import SHORT_LEASE, Fleet, count, ended
from tests.effort import PATIENCE
from tests.providers import KEY, FakeProvider

URLS = [f"http://shop-{number}.example/p?a=1&b=ü" for number in range(4)]


def api(provider: FakeProvider, shape: str, **more: Any) -> dict[str, Any]:
    entry = provider.settings(shape, **more)
    return {"TIER": "api", "API_PROVIDERS": {"acme": entry}, "API_KEYS": {"ACME": KEY}, "RETRY_TIMES": 5}


async def titles(database: AsyncDatabase[dict[str, Any]]) -> list[str]:
    return sorted([page["title"] async for page in database["pages"].find()])


async def push(fleet: Fleet, urls: list[str] = URLS) -> list[str]:
    asked = [url.replace("ü", "%C3%BC") for url in urls]
    await fleet.push(*asked, stream="walk:api")
    return asked


@pytest.mark.parametrize(("shape", "cost"), [("sync", 20), ("job", 12), ("batch", 8)])
async def test_pages_come_through_a_provider_of_each_shape(
    fleet: Fleet, mongo_database: AsyncDatabase[dict[str, Any]], shape: str, cost: int
) -> None:
    with FakeProvider() as provider:
        asked = await push(fleet)
        status, log = await ended(fleet.start(**api(provider, shape)))

    assert status == 0, log
    assert (await fleet.left()).states == {"done": len(URLS)}
    assert await titles(mongo_database) == sorted(asked)
    assert count(log, "api/cost/acme") == cost
    assert KEY not in log
    if shape == "batch":
        assert len(provider.jobs) < len(URLS)


async def test_while_the_provider_is_down_requests_wait_and_none_is_lost(
    fleet: Fleet, mongo_database: AsyncDatabase[dict[str, Any]]
) -> None:
    with FakeProvider() as provider:
        provider.faults = [503, 402]
        asked = await push(fleet)
        status, log = await ended(fleet.start(**api(provider, "sync") | {"RETRY_TIMES": 0}))

    assert status == 0, log
    assert await titles(mongo_database) == sorted(asked)
    assert count(log, "api/faults/acme") == 2
    assert (await fleet.left()).states == {"done": len(URLS)}


async def test_another_worker_asks_after_the_job_of_a_dead_one(
    fleet: Fleet, mongo_database: AsyncDatabase[dict[str, Any]]
) -> None:
    with FakeProvider(polls=10_000) as provider:
        asked = await push(fleet, URLS[:1])
        first = fleet.start(**api(provider, "job"), **SHORT_LEASE)
        deadline = time.monotonic() + PATIENCE
        while not provider.asked.get("job-1"):
            assert time.monotonic() < deadline
            await asyncio.sleep(0.02)
        first.kill()
        provider.polls = 0
        status, log = await ended(fleet.start(**api(provider, "job"), **SHORT_LEASE))

    assert status == 0, log
    assert list(provider.jobs) == ["job-1"]  # paid once
    assert await titles(mongo_database) == asked


async def test_a_job_that_its_provider_forgot_is_paid_again(fleet: Fleet) -> None:
    with FakeProvider(polls=10_000) as provider:
        await push(fleet, URLS[:1])
        worker = fleet.start(**api(provider, "job"))
        while not provider.asked:  # noqa: ASYNC110 - it is another process
            await asyncio.sleep(0.02)
        with provider.lock:
            provider.jobs["job-gone"] = provider.jobs.pop("job-1")
            provider.polls = 0
        status, log = await ended(worker)

    assert status == 0, log
    assert (await fleet.left()).states == {"done": 1}
    assert [path for method, path in provider.calls if method == "POST"] == ["/jobs", "/jobs"]


async def test_a_worker_without_a_key_says_so(fleet: Fleet) -> None:
    with FakeProvider() as provider:
        status, log = await ended(fleet.start(**api(provider, "sync") | {"API_KEYS": {}}))

    assert status == 2
    assert "API_KEY_ACME" in log
    assert json.dumps(KEY) not in log
