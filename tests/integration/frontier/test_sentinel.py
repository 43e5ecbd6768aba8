"""A client of a primary that Sentinels watch."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from scrapy.settings import BaseSettings

from crawler.frontier.server import blocking, connection, sentinel
from tests.effort import PATIENCE
from tests.stores import Watched


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[Watched]:
    servers = Watched(tmp_path)
    yield servers
    servers.kill()


async def closed(client: Any) -> None:
    """With its connections to the Sentinels, which end with a process otherwise."""
    await client.aclose()
    await client.connection_pool.sentinel_manager.aclose()


@pytest.mark.parametrize("is_blocking", [False, True])
async def test_a_sentinel_that_is_silent_is_passed_over_after_one_try(
    watched: Watched, monkeypatch: pytest.MonkeyPatch, is_blocking: bool
) -> None:
    """With redis-py's tries, and the time that a script of the primary has, a start took minutes."""
    monkeypatch.setattr(sentinel, "TIMEOUT_SECONDS", 0.2)
    tries: list[asyncio.StreamWriter] = []

    async def silent(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        tries.append(writer)

    async with await asyncio.start_server(silent, "127.0.0.1", 0) as frozen:
        port = frozen.sockets[0].getsockname()[1]
        url = watched.url.replace("127.0.0.1", f"127.0.0.1:{port},127.0.0.1", 1)
        settings = BaseSettings({"REDIS_URL": url, "REDIS_CLUSTER": False})
        if is_blocking:
            with blocking.connect(settings) as client:
                assert await asyncio.to_thread(client.ping)
        else:
            asking: Any = connection.connect(settings)
            assert await asking.ping()
            await closed(asking)
        for writer in tries:
            writer.close()
            await writer.wait_closed()
    assert len(tries) == 1


async def test_a_primary_that_was_replaced_is_left_though_it_still_answers(watched: Watched) -> None:
    client: Any = connection.connect(BaseSettings({"REDIS_URL": watched.url, "REDIS_CLUSTER": False}))
    others: list[bool] = []
    connection.listen(client, lambda: None, lambda: others.append(True))
    in_use = await client.connection_pool.get_connection()
    await client.set("x", "1")
    await asyncio.to_thread(watched.switch)
    assert await client.config_get("port") == {"port": str(watched.primary.port)}
    assert not others
    async with asyncio.timeout(PATIENCE):  # the Sentinels are asked by the first call a second after they were last
        while not others:
            await client.ping()
            await asyncio.sleep(0.05)
    await client.connection_pool.release(in_use)
    answers = await asyncio.gather(*(client.config_get("port") for _ in range(2)))  # by both connections
    assert answers == [{"port": str(watched.replica.port)}] * 2
    assert others == [True]
    watched.sentinel.kill()
    await client.connection_pool.follow()
    assert await client.get("x") == b"1"
    await closed(client)
