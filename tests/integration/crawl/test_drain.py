"""SIGTERM when something is in the way: each worker ends in good order before it is killed, and nothing is lost."""

from __future__ import annotations

import asyncio
import signal
import threading
import uuid
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from scrapy import signals
from scrapy.crawler import Crawler

from crawler.embedded.service import MONGOD, VALKEY
from tests.crawling import Fleet, Left, ended, open_frontier, said
from tests.servers import Server
from tests.sites import Page, Site
from tests.zygote import Forked

PAGES = 6
STARTED = 4  # CONCURRENT_REQUESTS of the test's workers
PATIENT: dict[str, Any] = {"FRONTIER_CLOSE_SECONDS": 1, "MAX_IDLE_TIME_BEFORE_CLOSE": 60}


@dataclass(eq=False)
class Working:
    """A worker in a frontier of its own that has asked for STARTED pages, which answer once `hold` is set."""

    fleet: Fleet
    site: Site
    hold: threading.Event
    worker: Forked
    spider: str

    async def terminated(self) -> tuple[int, str]:
        """Long before a pod's grace is over."""
        self.worker.send_signal(signal.SIGTERM)
        status, log = await ended(self.worker)
        assert log.count("Closing spider (shutdown)") == 1
        assert "Traceback" not in log
        return status, log

    async def left(self) -> Left:
        return await self.fleet.left(self.spider)


@asynccontextmanager
async def working(fleet: Fleet, spider: str = "walk", *others: str, **settings: Any) -> AsyncIterator[Working]:
    """One that may not have started yet."""
    own = replace(fleet, key=uuid.uuid4().hex, redis_url=settings.get("REDIS_URL", fleet.redis_url))
    hold = threading.Event()
    pages = {path: Page() for path in others} | {f"/{n}": Page(hold=hold) for n in range(PAGES)}
    with Site(pages) as site:
        await own.push(*map(site.url, pages), hosts=3, spider=spider)
        yield Working(own, site, hold, own.start(spider, **PATIENT | settings), spider)
        hold.set()


@pytest.fixture
def stores(tmp_path: Path) -> Iterator[tuple[Server, Server]]:
    """A Redis and a MongoDB of the test's own."""
    with ExitStack() as stack:
        found = []
        for service in (VALKEY, MONGOD):
            (tmp_path / service.name).mkdir()
            found.append(Server(service, tmp_path / service.name))
            stack.callback(found[-1].kill)
        yield found[0], found[1]


class SlowlyOpened:
    """An extension that a spider waits for as it opens."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> SlowlyOpened:
        extension = cls()
        crawler.signals.connect(extension._open, signals.spider_opened)
        return extension

    async def _open(self) -> None:
        await asyncio.sleep(0.5)


async def test_one_that_is_still_opening_closes_what_it_opened(fleet: Fleet) -> None:
    """On a busy machine that takes longer than other tests let a worker wait for its end."""
    slowly: dict[str, Any] = {"EXTENSIONS": {f"{__name__}.SlowlyOpened": 0}, "FRONTIER_CLOSE_SECONDS": 60}
    async with working(fleet, **slowly) as at:
        at.hold.set()  # or the end waits for pages that it sends as soon as it is open
        await said(at.worker, "Spider opened")
        status, log = await at.terminated()
        assert status == 0
        assert "Spider closed (shutdown)" in log


async def test_each_ends_in_good_order(fleet: Fleet, stores: tuple[Server, Server]) -> None:
    """Redis is away; MongoDB is, without a spool; its spider is paused; a callback holds up the event loop."""
    queue, documents = stores
    away: dict[str, Any] = {"MONGODB_URI": documents.url, "STORAGE_CONNECT_SECONDS": 0.3}
    away["STORAGE_RETRY_MAX_SECONDS"] = 0.3
    async with (
        working(fleet, REDIS_URL=queue.url) as unqueued,
        working(fleet, **away, SPOOL_DIR="") as unstored,
        working(fleet) as paused,
        working(fleet, "standing", "/stand", SHOAL_STORE=False) as blocked,
    ):
        crawls = (unqueued, unstored, paused, blocked)
        await asyncio.gather(*(one.site.asked(STARTED) for one in crawls))
        async with open_frontier(fleet.redis_url, paused.fleet.key) as frontier:
            await frontier.control.say("pause", "spider walk")
        await paused.fleet.until(lambda now: now.states == {"queued": PAGES - STARTED, "leased": STARTED})
        for server in stores:
            server.kill()
        for one in crawls:
            one.hold.set()
        for one, words in ((unqueued, "Redis does not answer"), (unstored, "MongoDB at")):
            await said(one.worker, words)
        ends = await asyncio.gather(*(one.terminated() for one in crawls))
        left = {one: await one.left() for one in crawls[1:]}
    assert [status for status, _ in ends] == [0] * len(crawls)
    assert "last reports within 1 s: its leases will expire" in ends[0][1]
    assert ends[1][1].count("Dropped: MongoDB is away and this worker has to end: its page is given back") >= STARTED
    assert left[unstored].states == {"queued": PAGES}
    assert left[paused].states == {"queued": PAGES - STARTED, "done": STARTED}
    assert sum(left[blocked].states.values()) == left[blocked].counters.accepted == PAGES + 1
    for found in left.values():
        assert (found.leases, found.in_flight, found.reasons) == (0, 0, [])


async def test_a_signal_in_the_middle_of_a_callback_ends_the_other_pages_as_well(fleet: Fleet) -> None:
    """Python runs its handler in the context of that page, about which closing is not."""
    hold = threading.Event()
    with Site({"/stand": Page(), "/slow": Page(hold=hold)}) as site:
        await fleet.push(site.url("/slow"), site.url("/stand"), spider="standing", hosts=2)
        worker = fleet.start("standing", **PATIENT | {"FRONTIER_CLOSE_SECONDS": 20})
        try:
            await site.asked(2)
            await asyncio.sleep(1)  # of the three that its callback stands still
            worker.send_signal(signal.SIGTERM)
            await said(worker, "Closing spider (shutdown)")
            await asyncio.sleep(0.5)
        finally:
            hold.set()
        status, log = await ended(worker)
        left = await fleet.left("standing")
    assert status == 0, log
    assert left.states == {"done": 2}
    assert sorted(site.requested) == ["/slow", "/stand"]
