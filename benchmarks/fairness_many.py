"""1,000 and 10,000 hosts with a delay: how close the fleet gets to the allowed pace.

All pages are queued before two workers start. A host with n pages and a delay of d seconds can be done (n - 1) * d
seconds after its first page; its pace is that time divided by the time it took, as seen by its site. A worker holds 64
requests, so it must never wait for a host itself; connections are closed after each page, as the site cannot hold all.
Stopped after three times what the last host needs; scrapy-redis, which waits inside the worker, gets the same time.
"""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass
from typing import Final

from rich.console import Console

from benchmarks import bed, document
from benchmarks.bed import Bed, Span, Visit
from benchmarks.crawl import SHOAL, STOCK
from tests.sites import LATE

WORKERS: Final = 2
PATIENCE: Final = 3.0
START_SECONDS: Final = 60.0
BAR: Final = 0.9  # of the pace that politeness allows, for the middle host


@dataclass(frozen=True, slots=True)
class Case:
    """So many *hosts* with *pages* each and *delay* seconds between them."""

    hosts: int
    pages: int
    delay: float

    @property
    def needed(self) -> float:
        """Seconds from a host's first page to its last."""
        return (self.pages - 1) * self.delay


@dataclass(frozen=True, slots=True)
class Paces:
    """How a round ended: shares of the allowed pace, of the hosts that were done."""

    done: float  # share of all pages
    middle: float
    slowest: float  # of 20 hosts
    early: int  # hosts that got two requests too close to each other
    seconds: float


CASES: Final = (Case(1_000, 5, 5.0), Case(10_000, 2, 60.0))
Rounds = dict[tuple[Case, str], list[Paces]]


def measure(rounds: int, console: Console, cases: tuple[Case, ...] = CASES) -> Rounds:
    """*rounds* rounds of each, in turns."""
    found: Rounds = {(case, who): [] for case in cases for who in (SHOAL, STOCK)}
    for number in range(rounds):
        for (case, who), paces in found.items():
            paces.append(one := round_of(who, case))
            console.print(
                f"many, round {number + 1}, {case.hosts} hosts, {who}: {one.done:.0%} done in {one.seconds:.0f} s, "
                f"pace {one.middle:.2f} of what is allowed, {one.early} hosts too early",
                highlight=False,
            )
    return found


def round_of(who: str, case: Case) -> Paces:
    """One crawl of *case*."""
    hosts = [f"127.{1 + number // 62_500}.{number // 250 % 250}.{1 + number % 250}" for number in range(case.hosts)]
    settings = {"CONCURRENT_REQUESTS": 64, "CONCURRENT_REQUESTS_PER_DOMAIN": 1, "DOWNLOAD_DELAY": case.delay}
    if who == STOCK:
        settings["RANDOMIZE_DOWNLOAD_DELAY"] = False
    with bed.made(hosts) as site:
        places = [(host, number) for number in range(case.pages) for host in hosts]
        site.fill(who, [Visit(f"{site.url(host, 0, n)}/once", delay=case.delay, priority=-n) for host, n in places])
        workers = [site.start(who, settings) for _ in range(WORKERS)]
        try:
            bed.until(lambda: site.answered() > 0, START_SECONDS, workers[0])
            return _watch(site, case)
        finally:
            for worker in workers:
                worker.kill()


def _watch(site: Bed, case: Case) -> Paces:
    began, wanted = time.monotonic(), case.hosts * case.pages
    while site.answered() < wanted and time.monotonic() - began < PATIENCE * case.needed:
        time.sleep(10 * bed.POLL_SECONDS)
    return paces(case, site.spans(), time.monotonic() - began)


def paces(case: Case, spans: dict[str, Span], seconds: float) -> Paces:
    """What *spans* say of *case*."""
    shares = sorted(case.needed / (span.last - span.first) for span in spans.values() if span.count == case.pages)
    early = sum(span.closest < case.delay - LATE for span in spans.values())
    done = sum(span.count for span in spans.values()) / (case.hosts * case.pages)
    middle, slowest = (statistics.median(shares), shares[len(shares) // 20]) if shares else (0.0, 0.0)
    return Paces(done, middle, slowest, early, seconds)


def publish(found: Rounds) -> list[str]:
    """Write the section of the document; returns the bars that were missed."""
    head = (
        "median",
        "hosts",
        "delay",
        "pages done",
        "pace, middle host",
        "pace, one in 20 is slower",
        "hosts too early",
    )
    body, missed = [], []
    for (case, who), rounds in found.items():
        done, middle, slowest = (
            statistics.median(getattr(x, name) for x in rounds) for name in ("done", "middle", "slowest")
        )
        early = sum(one.early for one in rounds)
        body.append(
            [who, str(case.hosts), f"{case.delay:g} s", f"{done:.0%}", f"{middle:.2f}", f"{slowest:.2f}", str(early)]
        )
        least = min(one.done for one in rounds)
        if who == SHOAL and (middle < BAR or least < 1):
            missed.append(f"many: {case.hosts} hosts: {least:.1%} done at {middle:.2f} of their pace, {BAR} is wanted")
        if who == SHOAL and early:
            missed.append(f"many: {early} of {case.hosts} hosts got two requests too close to each other")
    times = len(next(iter(found.values())))
    bed.publish("many", "Many hosts with a delay", __doc__ or "", document.rows(head, body), times)
    return missed
