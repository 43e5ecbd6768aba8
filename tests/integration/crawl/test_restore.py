"""A frontier and its documents restored from copies, as docs/production.md says: the crawl goes on from there."""

from __future__ import annotations

import asyncio
import shutil
import threading
from collections import Counter
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
FIRST = 3  # of them are done when the queue is copied,
SECOND = 3  # and so many more when the documents are
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
    later, last = threading.Event(), threading.Event()
    holds = [*[None] * FIRST, *[later] * SECOND, *[last] * (PAGES - FIRST - SECOND)]
    links = "".join(f"<a href=/{n}>.</a>" for n in range(PAGES))
    tree = {"/": Page(links)} | {f"/{n}": Page(f"<title>{n}</title>", hold=hold) for n, hold in enumerate(holds)}
    with Site(tree) as site:
        fleet.runner.env["REDIS_URL"] = fleet.redis_url = lasting.url
        await fleet.push(site.url("/"))
        worker = fleet.start(**SHORT_LEASE)
        await fleet.until(lambda left: left.counters.done == 1 + FIRST)
        with redis.Redis(port=lasting.port) as client:
            client.save()
        later.set()
        await fleet.until(lambda left: left.counters.done == 1 + FIRST + SECOND)
        documents = [page async for page in mongo_database["pages"].find()]
        await site.asked(1 + FIRST + SECOND + 1)
        worker.kill()
        await ended(worker)
        lasting.kill()
        last.set()
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
    assert left.states == {"done": PAGES + 1}
    stored = [page async for page in mongo_database["pages"].find()]
    assert sorted(page["url"] for page in stored) == sorted(map(site.url, tree)), "none is missing"
    assert {page["version"] for page in stored} == {1}
    times = Counter(site.requested)
    assert {times[path] for path in ("/", *(f"/{n}" for n in range(FIRST)))} == {1}, "done when the queue was copied"
    assert {times[f"/{n}"] for n in range(FIRST, FIRST + SECOND)} == {2}
    assert count(log, "items/unchanged") == SECOND, "and the worker says how many it repeated"
    assert count(log, "items/new") == PAGES - FIRST - SECOND
