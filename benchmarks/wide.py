"""`make bench-wide`: many hosts, few pages of each, over TLS with a robots.txt for each.

One Shoal worker that obeys robots.txt and stores, beside stock scrapy-redis that does neither, and beside a
hand-written loop (aiohttp and selectolax; no robots.txt, no store, no queue), which crawls one host after the other
over one connection each. Every host has its own certificate below an intermediate one; Shoal and the loop verify it,
stock Scrapy does not. The front pages are queued, the others found by links. CPU time of the worker counts from when it
takes its first start URL until its last page is stored; rounds alternate, ratios are of medians. Variants: pages
without further links, pages with 20 links each (to pages of their host, and to front pages of other, known hosts), and
what a robots.txt costs: one more worker visits hosts in short blocks, half of which are exempt from it, and each block
is compared with its neighbour.
"""

from __future__ import annotations

import argparse
import json
import ssl
import statistics
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Final

import pymongo
import redis
from rich.console import Console

from benchmarks import bed, document, wide_robots
from benchmarks.crawl import DIRECTORIES, PROJECT, SHOAL, STOCK
from benchmarks.wide_robots import Cost
from benchmarks.wide_site import ADDRESS, PAGES, name
from benchmarks.worker import Sample, Worker
from crawler import embedded
from demo.arguments import whole
from demo.children import Family
from demo.state import any_port

