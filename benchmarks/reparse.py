"""`make bench-reparse`: pages parsed again from the archive, beside the same pages crawled again from a local site.

Each round crawls a static shop with one worker (64 requests in flight, no delay, the same pipelines, archiving), then
parses what it archived again, with one worker and with two. Nothing has changed: each item is compared with what is
stored, nothing is written again, and links are not looked for. Both are timed from a tenth of the pages on, so starting
up is left out, and products are counted on both sides; listings and missing pages come on top. `scrapy reparse` takes a
worker per core (up to four) unless told otherwise, and the crawl that it is compared with has one.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import pymongo
import redis
from rich.console import Console
from rich.table import Table

from benchmarks import document
from benchmarks.crawl import COMMON, HOME, OWN, PROJECT, SHOAL, Bench, prepared
from benchmarks.static_shop import HOSTS, PER_LISTING
from benchmarks.worker import Worker
from demo.arguments import whole

ARCHIVE: Final = HOME / "archive"
DATABASE: Final = "bench_reparse"
WORKERS: Final = (1, 2)
LIMIT_SECONDS: Final = 120.0


@dataclass(frozen=True, slots=True)
class Round:
    """Products per second: crawled, and parsed again by number of workers."""

    crawled: float
    parsed: dict[int, float]


def one_round(bench: Bench) -> Round:
    """Crawl, then parse again; raises TimeoutError, ChildProcessError."""
    shutil.rmtree(ARCHIVE, ignore_errors=True)
    pymongo.MongoClient[dict[str, Any]](bench.servers.mongodb_uri).drop_database(DATABASE)
    return Round(crawl(bench), {workers: parse(bench, workers) for workers in WORKERS})


def settings(bench: Bench) -> dict[str, Any]:
    """The same for both."""
    servers = {"REDIS_URL": bench.servers.redis_url, "MONGODB_URI": bench.servers.mongodb_uri}
    own = {"MONGODB_DATABASE": DATABASE, "ARCHIVE_DIR": str(ARCHIVE), "METRICS_PORT": -1}
    return {**COMMON, **OWN[SHOAL], **servers, **own}


def crawl(bench: Bench) -> float:
    """Products per second of a crawl that archives."""
    client = redis.Redis.from_url(bench.servers.redis_url)
    client.flushall()
    client.lpush("products:start_urls", *bench.urls)
    options = [part for name, value in settings(bench).items() for part in ("-s", f"{name}={value}")]
    command = [sys.executable, "-m", "scrapy", "crawl", "products", *options, "-s", "ARCHIVE_PAGES=all"]
    worker = Worker(command, PROJECT, HOME / "reparse-crawl.log")
    try:
        first, last = bench.watch(worker, DATABASE)
    finally:
        worker.end()
    return (last.stored - first.stored) / (last.at - first.at)


def parse(bench: Bench, workers: int) -> float:
    """Products per second of that many workers together."""
    found = [Parser(settings(bench), share, workers) for share in range(workers)]
    for one in found:
        one.join(LIMIT_SECONDS)
    return sum(one.per_second() for one in found) * bench.pages / sum(one.pages for one in found)


class Parser(threading.Thread):
    """One worker of a re-parse, and when it was how far."""

    def __init__(self, given: dict[str, Any], share: int, shares: int) -> None:
        super().__init__(daemon=True)
        chosen = {"spider": "products", "share": share, "shares": shares}
        self._job = {"spider": "products", "selection": chosen, "dry_run": False, "settings": given}
        self._seen: list[tuple[float, int]] = []
        self.stats: dict[str, int] = {}
        self.start()

    def run(self) -> None:
        command = [sys.executable, "-m", "crawler.replay"]
        with (HOME / "reparse.log").open("ab") as log:
            worker = subprocess.Popen(command, cwd=PROJECT, stdin=-1, stdout=-1, stderr=log, text=True)
        self.stats = self._talk(worker)
        worker.wait()

    @property
    def pages(self) -> int:
        """All that it parsed; raises ChildProcessError when it did not come to its end."""
        if not self.stats or len(self._seen) < 2:
            raise ChildProcessError(f"a re-parse did not come to its end, see {HOME / 'reparse.log'}")
        return self._seen[-1][1]

    def per_second(self) -> float:
        """Pages, from a tenth of them on; raises ChildProcessError."""
        timed = [one for one in self._seen if one[1] * 10 >= self.pages]
        if len(timed) < 2:
            raise ChildProcessError("a re-parse is over before it can be timed: more --pages")
        (began, before), (ended, after) = timed[0], timed[-1]
        return (after - before) / (ended - began)

    def _talk(self, worker: subprocess.Popen[str]) -> dict[str, int]:
        assert worker.stdin is not None
        assert worker.stdout is not None
        with worker.stdin:
            json.dump(self._job, worker.stdin)
        stats: dict[str, int] = {}
        for line in worker.stdout:
            said = json.loads(line)
            stats = said.get("report", {}).get("stats", stats)
            if done := said.get("done"):  # the last one comes when all is stored
                self._seen.append((time.monotonic(), done))
        return stats


def body(rounds: Sequence[Round]) -> list[list[str]]:
    """A row for the crawl and one for each number of workers, with the ratio of medians."""
    crawled = statistics.median(one.crawled for one in rounds)
    made = [["crawled again, one worker", f"{crawled:.0f}", "1.0"]]
    for workers in WORKERS:
        parsed = statistics.median(one.parsed[workers] for one in rounds)
        made.append([f"parsed again, workers: {workers}", f"{parsed:.0f}", f"{parsed / crawled:.1f}"])
    return made


HEAD: Final = ("", "products/s", "times the crawl")


def main() -> int:
    """Measure, print, write; exit status 1 when a round does not come to its end."""
    parser = argparse.ArgumentParser(prog="benchmarks.reparse", description="Parsing again beside crawling again")
    parser.add_argument("--pages", type=whole(HOSTS, multiple_of=HOSTS), default=4800, help="products, a multiple of 8")
    parser.add_argument("--rounds", type=whole(1), default=3)
    parser.add_argument("--no-write", dest="write", action="store_false", help="leave docs/benchmarks.md alone")
    options = parser.parse_args()
    try:
        with prepared(options.pages) as bench:
            rounds = [one_round(bench) for _ in range(options.rounds)]
    except (TimeoutError, ChildProcessError) as error:
        sys.stderr.write(f"bench-reparse: {error}\n")
        return 1
    made = body(rounds)
    shown = Table(*HEAD)
    for row in made:
        shown.add_row(*row)
    Console().print(shown)
    if options.write:
        listings = -(-options.pages // HOSTS // PER_LISTING) * HOSTS
        text = (
            f"## Parsing again: `make bench-reparse`\n\n{__doc__.partition(chr(10) * 2)[2].strip()}\n\n"
            f"{options.pages} products of 20 KB and {listings} listings on {HOSTS} hosts, medians of {options.rounds} "
            f"rounds. {document.machine('scrapy', 'pymongo')}.\n\n{document.rows(HEAD, made)}\n"
        )
        document.write("reparse", text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
