"""Shared by the fairness benchmarks: servers, a slow site, two kinds of workers and their queues."""

from __future__ import annotations

import asyncio
import json
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import redis
import redis.asyncio
from scrapy import Request
from scrapy.spiders import Spider
from scrapy_redis.queue import PriorityQueue

from benchmarks import document
from benchmarks.crawl import DIRECTORIES, PROJECT, SHOAL
from benchmarks.visits import VisitsSpider
from benchmarks.worker import Worker
from crawler import embedded
from crawler.frontier.config import FrontierConfig
from crawler.frontier.frontier import Frontier
from crawler.frontier.messages import Message
from crawler.routing import codec
from crawler.utils.plural import several
from demo.children import Child, Family
from demo.state import any_port

HOME: Final = PROJECT / ".demo" / "fairness"
DOCUMENT: Final = PROJECT / "docs" / "benchmarks-fairness.md"
LEASE_SECONDS: Final = 4
START_WITHIN_SECONDS: Final = 2
BATCH: Final = 1_000
POLL_SECONDS: Final = 0.05
COMMON: Final = {
    "ROBOTSTXT_OBEY": False,
    "DOWNLOAD_DELAY": 0,
    "AUTOTHROTTLE_ENABLED": False,
    "ITEM_PIPELINES": "{}",
    "DOWNLOAD_TIMEOUT": 120,
}
OWN: Final = {
    "SHOAL_STORE": False,
    "SPIDER_MODULES": "benchmarks.visits",
    "METRICS_PORT": -1,
    "GUARD_ALLOWED_NETWORKS": "127.0.0.0/8",
}


@dataclass(frozen=True, slots=True)
class Visit:
    """One request to queue; *delay* in seconds is its host's."""

    url: str
    delay: float = 0.0
    cap: int = 1
    priority: int = 0


@dataclass(frozen=True, slots=True)
class Span:
    """A host's requests: their number, the times of the first and last, the shortest gap between two (seconds)."""

    count: int
    first: float
    last: float
    closest: float


@dataclass(frozen=True, slots=True)
class Bed:
    """Running servers and a running site."""

    servers: embedded.Endpoints
    port: int

    def url(self, host: str, seconds: float, number: int) -> str:
        """A page that answers after *seconds*."""
        return f"http://{host}:{self.port}/{seconds:g}/{number}"

    def answered(self) -> int:
        """How many requests have been answered."""
        return sum(answered for _, answered in self.counts().values())

    def fill(self, who: str, visits: Sequence[Visit]) -> None:
        """Put *visits* into the emptied queue of *who*, as its own scheduler would."""
        redis.Redis.from_url(self.servers.redis_url).flushall()
        if who == SHOAL:
            asyncio.run(self._fill_frontier(visits))
        else:
            self._fill_stock(visits)

    def start(self, who: str, settings: Mapping[str, object]) -> Worker:
        """A worker of *who*."""
        own = OWN if who == SHOAL else {}
        given = {**COMMON, **own, "REDIS_URL": self.servers.redis_url, **settings}
        options = [part for name, value in given.items() for part in ("-s", f"{name}={value}")]
        command = [sys.executable, "-m", "scrapy", "crawl", "visits", *options]
        return Worker(command, DIRECTORIES[who], HOME / f"{who}.log")

    def counts(self) -> dict[str, tuple[int, int]]:
        """By host: how many requests it got and answered."""
        return {host: (asked, answered) for host, (asked, answered) in self._page("counts").items()}

    def early(self) -> int:
        """How many requests came to a host during a pause that it had asked for."""
        return sum(self._page("early").values())

    def spans(self) -> dict[str, Span]:
        """The spans by host."""
        return {host: Span(*span) for host, span in self._page("spans").items()}

    def asked(self) -> set[str]:
        """URLs requested so far."""
        return {f"http://{place.replace('/', f':{self.port}/', 1)}" for place in self._page("asked")}

    async def deliveries(self) -> dict[str, int]:
        """Lease what a dead worker left, after its leases expired; returns deliveries charged, by URL."""
        found: dict[str, int] = {}
        deadline = time.monotonic() + 3 * LEASE_SECONDS
        async with redis.asyncio.from_url(self.servers.redis_url) as client:
            frontier = Frontier(
                client, FrontierConfig(lease_ms=LEASE_SECONDS * 1000, start_within_ms=START_WITHIN_SECONDS * 1000)
            )
            while time.monotonic() < deadline:
                batch = await frontier.lease(["visits"], 64, worker="benchmark", suspects_ok=True)
                found |= {codec.decode(one.body, VisitsSpider()).url: one.deliveries for one in batch.leases}
                await frontier.settle(acks=[(one.id, one.token) for one in batch.leases])
                await asyncio.sleep(0 if batch.leases else POLL_SECONDS)
        return found

    async def _fill_frontier(self, visits: Sequence[Visit]) -> None:
        async with redis.asyncio.from_url(self.servers.redis_url) as client:
            frontier = Frontier(client, FrontierConfig())
            await frontier.open()
            for at in range(0, len(visits), BATCH):
                await frontier.push([_message(at + n, visit) for n, visit in enumerate(visits[at : at + BATCH])])

    def _fill_stock(self, visits: Sequence[Visit]) -> None:
        client = redis.Redis.from_url(self.servers.redis_url)
        queue = PriorityQueue(client, Spider("visits"), "%(spider)s:requests")
        for visit in visits:
            queue.push(Request(visit.url, priority=visit.priority))

    def _page(self, name: str) -> Any:
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/{name}", timeout=10) as answer:
            return json.load(answer)


