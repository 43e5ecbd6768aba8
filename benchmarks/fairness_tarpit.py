"""16 pages that answer after a minute, in a worker with 32 slots: what is left for the other hosts.

A worker fetches pages of 16 hosts that take half a second each, once alone and once beside 16 pages of 16 other hosts
that take a minute; the site counts pages per second while all 16 hang. Then the worker is killed with -9 and its
requests are looked up: sent ones may be charged a delivery, merely buffered ones may not. (scrapy-redis has no leases:
what a killed worker had taken is lost.)
"""

from __future__ import annotations

import asyncio
import statistics
import time
from dataclasses import dataclass
from typing import Final

import redis
from rich.console import Console

from benchmarks import bed, document
from benchmarks.bed import LEASE_SECONDS, START_WITHIN_SECONDS, Bed, Visit
from benchmarks.crawl import SHOAL, STOCK

SLOTS: Final = 32
TARPITS: Final = [f"127.0.1.{1 + number}" for number in range(16)]
HOSTS: Final = [f"127.0.2.{1 + number}" for number in range(16)]
TARPIT_SECONDS: Final = 60.0
PAGE_SECONDS: Final = 0.5
PAGES_PER_HOST: Final = 150
WINDOW_SECONDS: Final = 12.0
START_SECONDS: Final = 60.0
BAR: Final = 0.45
SETTINGS: Final = {
    "CONCURRENT_REQUESTS": SLOTS,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 4,
    "FRONTIER_LEASE_SECONDS": LEASE_SECONDS,
    "FRONTIER_START_WITHIN_SECONDS": START_WITHIN_SECONDS,
}


@dataclass(frozen=True, slots=True)
class Figures:
    """One pair of rounds, and what the killed worker left."""

    alone: float  # pages per second
    beside: float
    sent: int  # requests that were on their way when the worker was killed
    buffered: int  # taken by it, but not sent
    lost: int
    charged: int  # of the buffered ones

    @property
    def share(self) -> float:
        """What the others keep."""
        return self.beside / self.alone


def measure(rounds: int, console: Console) -> dict[str, list[Figures]]:
    """*rounds* pairs of each side, in turns."""
    found: dict[str, list[Figures]] = {SHOAL: [], STOCK: []}
    for number in range(rounds):
        for who, figures in found.items():
            figures.append(_pair(who))
            one = figures[-1]
            console.print(
                f"tarpit, round {number + 1}, {who}: {one.alone:.1f} pages/s alone, {one.beside:.1f} beside, "
                f"{one.buffered} buffered, {one.charged} of them charged, {one.lost} lost",
                highlight=False,
            )
    return found


def _pair(who: str) -> Figures:
    with bed.made([*TARPITS, *HOSTS]) as alone:
        alone.fill(who, _others(alone))
        speed = _round(alone, who, hanging=0)
    with bed.made([*TARPITS, *HOSTS]) as beside:
        tarpits = [Visit(beside.url(host, TARPIT_SECONDS, 0), cap=4, priority=10) for host in TARPITS]
        visits = [*tarpits, *_others(beside)]
        beside.fill(who, visits)
        slowed = _round(beside, who, hanging=len(TARPITS))
        return Figures(speed, slowed, *_aftermath(beside, who, len(visits)))


def _others(on: Bed) -> list[Visit]:
    return [Visit(on.url(host, PAGE_SECONDS, n), cap=4) for n in range(PAGES_PER_HOST) for host in HOSTS]


def _round(on: Bed, who: str, hanging: int) -> float:
    """Pages per second of the other hosts; the worker is killed at the end."""
    worker = on.start(who, SETTINGS)
    try:
        bed.until(lambda: _ready(on, hanging), START_SECONDS, worker)
        began, before = time.monotonic(), _answered(on)
        time.sleep(WINDOW_SECONDS)
        return (_answered(on) - before) / (time.monotonic() - began)
    finally:
        worker.kill()


def _ready(on: Bed, hanging: int) -> bool:
    counts = on.counts()
    return sum(host in counts for host in TARPITS) == hanging and _answered(on) >= 2 * SLOTS


def _answered(on: Bed) -> int:
    return sum(answered for host, (_, answered) in on.counts().items() if host in HOSTS)


def _aftermath(on: Bed, who: str, queued: int) -> tuple[int, int, int, int]:
    """Sent, buffered, lost, charged though only buffered."""
    asked = on.asked()
    sent = len(asked) - sum(answered for _, answered in on.counts().values())
    if who == STOCK:
        left = redis.Redis.from_url(on.servers.redis_url).zcard("visits:requests")
        buffered = queued - left - len(asked)
        return sent, buffered, queued - left - len(asked) + sent, 0
    leased = _leased(on)
    deliveries = asyncio.run(on.deliveries())
    charged = sum(count > 0 for url, count in deliveries.items() if url not in asked)
    lost = queued - len(asked | set(deliveries))
    return sent, leased - sent, lost, charged


def _leased(on: Bed) -> int:
    return int(redis.Redis.from_url(on.servers.redis_url).hlen("{shoal:0}:infl"))


def publish(found: dict[str, list[Figures]]) -> list[str]:
    """Write the section of the document; returns the bars that were missed."""
    names = ("alone", "beside", "share", "sent", "buffered", "charged", "lost")
    medians = {
        who: [statistics.median(getattr(one, name) for one in rounds) for name in names]
        for who, rounds in found.items()
    }
    head = (
        "median",
        "pages/s alone",
        "pages/s beside",
        "share kept",
        "sent when killed",
        "buffered",
        "of these charged",
        "lost",
    )
    body = [
        [who, f"{row[0]:.1f}", f"{row[1]:.1f}", f"{row[2]:.2f}", *(f"{value:.0f}" for value in row[3:])]
        for who, row in medians.items()
    ]
    bed.publish("tarpit", "Tarpits", __doc__ or "", document.rows(head, body), len(found[SHOAL]))
    share, ours = medians[SHOAL][2], found[SHOAL]
    missed = []
    if share < BAR:
        missed.append(f"tarpit: the others keep {share:.2f} of their throughput, at least {BAR} is wanted")
    # Of all rounds: a median hides what happens in one of three.
    if charged := sum(one.charged for one in ours):
        missed.append(f"tarpit: buffered requests that were charged a delivery: {charged}")
    if lost := sum(one.lost for one in ours):
        missed.append(f"tarpit: requests that were lost: {lost}")
    return missed
