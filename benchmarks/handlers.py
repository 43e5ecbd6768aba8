"""`make bench-handlers`: what a page costs in each HTTP handler, and in the chain of downloader middlewares.

Handlers: each round starts a process for each of them, on uvloop, which fetches the same 20 KB pages of a local site,
64 at once, through the handler alone: no engine, no middlewares, no spider. CPU time counts after a tenth of the pages.
Handlers alternate, and medians are compared.

The chain: inside a fleet worker, its middlewares get the same page repeatedly, answered at once by a stand-in for the
handler; beside that the same without middlewares, and with each of them alone.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Final
from urllib.parse import urljoin

import redis
from rich.console import Console

from benchmarks import document
from benchmarks.crawl import PROJECT
from crawler import embedded
from demo.arguments import whole
from demo.children import Family
from demo.state import any_port

HOME: Final = PROJECT / ".demo" / "handlers"
DOCUMENT: Final = PROJECT / "docs" / "benchmarks-handlers.md"
OURS: Final = "Shoal"
INCUBATOR: Final = "scrapy_download_handlers_incubator"
HANDLERS: Final[Mapping[str, str]] = {
    OURS: "crawler.handlers.http.HttpDownloadHandler",
    "Scrapy, HTTP/1.1 on Twisted (its default)": "scrapy.core.downloader.handlers.http11.HTTP11DownloadHandler",
    "Scrapy, aiohttp": "scrapy.core.downloader.handlers._aiohttp.AiohttpDownloadHandler",
    "incubator, pyreqwest": f"{INCUBATOR}.PyreqwestDownloadHandler",
    "incubator, niquests": f"{INCUBATOR}.NiquestsDownloadHandler",
    "incubator, curl_cffi": f"{INCUBATOR}.CurlCffiDownloadHandler",
}
CHAIN: Final = {
    "SPIDER_MODULES": "benchmarks.visits",
    "EXTENSIONS": json.dumps({"benchmarks.handlers_chain.ChainExtension": 0}),
    "METRICS_PORT": -1,
    "SHOAL_STORE": False,
    "GUARD_ALLOWED_NETWORKS": "127.0.0.0/8",
    "DOWNLOAD_DELAY": 0,
    "AUTOTHROTTLE_ENABLED": False,
}
PLAN: Final = "BENCH_CHAIN"  # environment of the worker: URL, rounds, and the file for the result, as JSON
LIMIT_SECONDS: Final = 300.0
WHOLE, EMPTY = "the whole chain", "an empty chain"


@contextmanager
def shop(pages: int) -> Iterator[list[str]]:
    """The static shop; yields the URLs of its products."""
    port, ready = any_port(), HOME / "urls.txt"
    ready.unlink(missing_ok=True)
    with Family(HOME) as family:
        started = family.start(
            "shop", "benchmarks.static_shop", "--pages", str(pages), "--port", str(port), "--urls", str(ready)
        )
        while not ready.exists():
            if started.status is not None:
                raise ChildProcessError(f"the shop did not start: {started.tail()}")
            time.sleep(0.05)
        yield [url for front in ready.read_text().split() for url in _products(front)]


def _products(front: str) -> list[str]:
    with urllib.request.urlopen(front, timeout=10) as answer:
        paths = re.findall(r'href="(/product/[^"?#]+)"', answer.read().decode())
    return [urljoin(front, path) for path in dict.fromkeys(paths)]


def once(handler: str, urls: Sequence[str], pages: int) -> dict[str, float]:
    """One round of one handler, in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.handlers_once", handler, str(pages)]
    done = subprocess.run(
        command, cwd=PROJECT, input="\n".join(urls), capture_output=True, text=True, timeout=LIMIT_SECONDS, check=False
    )
    if done.returncode:
        raise ChildProcessError(f"{handler}: {done.stderr[-2000:]}")
    found: dict[str, float] = json.loads(done.stdout)
    return found


def chain(url: str, rounds: int) -> dict[str, list[float]]:
    """CPU microseconds per page, by middleware, of each round; from inside a worker."""
    servers = embedded.ensure(HOME / "services", preferred_ports=False)
    redis.Redis.from_url(servers.redis_url).flushall()
    result = HOME / "chain.json"
    result.unlink(missing_ok=True)
    settings = {**CHAIN, "REDIS_URL": servers.redis_url, "MONGODB_URI": servers.mongodb_uri}
    env = os.environ | {PLAN: json.dumps([url, rounds, str(result)])}
    options = [part for name, value in settings.items() for part in ("-s", f"{name}={value}")]
    command = [sys.executable, "-m", "scrapy", "crawl", "visits", *options]
    done = subprocess.run(
        command, cwd=PROJECT, env=env, capture_output=True, text=True, timeout=LIMIT_SECONDS, check=False
    )
    if not result.exists():
        raise ChildProcessError(f"the worker measured nothing: {done.stderr[-2000:]}")
    found: dict[str, list[float]] = json.loads(result.read_text())
    return found


