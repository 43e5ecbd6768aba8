"""`make bench`: Shoal workers beside one stock scrapy-redis worker, all storing the same pages in MongoDB.

Each round starts a worker on an empty queue and database, gives it the front pages of eight hosts, and samples its CPU
time from when a tenth of the pages is stored until all are: start and end are left out. Rounds alternate, and medians
are compared. The stock worker reads its fields from JSON-LD with `json.loads` and stores with one `insert_one` per
item. The same project is measured in Shoal, with the add-on's line in its settings and its spider unchanged, and
Shoal's own spider `products`, which knows nothing of the site and finds out what is the product on each page. Both do
all that Shoal's pipelines do.
"""

from __future__ import annotations

import argparse
import re
import statistics
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pymongo
import redis
from rich.console import Console
from rich.table import Table

from benchmarks import chart, document
from benchmarks.static_shop import HOSTS
from benchmarks.worker import Sample, Worker
from crawler import embedded
from demo.arguments import whole
from demo.children import Family
from demo.state import any_port

PROJECT: Final = Path(__file__).resolve().parent.parent
HOME: Final = PROJECT / ".demo" / "bench"
SHOAL, SAME, STOCK = "Shoal", "Shoal, same spider", "scrapy-redis"
_STOCK_PROJECT: Final = PROJECT / "benchmarks" / "stock_scrapy_redis"
DIRECTORIES: Final = {SHOAL: PROJECT, SAME: _STOCK_PROJECT, STOCK: _STOCK_PROJECT}
# Items of a type that Shoal does not know are in a collection of their own.
COLLECTIONS: Final = {SHOAL: "products", SAME: "items", STOCK: "products"}
# Settings of both; the rest are each one's own.
COMMON: Final = {
    "CONCURRENT_REQUESTS": 64,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 64,
    "DOWNLOAD_DELAY": 0,
    "AUTOTHROTTLE_ENABLED": False,
}
OWN: Final[Mapping[str, Mapping[str, object]]] = {
    SHOAL: {"GUARD_ALLOWED_NETWORKS": "127.0.0.0/8"},
    SAME: {"GUARD_ALLOWED_NETWORKS": "127.0.0.0/8"},
    STOCK: {},
}
# Its scrapy.cfg names the settings with the add-on `shoal`.
_ENVIRONMENTS: Final = {SAME: {"SCRAPY_PROJECT": "shoal", "PYTHONPATH": str(PROJECT)}}
PLOT: Final = PROJECT / "docs" / "cost-per-page.svg"
LIMIT_SECONDS = 180.0
POLL_SECONDS = 0.02


@dataclass(frozen=True, slots=True)
class Figures:
    """One round of one worker."""

    cpu_ms: float  # per page, between the first sample and the last
    pages_per_second: float
    memory_mb: float
    life_cpu: float  # seconds, start and end included


class Bench:
    """The servers, and the pages to fetch."""

    def __init__(self, servers: embedded.Endpoints, urls: Sequence[str], pages: int) -> None:
        self.servers = servers
        self.urls = urls
        self.pages = pages
        self._redis = redis.Redis.from_url(servers.redis_url)
        self._mongodb: pymongo.MongoClient[dict[str, Any]] = pymongo.MongoClient(servers.mongodb_uri)

    def round(self, who: str, number: int) -> Figures:
        """Crawl everything once with a worker of *who*; raises TimeoutError, ChildProcessError."""
        database = f"bench_{number}_{re.sub('[^a-z]+', '_', who.lower())}"
        self.queue_start_urls()
        log, environment = HOME / f"{database}.log", _ENVIRONMENTS.get(who)
        worker = Worker(self.command(who, database), DIRECTORIES[who], log, environment)
        try:
            first, last = self.watch(worker, database, COLLECTIONS[who])
            memory = worker.peak_mb()
        finally:
            life = worker.end()
            self.drop(database)
        pages = last.stored - first.stored
        cpu, seconds = last.cpu - first.cpu, last.at - first.at
        return Figures(cpu / pages * 1000, pages / seconds, memory, life)

    def queue_start_urls(self) -> None:
        """Into an empty queue."""
        self._redis.flushall()
        self._redis.lpush("products:start_urls", *self.urls)

    def drop(self, database: str) -> None:
        """Delete what a round has stored."""
        self._mongodb.drop_database(database)

    def watch(self, worker: Worker, database: str, collection: str = "products") -> tuple[Sample, Sample]:
        """Samples when a tenth of the products is stored (at the latest, before all are), and when all are; raises
        TimeoutError."""
        products = self._mongodb[database][collection]
        deadline = time.monotonic() + LIMIT_SECONDS
        first = worker.sample(0)
        while time.monotonic() < deadline:
            sample = worker.sample(products.estimated_document_count())
            if sample.stored >= self.pages:
                return first, sample
            if first.stored < self.pages // 10:
                first = sample
            time.sleep(POLL_SECONDS)
        stored = products.estimated_document_count()
        raise TimeoutError(f"{stored} of {self.pages} pages stored after {LIMIT_SECONDS:.0f} s, see {worker.log}")

    def command(self, who: str, database: str) -> list[str]:
        """The command line of a worker that stores in *database*."""
        servers = {"REDIS_URL": self.servers.redis_url, "MONGODB_URI": self.servers.mongodb_uri}
        settings = {**COMMON, **OWN[who], **servers, "MONGODB_DATABASE": database}
        options = [part for name, value in settings.items() for part in ("-s", f"{name}={value}")]
        return [sys.executable, "-m", "scrapy", "crawl", "products", *options]


