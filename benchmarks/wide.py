"""`make bench-wide`: many hosts, few pages of each, over TLS with a robots.txt for each.

One Shoal worker that obeys robots.txt and stores, beside stock scrapy-redis that does neither, and beside a loop as one
writes it by hand (aiohttp and selectolax; no robots.txt, no store, no queue), which works off one host after the other
and so keeps to one connection for each. Every host has a certificate of its own below an intermediate one; Shoal and
the loop verify it, stock Scrapy does not. The front pages are queued, the others found by links. CPU time of the worker
is counted from its first stored page on to its last, in turns; ratios are of medians. Variants: pages without further
links, pages with 20 links each (to pages of their host, and to the front pages of others, known by then), and Shoal
without robots.txt, for what a robots.txt costs.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

import pymongo
import redis

from benchmarks import bed
from benchmarks.crawl import DIRECTORIES, PROJECT, SHOAL, STOCK
from benchmarks.wide_site import ADDRESS, PAGES, name
from benchmarks.worker import Sample, Worker
from crawler import embedded
from demo.children import Family
from demo.state import free_port

HOME: Final = PROJECT / ".demo" / "wide"
DOCUMENT: Final = PROJECT / "docs" / "benchmarks-wide.md"
UNASKED, LOOP = "Shoal, robots.txt not asked for", "aiohttp loop"
LINKS: Final = (0, 20)
MOST, AIM = 3.5, 3.0  # times the loop
MOST_ROBOTS_MS: Final = 0.8  # for one robots.txt
LIMIT_SECONDS: Final = 300.0
POLL_SECONDS: Final = 0.05
SETTINGS: Final = {
    "CONCURRENT_REQUESTS": 64,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 1,
    "DOWNLOAD_DELAY": 0,
    "AUTOTHROTTLE_ENABLED": False,
}
OWN: Final[Mapping[str, Mapping[str, object]]] = {
    SHOAL: {"GUARD_ALLOWED_NETWORKS": "127.0.0.0/8", "METRICS_PORT": -1},
    UNASKED: {"GUARD_ALLOWED_NETWORKS": "127.0.0.0/8", "METRICS_PORT": -1, "ROBOTSTXT_OBEY": False},
    STOCK: {"ROBOTSTXT_OBEY": False, "ITEM_PIPELINES": '{"stock.pipelines.CountPipeline": 1}'},
}


@dataclass(frozen=True, slots=True)
class Figures:
    """One round of one side."""

    cpu_ms: float  # per page
    pages_per_second: float
    memory_mb: float = 0.0
    connections: float = 0.0  # per host
    resumed: float = 0.0  # share of the TLS sessions


@dataclass(frozen=True, slots=True)
class Bench:
    """Servers, and a site of *hosts*."""

    servers: embedded.Endpoints
    hosts: int
    port: int

    def round(self, who: str) -> Figures:
        """Crawl everything once; raises TimeoutError, ChildProcessError."""
        before = self._counts()
        figures = self._loop() if who == LOOP else self._worker(who)
        after = self._counts()
        opened, resumed = (after.get(key, 0) - before.get(key, 0) for key in ("connections", "resumed"))
        opened -= 1  # that of the counts
        return Figures(*figures, opened / self.hosts, resumed / max(1, opened))

    def _loop(self) -> tuple[float, float, float]:
        given = ["--hosts", str(self.hosts), "--port", str(self.port), "--root", str(HOME / "root.pem")]
        command = [sys.executable, "-m", "benchmarks.wide_loop", *given]
        done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, timeout=LIMIT_SECONDS, check=False)
        if done.returncode:
            raise ChildProcessError(f"the loop has ended with status {done.returncode}: {done.stderr[-2000:]}")
        found = json.loads(done.stdout)
        return found["cpu_ms"], found["pages_per_second"], found["memory_mb"]

    def _worker(self, who: str) -> tuple[float, float, float]:
        side = STOCK if who == STOCK else SHOAL
        client = redis.Redis.from_url(self.servers.redis_url)
        client.flushall()
        client.lpush("products:start_urls", *(f"https://{name(number)}:{self.port}/" for number in range(self.hosts)))
        mongodb: pymongo.MongoClient[dict[str, Any]] = pymongo.MongoClient(self.servers.mongodb_uri)
        mongodb.drop_database("wide")
        stored: Callable[[], int] = (
            (lambda: int(client.get("stock:items") or 0))
            if who == STOCK
            else mongodb["wide"]["products"].estimated_document_count
        )
        worker = Worker(self._command(who), DIRECTORIES[side], HOME / "worker.log")
        try:
            first, last = self._watch(worker, stored)
            memory = worker.peak_mb()
        finally:
            worker.kill()
            mongodb.close()
        pages = last.stored - first.stored
        return (last.cpu - first.cpu) / pages * 1000, pages / (last.at - first.at), memory

    def _watch(self, worker: Worker, stored: Callable[[], int]) -> tuple[Sample, Sample]:
        deadline, first = time.monotonic() + LIMIT_SECONDS, None
        while time.monotonic() < deadline:
            sample = worker.sample(stored())
            if first is None and sample.stored:
                first = sample
            if first is not None and sample.stored >= self.hosts * PAGES:
                return first, sample
            time.sleep(POLL_SECONDS)
        raise TimeoutError(f"{stored()} of {self.hosts * PAGES} pages after {LIMIT_SECONDS:.0f} s, see {worker.log}")

    def _command(self, who: str) -> list[str]:
        servers = {"REDIS_URL": self.servers.redis_url, "MONGODB_URI": self.servers.mongodb_uri}
        settings = {**SETTINGS, **OWN[who], **servers, "MONGODB_DATABASE": "wide"}
        options = [part for key, value in settings.items() for part in ("-s", f"{key}={value}")]
        file = str(PROJECT / "benchmarks" / "wide_names.py")
        return ["env", f"SSL_CERT_FILE={HOME / 'root.pem'}", sys.executable, file, "crawl", "products", *options]

    def _counts(self) -> Mapping[str, int]:
        return counts(self.port)


def counts(port: int) -> Mapping[str, int]:
    """What the site has counted."""
    import ssl

    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with urllib.request.urlopen(f"https://{ADDRESS}:{port}/counts", context=context, timeout=10) as answer:
        found: dict[str, int] = json.load(answer)
        return found


@contextmanager
def made(hosts: int, links: int) -> Iterator[Bench]:
    """A new site, beside servers of its own."""
    HOME.mkdir(parents=True, exist_ok=True)
    servers = embedded.ensure(HOME / "services", preferred_ports=False)
    port, ready = free_port(), HOME / "site.ready"
    with Family(HOME) as family:
        given = ("--hosts", str(hosts), "--links", str(links), "--port", str(port), "--certificates", str(HOME))
        bed.start(family, "site", ready, "benchmarks.wide_site", *given, "--ready", str(ready))
        yield Bench(servers, hosts, port)
