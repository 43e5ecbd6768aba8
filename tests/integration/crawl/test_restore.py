"""A frontier restored from a copy of its Redis, as docs/production.md says: the crawl goes on from there."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import redis

from crawler.embedded.service import VALKEY
from tests.crawling import SHORT_LEASE, Fleet, ended
from tests.servers import Server
from tests.sites import Page, Site

PAGES = 12


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


async def test_a_fleet_goes_on_from_last_nights_copy(fleet: Fleet, lasting: Server, tmp_path: Path) -> None:
    links = "".join(f"<a href=/{n}>.</a>" for n in range(PAGES))
    with Site({"/": Page(links), **{f"/{n}": Page(f"<title>{n}</title>") for n in range(PAGES)}}) as site:
        fleet.runner.env["REDIS_URL"] = fleet.redis_url = lasting.url
        await fleet.push(site.url("/"))
        worker = fleet.start(DOWNLOAD_DELAY=0.2, **SHORT_LEASE)
        await site.asked(4)
        with redis.Redis(port=lasting.port) as client:
            client.save()
        await site.asked(7)
        worker.kill()
        await ended(worker)
        lasting.kill()
        asked = len(site.requested)
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
    repeated = len(site.requested) - (PAGES + 1)
    assert 0 < repeated <= asked, "what was done after the copy is fetched again, and no more"
