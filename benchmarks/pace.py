"""`make bench-pace`: does the pace find what a site allows, with real workers and a real site on loopback?

The site is a token bucket with rate and capacity R; requests beyond get a 429. Writes docs/benchmarks-pace.md, and
fails where a bar is missed.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import redis.asyncio
from scrapy import Request

from benchmarks import document
from benchmarks.crawl import PROJECT
from crawler.embedded import ensure
from crawler.frontier.config import FrontierConfig
from crawler.frontier.frontier import Frontier
from crawler.frontier.messages import Message
from crawler.routing import codec
from crawler.utils.plural import several
from demo.arguments import whole
from tests.integration.crawl.spiders import WalkSpider

DOCUMENT: Final = PROJECT / "docs" / "benchmarks-pace.md"
WARM_SECONDS: Final = 60.0
START_SECONDS: Final = 240.0  # four workers, on a machine that does much else
LEAST: Final = 0.85  # of what the site allows, all fleets together
LEAST_EACH: Final = 0.3  # and each of two
MOST_REFUSED: Final = 0.03  # of the requests of one
KEPT: Final = {403: 0.8, 429: 0.6}  # of the pace without refusals, where one in twenty is refused whatever the pace

Told = list[tuple[float, float]]  # good pages a second, and the share refused, of each fleet


@dataclass(frozen=True)
class Case:
    """One run; *noise*: share of answers that are refused whatever the pace, under *status*."""

    name: str
    rate: float = 0.0
    retry_after: int | None = None
    cap: int = 1
    workers: int = 1
    fleets: int = 1
    delay: float = 0.01
    noise: float = 0.0
    status: int = 429

    def __str__(self) -> str:
        return f"{self.name}, cap {self.cap}, {several(self.workers, 'worker')}"


DENIED: Final = (
    b"<html><head><title>Just a moment...</title></head><body><script>window._cf_chl_opt={};</script>"
    b'<form id="challenge-form" action="/?__cf_chl_f_tk=1"></form></body></html>'
)


class Site:
    """Answers on one address, and notes when and what."""

    def __init__(self, case: Case) -> None:
        self._case = case
        self._tokens, self._at = case.rate, time.monotonic()
        self.log: list[tuple[float, str, int]] = []
        self.asked = asyncio.Event()

    def _status(self) -> int:
        case, now = self._case, time.monotonic()
        if case.rate:
            self._tokens = min(case.rate, self._tokens + (now - self._at) * case.rate)
            self._at = now
            if self._tokens < 1:
                return 429
            self._tokens -= 1
        return case.status if random.random() < case.noise else 200

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection."""
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                path = head.split(b" ", 2)[1].decode()
                status = self._status()
                self.asked.set()
                self.log.append((time.monotonic(), path.split("/")[1], status))
                body = {403: DENIED, 200: b"<html><title>A page</title><p>Here.</html>"}.get(status, b"too many")
                extra = ""
                if status == 429 and self._case.retry_after:
                    extra = f"Retry-After: {self._case.retry_after}\r\n"
                if status == 403:
                    extra = "Server: cloudflare\r\ncf-mitigated: challenge\r\n"
                told = f"Content-Type: text/html\r\n{extra}Content-Length: {len(body)}\r\n\r\n"
                writer.write(f"HTTP/1.1 {status} X\r\n{told}".encode() + body)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass  # the worker has what it wants, or was killed
        finally:
            writer.close()


def _worker(redis_url: str, key: str, case: Case, log: Path) -> subprocess.Popen[bytes]:
    settings = {
        "FRONTIER_KEY": key,
        "DOWNLOAD_DELAY": case.delay,
        "CONCURRENT_REQUESTS_PER_DOMAIN": case.cap,
        "ROBOTSTXT_OBEY": False,
        "GUARD_ALLOWED_NETWORKS": "127.0.0.0/8",
        "METRICS_PORT": -1,
        "ITEM_PIPELINES": "{}",
        "ARCHIVE_PAGES": "none",
        "LOG_LEVEL": "WARNING",
        "SPIDER_MODULES": "tests.integration.crawl.spiders",
    }
    arguments = [part for name, value in settings.items() for part in ("-s", f"{name}={value}")]
    return subprocess.Popen(
        [sys.executable, "-m", "scrapy", "crawl", "walk", *arguments],
        cwd=PROJECT,
        env=os.environ | {"REDIS_URL": redis_url},
        stdout=log.open("ab"),
        stderr=subprocess.STDOUT,
    )