@contextmanager
def prepared(pages: int) -> Iterator[Bench]:
    """Servers and shop, with a data directory of their own."""
    with Family(HOME) as family:
        servers = embedded.ensure(HOME / "services", preferred_ports=False)
        port, urls = any_port(), HOME / "urls.txt"
        urls.unlink(missing_ok=True)
        shop = family.start(
            "shop", "benchmarks.static_shop", "--pages", str(pages), "--port", str(port), "--urls", str(urls)
        )
        while not urls.exists():
            if shop.status is not None:
                raise ChildProcessError(f"the shop did not start: {shop.tail()}")
            time.sleep(0.05)
        yield Bench(servers, urls.read_text().split(), pages)


def measure(bench: Bench, rounds: int, console: Console) -> dict[str, list[Figures]]:
    """*rounds* rounds of each, in turns."""
    figures: dict[str, list[Figures]] = {SHOAL: [], SAME: [], STOCK: []}
    for number in range(rounds):
        for who, found in figures.items():
            found.append(bench.round(who, number))
            one = found[-1]
            text = f"{one.cpu_ms:.2f} CPU-ms per page, {one.pages_per_second:.0f} pages/s"
            console.print(f"round {number + 1}: {who}: {text}", highlight=False)
    return figures


def median(figures: Sequence[Figures]) -> Figures:
    """Field by field."""
    names = Figures.__slots__
    return Figures(*(statistics.median(getattr(one, name) for one in figures) for name in names))


def table(figures: Mapping[str, Sequence[Figures]]) -> list[list[str]]:
    """A row for each, and one for the ratio of medians of each of ours: its gain over stock."""
    medians = {who: median(found) for who, found in figures.items()}
    stock = medians[STOCK]
    rows = [[who, *_cells(one)] for who, one in medians.items()]
    return rows + [[f"times better: {who}", *_ratios(one, stock)] for who, one in medians.items() if who != STOCK]


def _ratios(ours: Figures, stock: Figures) -> list[str]:
    return [
        f"{stock.cpu_ms / ours.cpu_ms:.2f}",
        f"{ours.pages_per_second / stock.pages_per_second:.2f}",
        f"{stock.memory_mb / ours.memory_mb:.2f}",
        f"{stock.life_cpu / ours.life_cpu:.2f}",
    ]


def _cells(one: Figures) -> list[str]:
    return [f"{one.cpu_ms:.2f}", f"{one.pages_per_second:.0f}", f"{one.memory_mb:.0f}", f"{one.life_cpu:.1f}"]


HEAD: Final = ("one worker", "CPU ms per page", "pages/s", "memory MB", "CPU s, start and end included")


def publish(body: list[list[str]], pages: int, rounds: int) -> None:
    """Write the section of docs/benchmarks.md, and docs/cost-per-page.svg from it."""
    about = __doc__.partition("\n\n")[2].strip()
    where = document.machine("scrapy", "scrapy-redis", "pymongo")
    text = (
        f"## A crawl that stores: `make bench`\n\n{about}\n\n"
        f"{pages} static pages of 20 KB on {HOSTS} hosts, 64 requests in flight, no delay, medians of {rounds} rounds. "
        f"{where}.\n\n{document.rows(HEAD, body)}\n"
    )
    document.write("crawl", text)
    PLOT.write_text(plot(document.table("crawl")))


def plot(body: Sequence[Sequence[str]]) -> str:
    """CPU time per page of each as SVG, from the rows of the table in docs/benchmarks.md."""
    figures = [(row[0], float(row[1])) for row in body if row[0] in COLLECTIONS]
    return chart.bars(
        "CPU time per page", "one worker, pages of 20 KB stored in MongoDB; less is better", figures, "ms"
    )


def main() -> int:
    """Measure, print, write; exit status 1 if a round does not finish."""
    parser = argparse.ArgumentParser(prog="benchmarks.crawl", description="One worker beside stock scrapy-redis")
    parser.add_argument("--pages", type=whole(HOSTS, multiple_of=HOSTS), default=2400, help="products, a multiple of 8")
    parser.add_argument("--rounds", type=whole(1), default=3)
    parser.add_argument("--no-write", dest="write", action="store_false", help="leave docs/benchmarks.md alone")
    options = parser.parse_args()
    console = Console()
    try:
        with prepared(options.pages) as bench:
            figures = measure(bench, options.rounds, console)
    except (TimeoutError, ChildProcessError) as error:
        sys.stderr.write(f"bench: {error}\n")
        return 1
    body = table(figures)
    shown = Table(*HEAD)
    for row in body:
        shown.add_row(*row)
    console.print(shown)
    if options.write:
        publish(body, options.pages, options.rounds)
    return 0


if __name__ == "__main__":
    sys.exit(main())
