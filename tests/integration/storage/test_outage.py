"""While MongoDB is away nothing is confirmed; when it is back nothing is missing."""

from __future__ import annotations

import asyncio
import gc
import logging
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from crawler.errors import ServiceError
from crawler.storage import connection
from crawler.storage.items.repository import StoreResult
from crawler.storage.writer import Writer
from tests.integration.storage.observing import URL, RecordedStats, a_writer, at, seen, until
from tests.servers import Server


@pytest.fixture
def settings(mongod: Server) -> dict[str, Any]:
    seconds = {"STORAGE_CONNECT_SECONDS": 2, "STORAGE_REPLY_SECONDS": 20, "STORAGE_RETRY_MAX_SECONDS": 15}
    return {"MONGODB_URI": mongod.url, "MONGODB_DATABASE": "outage", **seconds}


@pytest.fixture
def hasty(settings: dict[str, Any]) -> dict[str, Any]:
    """For who meets a server that does not answer."""
    return settings | {"STORAGE_CONNECT_SECONDS": 0.5, "STORAGE_REPLY_SECONDS": 1, "STORAGE_RETRY_MAX_SECONDS": 15}


@pytest.fixture
async def away_writer(settings: dict[str, Any], stats: RecordedStats) -> AsyncIterator[Writer]:
    async with opened(settings, stats) as writer:
        yield writer


@asynccontextmanager
async def opened(settings: dict[str, Any], stats: RecordedStats) -> AsyncIterator[Writer]:
    client = connection.connect(settings)
    writer = a_writer(connection.database(client, settings), stats, retry_max_seconds=0.2, batch_ms=2)
    await writer.open()
    yield writer
    await writer.close()
    await client.close()


async def stored_versions(settings: dict[str, Any]) -> dict[str, int]:
    client = connection.connect(settings)
    found = {each["_id"]: each["version"] async for each in connection.database(client, settings).products.find()}
    await client.close()
    return found


async def test_killed_server_loses_nothing_that_was_confirmed(
    away_writer: Writer,
    mongod: Server,
    settings: dict[str, Any],
    stats: RecordedStats,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.WARNING)
    confirmed: list[str] = []

    async def store(url: str) -> None:
        await away_writer.store(seen(1, url=url))
        confirmed.append(url)

    urls = [f"http://shop.example/p/{n}" for n in range(300)]
    tasks = []
    for n, url in enumerate(urls):
        tasks.append(asyncio.create_task(store(url)))
        await asyncio.sleep(0.001)
        if n == 150:
            await tasks[0]
            mongod.kill()
    await until(lambda: stats.values["storage/outages"])
    await asyncio.sleep(0.5)
    early = set(confirmed)
    assert 0 < len(early) < len(urls)

    await mongod.start_again()
    assert early <= set(await stored_versions(settings))
    await asyncio.gather(*tasks)
    assert await stored_versions(settings) == dict.fromkeys(urls, 1)

    lines = [record.getMessage() for record in caplog.records if record.name == "crawler.storage.outage"]
    assert len(lines) == 2
    assert "does not store" in lines[0]
    assert "stores again" in lines[1]
    assert stats.values["storage/outages"] == 1
    assert stats.values["storage/away"] == 0
    assert stats.values["storage/errors"] >= 1


async def test_frozen_server_confirms_nothing(
    hasty: dict[str, Any], settings: dict[str, Any], stats: RecordedStats, mongod: Server
) -> None:
    async with opened(settings, stats) as patient:
        await patient.store(seen(1, "1"))
        async with opened(hasty, stats) as writer:
            mongod.freeze()
            waiting = asyncio.create_task(writer.store(seen(2, "2")))
            await asyncio.sleep(1.5)
            assert not waiting.done()
            mongod.thaw()
            # Any of the tries may have counted: the state is right, and the result matches it.
            assert await waiting is StoreResult.CHANGED


async def test_change_during_an_outage_is_on_record_once(
    away_writer: Writer, mongod: Server, settings: dict[str, Any]
) -> None:
    await away_writer.store(seen(1, "1"))
    mongod.kill()
    waiting = asyncio.gather(*(away_writer.store(seen(n, str(n))) for n in (2, 3)))
    rejecting = asyncio.create_task(away_writer.reject(seen(4, "-1"), ["negative_price: price = -1"]))
    await asyncio.sleep(0.3)
    assert not rejecting.done()
    await mongod.start_again()
    assert await waiting == [StoreResult.CHANGED, StoreResult.CHANGED]
    await rejecting

    client = connection.connect(settings)
    database = connection.database(client, settings)
    records = await database.product_changes.find().sort("version", 1).to_list()
    assert await database.rejected_items.count_documents({}) == 1
    await client.close()
    assert [(record["_id"], record["at"]) for record in records] == [(f"{URL}#2", at(2)), (f"{URL}#3", at(3))]


# PyMongo forgets the socket of a connection attempt that `close` interrupts; it goes with the garbage.
@pytest.mark.filterwarnings("ignore:Exception ignored in. <socket:pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("state", ["killed", "frozen"])
async def test_check_says_where_within_seconds_and_shows_no_password(
    state: str, mongod: Server, hasty: dict[str, Any]
) -> None:
    mongod.kill() if state == "killed" else mongod.freeze()
    secret = hasty | {"MONGODB_URI": mongod.url.replace("://", "://reader:s3cret@")}
    client = connection.connect(secret)
    began = time.monotonic()
    with pytest.raises(ServiceError) as error:
        await connection.check(client, secret)
    await client.close()
    gc.collect()
    assert time.monotonic() - began < 25  # the driver alone would try for half a minute
    assert connection.address(mongod.url) in str(error.value)
    assert "s3cret" not in str(error.value)
    assert "\n" not in str(error.value)


async def test_writer_that_cannot_prepare_says_so(settings: dict[str, Any], stats: RecordedStats) -> None:
    async with connection.session(settings) as database:
        await database.products.create_index("title", name="pending_changes")
        writer = a_writer(database, stats)
        with pytest.raises(ServiceError, match=r"cannot be prepared for storing: .*pending_changes"):
            await writer.open()


async def test_check_passes_when_it_serves(settings: dict[str, Any]) -> None:
    async with connection.session(settings) as database:
        assert database.name == "outage"
