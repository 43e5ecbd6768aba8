"""A client of a primary that Sentinels watch."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from scrapy.settings import BaseSettings

from crawler.frontier.server import connection, sentinel
from tests.stores import Watched


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[Watched]:
    servers = Watched(tmp_path)
    yield servers
    servers.kill()


async def test_a_primary_that_was_replaced_is_left_though_it_still_answers(watched: Watched) -> None:
    client: Any = connection.connect(BaseSettings({"REDIS_URL": watched.url, "REDIS_CLUSTER": False}))
    others: list[bool] = []
    connection.listen(client, lambda: None, lambda: others.append(True))
    in_use = await client.connection_pool.get_connection()
    await client.set("x", "1")
    await asyncio.to_thread(watched.switch)
    assert await client.config_get("port") == {"port": str(watched.primary.port)}
    assert not others
    await sentinel.follow(client)
    await client.connection_pool.release(in_use)
    answers = await asyncio.gather(*(client.config_get("port") for _ in range(2)))  # by both connections
    assert answers == [{"port": str(watched.replica.port)}] * 2
    assert others == [True]
    watched.sentinel.kill()
    await sentinel.follow(client)
    assert await client.get("x") == b"1"
    await client.aclose()