def _message(number: int, visit: Visit) -> Message:
    return Message(
        host=urlsplit(visit.url).hostname or "",
        stream="visits",
        spider="visits",
        body=codec.encode(Request(visit.url), VisitsSpider),
        fingerprint=number,
        priority=visit.priority,
        delay_ms=round(visit.delay * 1000),
        cap=visit.cap,
    )


@contextmanager
def made(hosts: Sequence[str]) -> Iterator[Bed]:
    """A new site on *hosts*, with its own servers."""
    servers = embedded.ensure(HOME / "services", preferred_ports=False, mongodb=False)
    with Family(HOME) as family:
        yield Bed(servers, open_site(family, hosts))


def open_site(family: Family, hosts: Sequence[str]) -> int:
    """Start it; returns its port."""
    port, ready = any_port(), HOME / "site.ready"
    start(family, "site", ready, "benchmarks.waiting_site", "--port", str(port), "--ready", str(ready), *hosts)
    return port


def start(family: Family, name: str, ready: Path, *arguments: str) -> Child:
    """Start a child that writes the file *ready* when it is ready; raises ChildProcessError if it ends instead."""
    ready.write_text("")
    child = family.start(name, *arguments)
    while not ready.read_text():
        if child.status is not None:
            raise ChildProcessError(f"{name} did not start: {child.tail()}")
        time.sleep(POLL_SECONDS)
    return child


def publish(name: str, title: str, about: str, table: str, rounds: int) -> None:
    """Write the section *name* of the document."""
    text = f"## {title}\n\n{about.strip()}\n\n{table}\n\nMedians of {several(rounds, 'round')} of each, in turns."
    document.write(name, text, DOCUMENT)


def until(condition: Callable[[], bool], seconds: float, worker: Worker) -> None:
    """Wait for *condition*, which *worker* brings about; raises TimeoutError, or ChildProcessError if it ends."""
    deadline = time.monotonic() + seconds
    while not condition():
        worker.sample(0)
        if time.monotonic() > deadline:
            raise TimeoutError(f"the worker is not at work after {seconds:.0f} s, see {worker.log}")
        time.sleep(POLL_SECONDS)
