"""A worker whose Redis is a millisecond away.

A worker follows endless chains of small pages on eight hosts. A TCP proxy between it and Redis alternates, for two
seconds each, between passing everything on at once and delaying every byte by half a millisecond in each direction. The
site counts the pages answered in each period, and adjacent periods are compared, so that other load on the machine
affects both alike.
"""

from __future__ import annotations

import signal
import statistics
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Final
from urllib.parse import urlsplit

import redis
from rich.console import Console

from benchmarks import bed, document
from benchmarks.bed import Bed, Visit
from benchmarks.crawl import SHOAL, STOCK
from crawler.embedded import Endpoints
from demo.children import Child, Family

DELAY: Final = 0.0005  # seconds, each way
HOSTS: Final = [f"127.0.2.{1 + number}" for number in range(8)]
CHAINS_PER_HOST: Final = 32
PAIRS: Final = 6  # of a near and a far time, in each round
WINDOW_SECONDS: Final = 2.0
SETTLE_SECONDS: Final = 0.3  # between two of them
START_SECONDS: Final = 60.0
PINGS: Final = 200
BAR: Final = 0.9
SETTINGS: Final = {"CONCURRENT_REQUESTS": 64, "CONCURRENT_REQUESTS_PER_DOMAIN": 64, "DEPTH_LIMIT": 0}
NEAR: Final = signal.SIGUSR2
FAR: Final = signal.SIGUSR1


@dataclass(frozen=True, slots=True)
class Pair:
    """Pages per second, with Redis near and far."""

    near: float
    far: float


@dataclass(slots=True)
class Found:
    """All pairs by side, and the round trips of a PING near and far, in ms."""

    pairs: dict[str, list[Pair]]
    near_ms: float = 0.0
    far_ms: float = 0.0


def measure(rounds: int, console: Console) -> Found:
    """*rounds* workers of each side, in turns."""
    found = Found({SHOAL: [], STOCK: []})
    for number in range(rounds):
        for who, pairs in found.pairs.items():
            with bed.made(HOSTS) as site, _proxy(site.servers.redis_url) as (proxy, url):
                found.near_ms, found.far_ms = _round_trip_ms(proxy, NEAR, url), _round_trip_ms(proxy, FAR, url)
                some = _watch(site, who, proxy, url)
            pairs.extend(some)
            near, far = (statistics.median(getattr(one, name) for one in some) for name in ("near", "far"))
            text = f"latency, round {number + 1}, {who}: {near:.0f} pages/s near, {far:.0f} far"
            console.print(text, highlight=False)
    return found


def _watch(site: Bed, who: str, proxy: Child, url: str) -> list[Pair]:
    chains = [f"{site.url(host, 0, number)}/on" for number in range(CHAINS_PER_HOST) for host in HOSTS]
    site.fill(who, [Visit(chain, cap=64) for chain in chains])
    worker = replace(site, servers=Endpoints(url, "")).start(who, SETTINGS)
    try:
        bed.until(lambda: site.answered() > 4 * len(chains), START_SECONDS, worker)
        return [Pair(_speed(site, proxy, NEAR), _speed(site, proxy, FAR)) for _ in range(PAIRS)]
    finally:
        worker.kill()


def _speed(site: Bed, proxy: Child, distance: signal.Signals) -> float:
    proxy.send(distance)
    time.sleep(SETTLE_SECONDS)
    before, began = site.answered(), time.monotonic()
    time.sleep(WINDOW_SECONDS)
    return (site.answered() - before) / (time.monotonic() - began)


@contextmanager
def _proxy(redis_url: str) -> Iterator[tuple[Child, str]]:
    port, file = str(urlsplit(redis_url).port), bed.HOME / "proxy.port"
    arguments = ("--to", port, "--seconds", str(DELAY), "--port-file", str(file))
    with Family(bed.HOME) as family:
        child = bed.start(family, "proxy", file, "benchmarks.delaying_proxy", *arguments)
        yield child, f"redis://127.0.0.1:{file.read_text()}/0"


def _round_trip_ms(proxy: Child, distance: signal.Signals, url: str) -> float:
    proxy.send(distance)
    times: list[float] = []
    with redis.Redis.from_url(url) as client:
        for _ in range(PINGS):
            began = time.perf_counter()
            client.ping()
            times.append(time.perf_counter() - began)
    return statistics.median(times) * 1000


def publish(found: Found, rounds: int) -> list[str]:
    """Write the section of the document; returns the bars that were missed."""
    kept = {who: statistics.median(pair.far / pair.near for pair in pairs) for who, pairs in found.pairs.items()}
    near, far = (
        {who: statistics.median(getattr(pair, name) for pair in pairs) for who, pairs in found.pairs.items()}
        for name in ("near", "far")
    )
    head = ("", f"pages/s at {found.near_ms:.2f} ms", f"pages/s at {found.far_ms:.2f} ms", "share kept, of neighbours")
    body = [[who, f"{near[who]:.0f}", f"{far[who]:.0f}", f"{kept[who]:.2f}"] for who in kept]
    about = f"{(__doc__ or '').strip()} The round trips are those of a PING through the proxy."
    bed.publish("latency", "A far Redis", about, document.rows(head, body), rounds)
    if kept[SHOAL] < BAR:
        return [f"latency: {kept[SHOAL]:.2f} of the throughput is kept, at least {BAR} is wanted"]
    return []