def compare(urls: Sequence[str], pages: int, rounds: int, console: Console) -> list[list[str]]:
    """The table of handlers: medians, and ratios to ours."""
    figures: dict[str, list[dict[str, float]]] = {name: [] for name in HANDLERS}
    for number in range(rounds):
        for name, path in HANDLERS.items():
            found = once(path, urls, pages)
            figures[name].append(found)
            text = f"{found['cpu_ms']:.3f} CPU-ms per page, {found['pages_per_second']:.0f} pages/s"
            console.print(f"round {number + 1}, {name}: {text}", highlight=False)
    cpu = {name: statistics.median(one["cpu_ms"] for one in found) for name, found in figures.items()}
    speed = {name: statistics.median(one["pages_per_second"] for one in found) for name, found in figures.items()}
    return [
        [
            name,
            f"{cpu[name]:.3f}",
            f"{cpu[name] / cpu[OURS]:.2f}",
            f"{speed[name]:.0f}",
            f"{speed[OURS] / speed[name]:.2f}",
        ]
        for name in HANDLERS
    ]


def chain_rows(found: Mapping[str, Sequence[float]]) -> list[list[str]]:
    """What each part adds to the empty chain, the most expensive first; the whole chain is the last row."""
    medians = {name: statistics.median(times) for name, times in found.items()}
    empty = medians.pop(EMPTY)
    whole = medians.pop(WHOLE)
    parts = sorted(medians.items(), key=lambda item: -item[1])
    return [[f"`{name}`", f"{(cpu - empty) / 1000:.4f}"] for name, cpu in parts] + [
        [f"**{WHOLE}**", f"**{(whole - empty) / 1000:.4f}**"]
    ]


HANDLERS_HEAD: Final = ("handler", "CPU ms per page", "times ours", "pages/s", "ours is faster by")
CHAIN_HEAD: Final = ("middleware", "CPU ms per page over an empty chain")


def publish(handlers: list[list[str]], parts: list[list[str]], pages: int, rounds: int) -> None:
    """Write docs/benchmarks-handlers.md."""
    _, fetching, chained = (__doc__ or "").strip().split("\n\n")
    packages = ("scrapy", "httptools", "uvloop", "aiohttp", "pyreqwest", "niquests", "curl_cffi")
    text = (
        f"## HTTP handlers and the middleware chain: `make bench-handlers`\n\n{fetching}\n\n"
        f"{document.rows(HANDLERS_HEAD, handlers)}\n\n{chained}\n\n{document.rows(CHAIN_HEAD, parts)}\n\n"
        f"{pages} pages, medians of {rounds} rounds. {document.machine(*packages)}."
    )
    document.write("handlers", text, DOCUMENT)


def main() -> int:
    """Measure, print, write; exit status 1 when a round does not come to its end."""
    parser = argparse.ArgumentParser(prog="benchmarks.handlers", description="HTTP handlers, and the middleware chain")
    parser.add_argument("--pages", type=whole(1), default=2000)
    parser.add_argument("--rounds", type=whole(1), default=3)
    parser.add_argument("--only-chain", action="store_true", help="only the middlewares; writes nothing")
    parser.add_argument("--no-write", dest="write", action="store_false", help="leave the document alone")
    options = parser.parse_args()
    console = Console()
    HOME.mkdir(parents=True, exist_ok=True)
    try:
        with shop(80) as urls:
            parts = chain_rows(chain(urls[0], 2 * options.rounds + 1))
            for name, cpu in parts:
                console.print(f"{cpu} CPU-ms per page: {name}", highlight=False, markup=False)
            if options.only_chain:
                return 0
            table = compare(urls, options.pages, options.rounds, console)
    except (ChildProcessError, subprocess.TimeoutExpired) as error:
        sys.stderr.write(f"bench-handlers: {error}\n")
        return 1
    for row in table:
        console.print(" · ".join(row), highlight=False)
    if options.write:
        publish(table, parts, options.pages, options.rounds)
    return 0


if __name__ == "__main__":
    sys.exit(main())
