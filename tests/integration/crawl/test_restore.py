"""A frontier and its documents restored from copies, as docs/production.md says: the crawl goes on from there."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import redis
from pymongo.asynchronous.database import AsyncDatabase

from crawler.embedded.service import VALKEY
from tests.crawling import SHORT_LEASE, Fleet, count, ended
from tests.servers import Server
from tests.sites import Page, Site

PAGES = 12
Database = AsyncDatabase[dict[str, Any]]


@pytest.fixture
def lasting(tmp_path: Path) -> Iterator[Server]:
    """A Redis of this test's own."""
    directory = tmp_path / "before"
    directory.mkdir()
    server = Server(VALKEY, directory)
    yield server
    server.kill()


def restored(copy: Path, directory: Path) -> Server:
    """A server that begins with *copy* and keeps an append-only file from then on."""
    directory.mkdir()
    shutil.copy(copy, directory / "dump.rdb")

    def without_file(data: Path, port: int) -> list[str]:
        return ["no" if word == "yes" else word for word in VALKEY.arguments(data, port)]

    server = Server(replace(VALKEY, arguments=without_file), directory)
    with redis.Redis(port=server.port) as client:
        client.config_set("appendonly", "yes")
    return server


async def test_a_fleet_goes_on_from_last_nights_copies(
    fleet: Fleet, lasting: Server, mongo_database: Database, tmp_path: Path
) -> None:
    """Of the queue first and then of the documents: what was stored in between is fetched again, and counted."""
    links = "".join(f"<a href=/{n}>.</a>" for n in range(PAGES))
    with Site({"/": Page(links), **{f"/{n}": Page(f"<title>{n}</title>") for n in range(PAGES)}}) as site:
        fleet.runner.env["REDIS_URL"] = fleet.redis_url = lasting.url
        await fleet.push(site.url("/"))
        worker = fleet.start(DOWNLOAD_DELAY=0.2, **SHORT_LEASE)
        await fleet.until(lambda left: left.counters.done >= 3)
        with redis.Redis(port=lasting.port) as client:
            client.save()
        done = (await fleet.left()).counters.done
        await fleet.until(lambda left: left.counters.done >= done + 2)
        documents = [page async for page in mongo_database["pages"].find()]
        await site.asked(len(documents) + 1)
        worker.kill()
        await ended(worker)
        lasting.kill()
        asked = len(site.requested)
        await mongo_database["pages"].delete_many({})
        await mongo_database["pages"].insert_many(documents)
        server = await asyncio.to_thread(restored, tmp_path / "before" / "dump.rdb", tmp_path / "after")
        try:
            fleet.runner.env["REDIS_URL"] = fleet.redis_url = server.url
            status, log = await ended(fleet.start(MAX_IDLE_TIME_BEFORE_CLOSE=3, **SHORT_LEASE))
            left = await fleet.left()
        finally:
            server.kill()
    assert status == 0, log
    assert set(site.requested) == {"/", *(f"/{n}" for n in range(PAGES))}
    assert left.states == {"done": PAGES + 1}
    assert {page["version"] async for page in mongo_database["pages"].find()} == {1}
    assert await mongo_database["pages"].count_documents({}) == PAGES + 1, "none is missing"
    repeated = len(site.requested) - (PAGES + 1)
    assert 0 < repeated <= asked, "what was done after the copy of the queue is fetched again, and no more"
    assert 0 < count(log, "items/unchanged") == len(documents) - (PAGES + 1 - count(log, "frontier/acked"))