HOME: Final = PROJECT / ".demo" / "wide"
DOCUMENT: Final = PROJECT / "docs" / "benchmarks-wide.md"
LOOP: Final = "aiohttp loop"
LINKS: Final = (0, 20)
MOST: Final = 3.5  # times the loop; the aim is 3
MOST_ROBOTS_MS: Final = 0.8  # for one robots.txt
PAIRS: Final = 24  # of blocks, for that
LIMIT_SECONDS: Final = 300.0
POLL_SECONDS: Final = 0.05
START_URLS: Final = "products:start_urls"
SETTINGS: Final = {
    "CONCURRENT_REQUESTS": 64,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 1,
    "DOWNLOAD_DELAY": 0,
    "AUTOTHROTTLE_ENABLED": False,
}
OWN: Final[Mapping[str, Mapping[str, object]]] = {
    SHOAL: {"GUARD_ALLOWED_NETWORKS": "127.0.0.0/8", "METRICS_PORT": -1},
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
        with self._started(who, range(self.hosts)) as (worker, client, stored):
            first, last = self.watch(worker, lambda: int(client.llen(START_URLS)), stored)
            memory = worker.peak_mb()
        return (last.cpu - first.cpu) / last.stored * 1000, last.stored / (last.at - first.at), memory

    @contextmanager
    def _started(
        self, who: str, hosts: range, more: Mapping[str, object] = MappingProxyType({})
    ) -> Iterator[tuple[Worker, redis.Redis, Callable[[], int]]]:
        """A worker with the front pages of *hosts* before it, Redis, and what counts the pages stored."""
        client = redis.Redis.from_url(self.servers.redis_url)
        client.flushall()
        mongodb: pymongo.MongoClient[dict[str, Any]] = pymongo.MongoClient(self.servers.mongodb_uri)
        mongodb.drop_database("wide")
        self._queue(client, hosts)
        stored: Callable[[], int] = (
            (lambda: int(client.get("stock:items") or 0))
            if who == STOCK
            else mongodb["wide"]["products"].estimated_document_count
        )
        worker = Worker(self._command(who, more), DIRECTORIES[who], HOME / "worker.log")
        try:
            yield worker, client, stored
        finally:
            worker.kill()
            mongodb.close()

    def _queue(self, client: redis.Redis, hosts: range) -> None:
        client.lpush(START_URLS, *(f"https://{name(number)}:{self.port}/" for number in hosts))

    def robots(self, pairs: int) -> Cost:
        """What a robots.txt costs; raises TimeoutError, ChildProcessError."""
        size, costs = wide_robots.HOSTS, list[float]()
        with self._started(SHOAL, range(size), wide_robots.settings(size)) as (worker, client, stored):
            for block in range(2 * pairs + 2):
                began = worker.cpu_seconds()
                if block:
                    self._queue(client, range(block * size, (block + 1) * size))
                self._wait(worker, stored, (block + 1) * size * PAGES)
                time.sleep(wide_robots.SETTLE_SECONDS)
                costs.append((worker.cpu_seconds() - began) / size * 1000)
        return Cost.of(costs)

    @staticmethod
    def _wait(worker: Worker, stored: Callable[[], int], pages: int) -> None:
        deadline = time.monotonic() + LIMIT_SECONDS
        while worker.sample(0).at < deadline:
            if stored() >= pages:
                return
            time.sleep(POLL_SECONDS)
        raise TimeoutError(f"{stored()} of {pages} pages after {LIMIT_SECONDS:.0f} s, see {worker.log}")

    def watch(self, worker: Worker, queued: Callable[[], int], stored: Callable[[], int]) -> tuple[Sample, Sample]:
        """The last sample before it took a start URL, and one when all pages are stored; raises TimeoutError."""
        deadline, whole = time.monotonic() + LIMIT_SECONDS, self.hosts * PAGES
        first, waits = worker.sample(0), True
        while time.monotonic() < deadline:
            sample = worker.sample(0)
            if waits := waits and queued() >= self.hosts:
                first = sample  # taken before the queue was looked at: no page is in it, even if one poll sees them all
            elif (pages := stored()) >= whole:
                return first, worker.sample(pages)
            time.sleep(POLL_SECONDS)
        raise TimeoutError(f"{stored()} of {self.hosts * PAGES} pages after {LIMIT_SECONDS:.0f} s, see {worker.log}")

    def _command(self, who: str, more: Mapping[str, object]) -> list[str]:
        servers = {"REDIS_URL": self.servers.redis_url, "MONGODB_URI": self.servers.mongodb_uri}
        settings = {**SETTINGS, **OWN[who], **servers, "MONGODB_DATABASE": "wide", **more}
        options = [part for key, value in settings.items() for part in ("-s", f"{key}={value}")]
        file = str(PROJECT / "benchmarks" / "wide_names.py")
        return ["env", f"SSL_CERT_FILE={HOME / 'root.pem'}", sys.executable, file, "crawl", "products", *options]

    def _counts(self) -> Mapping[str, int]:
        return counts(self.port)


def counts(port: int) -> Mapping[str, int]:
    """What the site has counted."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with urllib.request.urlopen(f"https://{ADDRESS}:{port}/counts", context=context, timeout=10) as answer:
        found: dict[str, int] = json.load(answer)
        return found


Rounds = dict[str, list[Figures]]


def measure(hosts: int, links: int, rounds: int, pairs: int, console: Console) -> tuple[Rounds, Cost | None]:
    """*rounds* rounds of each side, in turns, and what a robots.txt costs: where there are no links to other hosts, and
    more than one of *pairs*."""
    found: Rounds = {who: [] for who in (LOOP, SHOAL, STOCK)}
    with made(hosts, links) as bench:
        cost = bench.robots(pairs) if pairs > 1 and not links else None
        for number in range(rounds):
            for who, figures in found.items():
                figures.append(one := bench.round(who))
                text = f"{one.cpu_ms:.2f} CPU-ms per page, {one.pages_per_second:.0f} pages/s"
                console.print(f"{links} links, round {number + 1}, {who}: {text}", highlight=False)
    if cost is not None:
        console.print(str(cost), highlight=False)
    return found, cost


def median(figures: Sequence[Figures]) -> Figures:
    """Field by field."""
    names = Figures.__slots__
    return Figures(*(statistics.median(getattr(one, key) for one in figures) for key in names))


HEAD: Final = ("one worker", "CPU ms per page", "times the loop", "pages/s", "memory MB", "connections per host")


def table(found: Rounds) -> list[list[str]]:
    """A row for each side."""
    loop = median(found[LOOP])
    middle = {who: median(figures) for who, figures in found.items()}
    return [
        [
            who,
            f"{one.cpu_ms:.2f}",
            f"{one.cpu_ms / loop.cpu_ms:.2f}",
            f"{one.pages_per_second:.0f}",
            f"{one.memory_mb:.0f}",
            f"{one.connections:.2f}",
        ]
        for who, one in middle.items()
    ]


def missed(found: Rounds, links: int, cost: Cost | None) -> list[str]:
    """The bars that were missed."""
    ratio = median(found[SHOAL]).cpu_ms / median(found[LOOP]).cpu_ms
    lines = [f"{links} links: {ratio:.2f} times the loop, at most {MOST} is wanted"] if ratio > MOST else []
    if cost is not None and cost.median > MOST_ROBOTS_MS:
        lines.append(f"{links} links: a robots.txt costs {cost.median:.2f} CPU-ms, at most {MOST_ROBOTS_MS} is wanted")
    return lines


def publish(found: Rounds, hosts: int, links: int, cost: Cost | None) -> None:
    """Write the section of the document."""
    title = f"{links} links a page" if links else "No further links"
    robots = f" {cost}" if cost is not None else ""
    rounds, where = len(found[SHOAL]), document.machine("scrapy", "scrapy-redis", "aiohttp")
    text = (
        f"## {title}\n\n{document.rows(HEAD, table(found))}\n\n"
        f"{hosts} hosts with {PAGES} pages each, medians of {rounds} rounds.{robots} {where}.\n"
    )
    document.write(f"links-{links}", text, DOCUMENT)


@contextmanager
def made(hosts: int, links: int, mongodb_uri: str = "") -> Iterator[Bench]:
    """A new site, beside servers of its own, but for the MongoDB at *mongodb_uri* where one is given."""
    HOME.mkdir(parents=True, exist_ok=True)
    servers = embedded.ensure(HOME / "services", preferred_ports=False, mongodb=not mongodb_uri)
    if mongodb_uri:
        servers = replace(servers, mongodb_uri=mongodb_uri)
    port, ready = any_port(), HOME / "site.ready"
    with Family(HOME) as family:
        given = ("--hosts", str(hosts), "--links", str(links), "--port", str(port), "--certificates", str(HOME))
        bed.start(family, "site", ready, "benchmarks.wide_site", *given, "--ready", str(ready))
        yield Bench(servers, hosts, port)


def main() -> int:
    """Measure, print, write; exit status 1 when a bar is missed or a round does not come to its end."""
    parser = argparse.ArgumentParser(prog="benchmarks.wide", description="Many hosts, few pages of each, over TLS")
    parser.add_argument("--hosts", type=whole(10, 90_000), default=2_000)
    parser.add_argument("--rounds", type=whole(1), default=3)
    parser.add_argument("--pairs", type=whole(0, 250), default=PAIRS, help="of blocks, for what a robots.txt costs")
    parser.add_argument("--links", type=whole(0, 200), action="append", help=f"per page (default: {LINKS})")
    parser.add_argument("--no-write", dest="write", action="store_false", help="leave docs/benchmarks-wide.md alone")
    given = parser.parse_args()
    lines: list[str] = []
    if given.write:
        about = (__doc__ or "").partition("\n\n")[2].strip()
        document.write("about", f"## Many hosts: `make bench-wide`\n\n{about}\n", DOCUMENT)
    try:
        for links in given.links or LINKS:
            found, cost = measure(given.hosts, links, given.rounds, given.pairs, Console())
            lines += missed(found, links, cost)
            if given.write:
                publish(found, given.hosts, links, cost)
    except (TimeoutError, ChildProcessError, subprocess.TimeoutExpired) as error:
        sys.stderr.write(f"bench-wide: {error}\n")
        return 1
    for line in lines:
        sys.stderr.write(f"bench-wide: {line}\n")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
