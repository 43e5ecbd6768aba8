"""Whatever a site sends: every URL ends once, as stored or as a dead letter; memory stays bounded, no worker dies."""

from __future__ import annotations

import asyncio
import re
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from pymongo.asynchronous.database import AsyncDatabase

from tests.crawling import Fleet, ended
from tests.integration.crawl.odd_site import BOMB_MB, ODDITIES, OddSite
from tests.zygote import Forked

MOST_MB = 256  # a worker with its libraries takes half of it; one bomb alone would be BOMB_MB more
STORED = {
    "/more-than-announced",
    "/until-closed",
    "/no-such-charset",
    "/wrong-charset",
    "/binary-as-html",
    "/empty",
    "/all-as-part",
    "/page",
}
NEVER = ("/silence", "/drip")  # they come to no end by themselves
RETRIED = {  # and failed again
    "/drop",
    "/reset",
    "/cut-status-line",
    "/cut-headers",
    "/cut-body",
    "/silence",
    "/drip",
    "/chunks-cut",
    "/chunks-bad-size",
    "/chunks-without-end",
    "/not-http",
    "/part",
    "/not-gzip",
    "/not-brotli",
    "/gzip-cut",
}
SETTINGS: dict[str, Any] = {
    "RETRY_TIMES": 1,
    "RETRY_CAP_SECONDS": 0.1,
    "DOWNLOAD_TIMEOUT": 30,
    "CONCURRENT_REQUESTS": 16,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 16,
    "FRONTIER_BREAKER_SECONDS": 0.1,
    "FRONTIER_BREAKER_MAX_SECONDS": 0.2,
    "REDIRECT_MAX_TIMES": 5,
}


def peak_mb(worker: Forked) -> float:
    """The most memory that *worker* had until it ended."""
    most, status = 0.0, Path(f"/proc/{worker.pid}/status")
    while worker.poll() is None:
        try:
            if found := re.search(r"VmHWM:\s+(\d+) kB", status.read_text()):
                most = int(found[1]) / 1024
        except OSError:  # it has just ended
            break
        time.sleep(0.05)
    return most


@pytest.mark.slow
async def test_every_oddity_ends_once_and_none_ends_the_worker(
    fleet: Fleet, mongo_database: AsyncDatabase[dict[str, Any]]
) -> None:
    with OddSite() as site:
        await fleet.push(*(site.url(path) for path in ODDITIES if path not in NEVER), cap=16)
        await fleet.push(*map(site.url, NEVER), cap=16, meta={"download_timeout": 2})
        worker = fleet.start(**SETTINGS)
        peak = await asyncio.to_thread(peak_mb, worker)
        status, log = await ended(worker)
        left = await fleet.left()
    assert status == 0, log
    assert "'finish_reason': 'finished'" in log
    stored = {urlsplit(page["url"]).path for page in await mongo_database["pages"].find().to_list()}
    dead = {urlsplit(letter.detail["url"]).path: letter for letter in left.letters}
    assert stored == STORED
    assert set(dead) == set(ODDITIES) - STORED
    assert left.states == {"done": len(stored), "dead": len(dead)}
    assert (left.in_flight, left.leases) == (0, 0)
    assert all(letter.detail["class"] and letter.reason for letter in dead.values())
    assert {path for path, letter in dead.items() if letter.detail["attempts"] == 2} == RETRIED
    assert 50 < peak < MOST_MB < BOMB_MB
