"""A whole worker whose MongoDB goes away: with a spool it goes on, without one it waits, and nothing is lost."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pymongo import MongoClient

from crawler.embedded.service import MONGOD
from tests.crawling import SHORT_LEASE, Fleet, count, ended, said
from tests.servers import Server
from tests.sites import Page, Site

PAGES = 40
PATIENT: dict[str, Any] = {"MAX_IDLE_TIME_BEFORE_CLOSE": 60}  # it is idle before MongoDB is back


@pytest.fixture
def mongod(fleet: Fleet, tmp_path: Path) -> Iterator[Server]:
    """The workers' own, to be killed."""
    server = Server(MONGOD, tmp_path)
    fleet.runner.env["MONGODB_URI"] = server.url
    yield server
    server.kill()


def stored(mongod: Server, fleet: Fleet) -> list[str]:
    client: MongoClient[dict[str, Any]] = MongoClient(mongod.url)
    with client:
        return sorted(page["_id"] for page in client[fleet.runner.env["MONGODB_DATABASE"]]["pages"].find())


def site() -> Site:
    links = "".join(f"<a href=/{n}>.</a>" for n in range(PAGES))
    return Site({"/": Page(links), **{f"/{n}": Page(f"<title>{n}</title>") for n in range(PAGES)}})


async def test_with_a_spool_pages_are_confirmed_and_stored_later(
    fleet: Fleet, mongod: Server, tmp_path_factory: pytest.TempPathFactory
) -> None:
    spool, secret = tmp_path_factory.mktemp("spool"), "canary-of-spool-x7"
    with site() as pages:
        links = "".join(f"<a href={pages.url(f'/{n}')}>.</a>" for n in range(PAGES))
        signed = {"Set-Cookie": f"session={secret}"}
        pages.pages["/"] = Page(links.replace("://", f"://me:{secret}@"), headers=signed)
        await fleet.push(pages.url("/"))
        worker = fleet.start(SPOOL_DIR=str(spool), STORAGE_CONNECT_SECONDS=0.5, DOWNLOAD_DELAY=0.1, **PATIENT)
        await pages.asked(4)
        mongod.kill()
        await fleet.until(lambda left: left.states == {"done": PAGES + 1})
        kept = b"".join(path.read_bytes() for path in spool.glob("*/*.spool"))
        assert (pages.url("/").encode() in kept, secret.encode() in kept) == (True, False)
        await mongod.start_again()
        while list(spool.glob("*/*.spool")):  # noqa: ASYNC110 - the worker empties it; pytest's limit ends this
            await asyncio.sleep(0.05)
        worker.send_signal(signal.SIGTERM)
        status, log = await ended(worker)
    assert status == 0
    assert len(stored(mongod, fleet)) == PAGES + 1
    assert count(log, "items/spooled") == count(log, "storage/spool/replayed") > 0
    assert not list(spool.glob("*/*.spool"))
    assert len(pages.requested) == PAGES + 1


async def test_without_a_spool_nothing_is_leased_and_leases_outlive_the_outage(fleet: Fleet, mongod: Server) -> None:
    """Longer than a lease, and than the hard cap: a page that waits for MongoDB is not fetched again."""
    with site() as pages:
        await fleet.push(pages.url("/"))
        away: dict[str, Any] = {"SPOOL_DIR": "", "STORAGE_CONNECT_SECONDS": 0.3, "FRONTIER_HARD_CAP_SECONDS": 5}
        away["STORAGE_RETRY_MAX_SECONDS"] = 0.5  # who still waits when MongoDB is back does so within the cap
        worker = fleet.start(DOWNLOAD_DELAY=0.1, **away, **SHORT_LEASE)
        await pages.asked(6)
        mongod.kill()
        await said(worker, "Leasing is paused")
        await fleet.until(lambda left: left.in_flight == 0)
        asked = len(pages.requested)
        await asyncio.sleep(6)
        assert len(pages.requested) == asked < PAGES
        await mongod.start_again()
        status, log = await ended(worker)
    assert status == 0
    assert (await fleet.left()).states == {"done": PAGES + 1}
    assert len(stored(mongod, fleet)) == PAGES + 1
    assert len(set(pages.requested)) == PAGES + 1
    assert not set(pages.requested[:asked]) & set(pages.requested[asked:]), "(before, a slow machine may reach the cap)"
    assert log.count("Leasing is paused: MongoDB is away, and there is no spool (SPOOL_DIR)") == 1
    assert log.count("Leasing resumes") == 1
