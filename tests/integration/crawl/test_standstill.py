"""A callback that holds up the event loop for longer than a lease: no page is fetched twice, no pod is killed."""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from tests.crawling import SHORT_LEASE, Fleet, count, ended, said
from tests.integration.crawl.spiders import StandingSpider
from tests.integration.extensions.visiting import ADDRESS, get
from tests.sites import Page, Site
from tests.zygote import Forked

PROBED: dict[str, Any] = SHORT_LEASE | {
    "ITEM_PIPELINES": {},
    "METRICS_PORT": 0,
    "HEALTH_MAX_LAG_SECONDS": 2,  # of the 3 for which its callback stands
    "MAX_IDLE_TIME_BEFORE_CLOSE": 1,
}


async def _probed(worker: Forked, until: Callable[[], bool]) -> set[int]:
    """What the liveness probe answered, asked every 0.2 s."""
    found = ADDRESS.search(worker.log)
    assert found is not None
    answers: set[int] = set()
    while not until():
        with suppress(OSError):  # it has just ended
            answers.add((await asyncio.to_thread(get, f"{found[1]}/healthz"))[0])
        await asyncio.sleep(0.2)
    return answers


async def test_pages_of_a_worker_that_stands_still_are_fetched_and_stored_once(fleet: Fleet) -> None:
    """One callback of twice the lease; its neighbours wait in the buffer, are on the wire, or have just ended."""
    assert StandingSpider.seconds >= 2 * SHORT_LEASE["FRONTIER_LEASE_SECONDS"]
    hold = threading.Event()
    pages = {"/stand": Page(hold=hold)} | {f"/{number}": Page(hold=hold) for number in range(7)}
    with Site(pages) as site:
        await fleet.push(*map(site.url, pages), spider="standing", hosts=8)
        worker = fleet.start("standing", **PROBED)
        await site.asked(4)
        helper = fleet.start("standing", **PROBED)
        await said(helper, "Metrics and probes")
        hold.set()
        alive = await _probed(worker, lambda: "Closing spider" in worker.log)
        (status, log), (other_status, other_log) = await ended(worker), await ended(helper)
        left = await fleet.left("standing")
    assert (status, other_status) == (0, 0)
    assert sorted(site.requested) == sorted(pages)
    assert left.states == {"done": 8}
    assert (left.letters, left.in_flight, left.leases) == ([], 0, 0)
    assert count(log, "frontier/acked") + count(other_log, "frontier/acked") == 8
    assert count(log, "item_scraped_count") + count(other_log, "item_scraped_count") == 8
    assert alive == {200}
    assert (
        len(re.findall(r"The event loop has been blocked for \d+ s by StandingSpider.parse \(spiders.py:\d+\)", log))
        == 1
    )
    assert count(log, "frontier/standstills") == 1
