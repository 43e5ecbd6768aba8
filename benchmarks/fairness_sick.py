"""8 hosts that answer 429 with `Retry-After: 5`, beside 8 that work: what it costs the healthy ones, and who waits.

A worker fetches pages of 8 hosts that take half a second each, once alone and once beside 8 hosts that refuse every
request after a fifth of a second; the site counts pages per second of the healthy ones. A request is early if it comes
to a host within the five seconds that the host asked to wait.
"""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass
from typing import Final

from rich.console import Console

from benchmarks import bed, document
from benchmarks.bed import Bed, Visit
from benchmarks.crawl import SHOAL, STOCK

SICK: Final = [f"127.0.1.{1 + number}" for number in range(8)]
HEALTHY: Final = [f"127.0.2.{1 + number}" for number in range(8)]
SICK_SECONDS: Final = 0.2
PAGE_SECONDS: Final = 0.5
SICK_URLS: Final = 50
PAGES_PER_HOST: Final = 300
WINDOW_SECONDS: Final = 20.0
START_SECONDS: Final = 60.0
BAR: Final = 0.95
SETTINGS: Final = {"CONCURRENT_REQUESTS": 64, "CONCURRENT_REQUESTS_PER_DOMAIN": 4}


@dataclass(frozen=True, slots=True)
class Figures:
    """One pair of rounds."""

    alone: float  # pages of the healthy hosts per second
    beside: float
    refused: int  # requests that the sick hosts got
    early: int  # of these

    @property
    def share(self) -> float:
        """What the healthy keep."""
        return self.beside / self.alone


def measure(rounds: int, console: Console, window_seconds: float = WINDOW_SECONDS) -> dict[str, list[Figures]]:
    """*rounds* pairs of each side, in turns."""
    found: dict[str, list[Figures]] = {SHOAL: [], STOCK: []}
    for number in range(rounds):
        for who, figures in found.items():
            figures.append(pair(who, window_seconds))
            one = figures[-1]
            console.print(
                f"sick, round {number + 1}, {who}: {one.alone:.1f} pages/s alone, {one.beside:.1f} beside; "
                f"{one.refused} refused, {one.early} of them early",
                highlight=False,
            )
    return found


def pair(who: str, window_seconds: float) -> Figures:
    """Once alone, once beside the sick."""
    alone, _, _ = _round(who, [], window_seconds)
    return Figures(alone, *_round(who, SICK, window_seconds))


def _round(who: str, sick: list[str], seconds: float) -> tuple[float, int, int]:
    """Pages of the healthy hosts per second; requests to the sick ones, and early ones among them."""
    with bed.made([*SICK, *HEALTHY]) as site:
        site.fill(who, _visits(site, sick))
        worker = site.start(who, SETTINGS)
        try:
            bed.until(lambda: all(host in site.counts() for host in [*sick, *HEALTHY]), START_SECONDS, worker)
            began, before = time.monotonic(), _answered(site)
            time.sleep(seconds)
            speed = (_answered(site) - before) / (time.monotonic() - began)
        finally:
            worker.kill()
        return speed, sum(asked for host, (asked, _) in site.counts().items() if host in SICK), site.early()


def _visits(site: Bed, sick: list[str]) -> list[Visit]:
    """The first pages of all hosts, then the second ones: one queue for all would else be worked off host by host."""
    places = [(f"{site.url(host, SICK_SECONDS, n)}/sick", n) for n in range(SICK_URLS) for host in sick]
    places += [(site.url(host, PAGE_SECONDS, n), n) for n in range(PAGES_PER_HOST) for host in HEALTHY]
    return [Visit(url, cap=4, priority=-n) for url, n in places]


def _answered(site: Bed) -> int:
    return sum(answered for host, (_, answered) in site.counts().items() if host in HEALTHY)


def publish(found: dict[str, list[Figures]]) -> list[str]:
    """Write the section of the document; returns the bars that were missed."""
    names = ("alone", "beside", "share", "refused", "early")
    medians = {
        who: [statistics.median(getattr(one, name) for one in rounds) for name in names]
        for who, rounds in found.items()
    }
    head = ("median", "pages/s alone", "pages/s beside", "share kept", "requests to the sick", "early ones")
    body = [
        [who, f"{row[0]:.1f}", f"{row[1]:.1f}", f"{row[2]:.2f}", f"{row[3]:.0f}", f"{row[4]:.0f}"]
        for who, row in medians.items()
    ]
    bed.publish("sick", "Sick hosts", __doc__ or "", document.rows(head, body), len(found[SHOAL]))
    share, early = medians[SHOAL][2], sum(one.early for one in found[SHOAL])
    missed = (
        [f"sick: the healthy keep {share:.2f} of their throughput, at least {BAR} is wanted"] if share < BAR else []
    )
    return missed + ([f"sick: {early} requests came before their time"] if early else [])