async def _push(redis_url: str, keys: Sequence[str], port: int, case: Case, count: int) -> None:
    async with redis.asyncio.from_url(redis_url) as client:
        for key in keys:
            frontier = Frontier(client, FrontierConfig(key=key))
            await frontier.open()
            messages = [
                Message(
                    host="127.0.0.1",
                    stream="walk",
                    spider="walk",
                    body=codec.encode(Request(f"http://127.0.0.1:{port}/{key}/{number}"), WalkSpider),
                    fingerprint=number + 1,
                    delay_ms=round(case.delay * 1000),
                    cap=case.cap,
                )
                for number in range(count)
            ]
            await frontier.push(messages)


def _check_alive(workers: Sequence[subprocess.Popen[bytes]], case: Case, log: Path) -> None:
    """A worker that is gone would be taken for a fleet that got nothing."""
    if any(worker.poll() is not None for worker in workers):
        raise ChildProcessError(f"a worker of {case.name!r} ended early:\n{log.read_text()[-2_000:]}")


async def measure(redis_url: str, case: Case, seconds: float, warm: float, log: Path) -> Told:
    """Raises ChildProcessError for a worker that ends, TimeoutError where none comes to work."""
    site = Site(case)
    server = await asyncio.start_server(site.serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    keys = [f"pace{random.getrandbits(32):08x}" for _ in range(case.fleets)]
    await _push(redis_url, keys, port, case, int(seconds * (case.rate or 1 / case.delay) * 1.2) + 200)
    workers = [_worker(redis_url, key, case, log) for key in keys for _ in range(case.workers)]
    try:
        await _first_visit(site, case)
        began = time.monotonic()
        await asyncio.sleep(seconds)
        ended = time.monotonic()
        _check_alive(workers, case, log)
    finally:
        for worker in workers:
            worker.kill()
            worker.wait()
        server.close()
    told = []
    for key in keys:
        seen = [status for at, name, status in site.log if name == key and began + warm <= at <= ended]
        good = seen.count(200)
        told.append((good / (ended - began - warm), (len(seen) - good) / max(1, len(seen))))
    return told


async def _first_visit(site: Site, case: Case) -> None:
    try:
        await asyncio.wait_for(site.asked.wait(), START_SECONDS)
    except TimeoutError:
        raise TimeoutError(f"{case}: no request within {START_SECONDS:.0f} s") from None


def cases(short: bool) -> list[Case]:
    """All, or the telling ones."""
    limits = [
        Case(f"limit {rate}, Retry-After {asked or 'none'}", rate, asked, cap, workers, delay=min(0.1, 0.4 / rate))
        for rate in (1, 5, 20, 100)
        for asked in ((None,) if short else (None, 1))
        for cap, workers in (((8, 1),) if short else ((1, 1), (8, 1), (8, 4)))
    ]
    pairs = [
        Case(f"two fleets, limit {rate}, delay {delay} s", rate, None, 8, 1, fleets=2, delay=delay)
        for rate, delay in ((1, 0.1), (1, 0.4), (5, 0.08), (20, 0.02))
    ]
    return [
        *limits,
        *pairs,
        Case("no refusals", delay=0.1),
        Case("5 % block pages", delay=0.1, noise=0.05, status=403),
        Case("5 % of 429", delay=0.1, noise=0.05),
        Case("only 429", delay=0.1, noise=1.0),
        Case("only block pages", delay=0.1, noise=1.0, status=403),
    ]


async def measure_all(redis_url: str, batch: Sequence[Case], given: argparse.Namespace, log: Path) -> dict[Case, Told]:
    """The cases of *batch*, side by side."""
    told = await asyncio.gather(*(measure(redis_url, case, given.seconds, given.warm, log) for case in batch))
    return dict(zip(batch, told, strict=True))


def row(case: Case, fleets: Told) -> str:
    """Of the table."""
    good, bad = (", ".join(f"{one[at]:{form}}" for one in fleets) for at, form in ((0, ".2f"), (1, ".1%")))
    return f"| {case.name} | {case.cap} | {case.workers} | {good} | {bad} |"


def missed(found: Mapping[Case, Told]) -> Iterator[str]:
    """A line for each bar that was missed. Refusals whatever the pace are held against the case that has none."""
    calm = next((fleets[0][0] for case, fleets in found.items() if not case.rate and not case.noise), None)
    for case, fleets in found.items():
        rates, refused = [rate for rate, _ in fleets], max(share for _, share in fleets)
        least = LEAST * case.rate
        if calm is not None and 0 < case.noise < 1:
            least = KEPT[case.status] * calm
        if sum(rates) < least:
            yield f"{case}: {sum(rates):.2f} good pages a second, at least {least:.2f} are wanted"
        if case.fleets > 1 and min(rates) < LEAST_EACH * case.rate:
            yield f"{case}: {min(rates):.2f} good pages a second for one, {LEAST_EACH * case.rate:.2f} are wanted"
        if case.fleets == 1 and case.rate and refused > MOST_REFUSED:
            yield f"{case}: {refused:.1%} are refused, at most {MOST_REFUSED:.0%} are wanted"


def main() -> int:
    """Print and write one row per case; exit status 1 when a bar is missed or a case does not come to its end."""
    parser = argparse.ArgumentParser(prog="benchmarks.pace", description="What sites allow, and what they get")
    parser.add_argument("--seconds", type=float, default=180)
    parser.add_argument("--warm", type=float, default=WARM_SECONDS)
    parser.add_argument("--short", action="store_true", help="the telling cases only")
    parser.add_argument("--only", default="", help="cases whose name has this; written to a section of their own")
    parser.add_argument(
        "--at-once", type=whole(1), default=1, help="cases side by side, as many as the machine has room for"
    )
    given = parser.parse_args()
    everything = [case for case in cases(given.short) if given.only in case.name]
    if not everything:
        parser.error(f"argument --only: no case has {given.only!r} in its name: try 'limit 100,' or 'two fleets'")
    found: dict[Case, Told] = {}
    try:
        with tempfile.TemporaryDirectory() as directory:
            url = ensure(Path(directory), mongodb=False, preferred_ports=False).redis_url
            for at in range(0, len(everything), given.at_once):
                batch = everything[at : at + given.at_once]
                found |= asyncio.run(measure_all(url, batch, given, Path(directory) / "workers.log"))
                print("\n".join(row(case, found[case]) for case in batch), flush=True)
    except (TimeoutError, ChildProcessError) as error:
        sys.stderr.write(f"bench-pace: {error}\n")
        return 1
    publish(found, given)
    lines = list(missed(found))
    sys.stderr.writelines(f"bench-pace: {line}\n" for line in lines)
    return 1 if lines else 0


def publish(found: Mapping[Case, Told], given: argparse.Namespace) -> None:
    """Write the section of the document."""
    rows = ["| case | cap | workers | good pages/s | refused |", "|---|---|---|---|---|"]
    rows += [row(case, fleets) for case, fleets in found.items()]
    at_once = several(given.at_once, "case")
    about = f"{given.seconds:.0f} s each, the first {given.warm:.0f} not counted, {at_once} at a time"
    section = f"pace: {given.only}" if given.only else "pace"
    document.write(section, "\n".join([*rows, "", f"{about}. {document.machine('scrapy')}."]), DOCUMENT)


if __name__ == "__main__":
    sys.exit(main())
