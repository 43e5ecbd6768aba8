"""One host with 100,000 URLs and a delay of a second, beside 100 hosts with 100 URLs each and no delay.

One worker; all is queued before it starts. Counted is the time from the first answer of the 100 to their last, with
the big host in the queue and without it. scrapy-redis keeps one queue, and lets a request wait for its host inside the
worker: it is stopped when it has had half as long again as it takes without the big host.
"""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass
from random import Random
from typing import Final

from rich.console import Console

from benchmarks import bed, document
from benchmarks.bed import Bed, Visit
from benchmarks.crawl import SHOAL, STOCK

BIG: Final = "127.0.1.1"
BIG_URLS: Final = 100_000
HOSTS: Final = [f"127.0.2.{1 + number}" for number in range(100)]
URLS_PER_HOST: Final = 100
DELAY: Final = 1.0
START_SECONDS: Final = 60.0
LIMIT_SECONDS: Final = 120.0
PATIENCE: Final = 1.5
BAR: Final = 1.1  # times as long: "as if it were not there", and what two runs of the same differ by
SETTINGS: Final = {
    "CONCURRENT_REQUESTS": 32,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 4,
    "DOWNLOAD_SLOTS": f'{{"{BIG}": {{"delay": {DELAY}, "concurrency": 1}}}}',
}


@dataclass(frozen=True, slots=True)
class Finish:
    """How a round ended: *seconds* it took, and what share of the small hosts' pages was done by then."""

    seconds: float
    share: float


Rounds = dict[tuple[str, bool], list[Finish]]  # by side and whether the big host was there


def measure(rounds: int, console: Console) -> Rounds:
    """*rounds* rounds of each, in turns."""
    found: Rounds = {(who, beside): [] for who in (SHOAL, STOCK) for beside in (False, True)}
    for number in range(rounds):
        for (who, beside), finishes in found.items():
            alone = found[who, False][-1].seconds if beside else LIMIT_SECONDS / PATIENCE
            limit = PATIENCE * alone if who == STOCK else LIMIT_SECONDS
            finishes.append(_round(who, beside=beside, limit=limit))
            one, where = finishes[-1], "beside the big host" if beside else "alone"
            console.print(
                f"crowd, round {number + 1}, {who}, {where}: {one.share:.0%} in {one.seconds:.1f} s", highlight=False
            )
    return found


def _round(who: str, *, beside: bool, limit: float) -> Finish:
    with bed.made([BIG, *HOSTS]) as site:
        site.fill(who, _visits(site, beside=beside))
        worker = site.start(who, SETTINGS)
        try:
            bed.until(lambda: _answered(site) > 0 or _big(site), START_SECONDS, worker)
            return _watch(site, limit)
        finally:
            worker.kill()


def _visits(site: Bed, *, beside: bool) -> list[Visit]:
    """In an order that favours nobody."""
    visits = [Visit(site.url(host, 0, n), cap=4) for host in HOSTS for n in range(URLS_PER_HOST)]
    visits += [Visit(site.url(BIG, 0, n), delay=DELAY) for n in range(BIG_URLS if beside else 0)]
    Random(0).shuffle(visits)
    return visits


def _watch(site: Bed, limit: float) -> Finish:
    wanted, began = len(HOSTS) * URLS_PER_HOST, time.monotonic()
    while (done := _answered(site)) < wanted and time.monotonic() - began < limit:
        time.sleep(bed.POLL_SECONDS)
    return Finish(time.monotonic() - began, done / wanted)


def _answered(site: Bed) -> int:
    return sum(answered for host, (_, answered) in site.counts().items() if host != BIG)


def _big(site: Bed) -> bool:
    return BIG in site.counts()


def publish(found: Rounds) -> list[str]:
    """Write the section of the document; returns the bars that were missed."""
    seconds = {key: statistics.median(one.seconds for one in rounds) for key, rounds in found.items()}
    shares = {key: statistics.median(one.share for one in rounds) for key, rounds in found.items()}
    ratio = {who: statistics.median(_ratios(found, who)) for who in (SHOAL, STOCK)}
    head = ("median", "seconds alone", "seconds beside", "times as long", "done by then")
    body = [
        [
            who,
            f"{seconds[who, False]:.1f}",
            f"{seconds[who, True]:.1f}",
            f"{ratio[who]:.2f}" if shares[who, True] == 1 else "not done",
            f"{shares[who, True]:.0%}",
        ]
        for who in ratio
    ]
    rounds = len(found[SHOAL, True])
    bed.publish("crowd", "A crowd beside a giant", __doc__ or "", document.rows(head, body), rounds)
    least = min(one.share for beside in (False, True) for one in found[SHOAL, beside])
    missed = []
    if least < 1:
        missed.append(f"crowd: {least:.1%} of the pages of the 100 hosts were done in {LIMIT_SECONDS:.0f} s")
    if ratio[SHOAL] > BAR:
        text = f"the 100 hosts took {ratio[SHOAL]:.2f} times as long beside the big one, at most {BAR} is wanted"
        missed.append(f"crowd: {text}")
    return missed


def _ratios(found: Rounds, who: str) -> list[float]:
    pairs = zip(found[who, False], found[who, True], strict=True)
    return [beside.seconds / alone.seconds for alone, beside in pairs]
