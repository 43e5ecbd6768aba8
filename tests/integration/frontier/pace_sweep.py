"""What a fleet alone gets of limits of all kinds and sizes: a part of `make pace-bars`."""

from __future__ import annotations

from collections.abc import Iterator
from math import exp, log
from random import Random
from typing import Any, Final

from benchmarks import document
from tests.integration.frontier.pace_simulation import Site, simulate

RATES: Final = (0.3, 0.5, 0.8, 1.0, 1.5, 2.5, 5.0, 10.0, 20.0, 50.0, 100.0, 150.0)  # requests a second
LIMITERS: Final[dict[str, dict[str, Any]]] = {
    "one at a time": {"burst": 1},  # nginx: limit_req
    "bucket of a second": {},
    "bucket of 10": {"burst": 10},
    "503, bucket of 6": {"burst": 6, "limit_status": 503},  # nginx: burst=5 nodelay
    "503, queue of 5": {"limiter": "queue", "burst": 5, "limit_status": 503},  # nginx: burst=5
    "each second": {"limiter": "window", "window_ms": 1_000},
    "each 10 s": {"limiter": "window", "window_ms": 10_000},
    "each minute": {"limiter": "window", "window_ms": 60_000},
    "any 10 s": {"limiter": "sliding", "window_ms": 10_000},
}
ASKS: Final[tuple[dict[str, Any], ...]] = ({}, {"retry_after_ms": 1_000}, {"tells": True})
SEEDS: Final = range(1_001, 1_013)
BEGUN: Final = 60  # seconds
MOST_SECONDS, MOST_REQUESTS = 180, 5_000  # judged


def sites(limiter: str, rate: float, seeds: range = SEEDS) -> Iterator[tuple[Site, int]]:
    """One for each seed, the rest of it by chance; none if no whole number of requests fits into a window."""
    kind = LIMITERS[limiter]
    if (rate * kind.get("window_ms", 0) / 1_000) % 1:
        return
    for seed in seeds:
        chance = Random(seed)
        site = Site(
            rate,
            floor=_between(chance, 10, min(2_000, 500 / rate)),
            latency_ms=min(_between(chance, 5, 500), 300 / rate),
            path_ms=min(chance.choice((6.0, 15.0)), 100 / rate),
            cap=chance.choice((1, 8)),
            start_ms=chance.choice((0, 1_000)),
            run_ms=(BEGUN + min(MOST_SECONDS, MOST_REQUESTS / rate)) * 1_000,
            **kind,
            **chance.choice(ASKS),
        )
        yield site, seed


def _between(chance: Random, least: float, most: float) -> float:
    """All magnitudes are as likely."""
    return exp(chance.uniform(log(min(least, most)), log(most)))


def sweep(client: Any) -> str:
    """By kind of limiter and limit: the share of it that is reached, that of the worst crawl, and the share refused."""
    body = [[limiter, *(_cell(client, limiter, rate) for rate in RATES)] for limiter in LIMITERS]
    return document.rows(["", *(f"{rate:g}" for rate in RATES)], body)


def _cell(client: Any, limiter: str, rate: float) -> str:
    told = [simulate(client, site, seed).after(BEGUN) for site, seed in sites(limiter, rate)]
    if not told:
        return ""
    shares, refused = [good / rate for good, _ in told], sum(refused for _, refused in told) / len(told)
    return f"{sum(shares) / len(shares):.2f}, {min(shares):.2f}, {refused:.0%}"
