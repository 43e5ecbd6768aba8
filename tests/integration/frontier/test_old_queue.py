"""A queue that scrapy-redis left is named: a project that joined the fleet had lost it in silence."""

from __future__ import annotations

from typing import Any
from unittest.mock import AsyncMock, Mock

import pytest
from redis.exceptions import NoPermissionError
from scrapy.settings import Settings

from crawler.frontier.inspection.old_queue import left_by_scrapy_redis

KEY = "news:requests"


@pytest.mark.parametrize("kind", ["list", "zset"])
async def test_requests_that_scrapy_redis_left_are_counted(redis_client: Any, kind: str) -> None:
    await (redis_client.lpush(KEY, "a", "b") if kind == "list" else redis_client.zadd(KEY, {"a": 1, "b": 2}))
    told = await left_by_scrapy_redis(redis_client, Settings(), "news")
    assert told.startswith("2 requests of scrapy-redis in news:requests, which the fleet does not read: ")
    assert await redis_client.exists(KEY) == 1
    elsewhere = Settings({"SCHEDULER_QUEUE_KEY": "old:%(spider)s"})
    assert await left_by_scrapy_redis(redis_client, elsewhere, "news") == ""


async def test_a_key_of_somebody_elses_or_none_is_let_pass(redis_client: Any) -> None:
    await redis_client.set(KEY, "text")
    for template in (None, "%(other)s", "%d", "plain"):
        assert await left_by_scrapy_redis(redis_client, Settings({"SCHEDULER_QUEUE_KEY": template}), "news") == ""


async def test_a_user_that_may_not_read_it_is_told_nothing() -> None:
    client: Any = Mock(type=AsyncMock(side_effect=NoPermissionError("NOPERM No permissions to access a key")))
    assert await left_by_scrapy_redis(client, Settings(), "news") == ""
    assert client.type.await_count == 1
