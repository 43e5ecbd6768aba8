"""`make pace-bars`: how often the simulated pace misses its bars, with seeds that no test uses; writes docs/pace.md."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import ceil
from pathlib import Path
from random import Random
from typing import Any, Final

import redis

from benchmarks import document
from crawler.utils.plural import several
from tests.integration.frontier import pace_sweep
from tests.integration.frontier.pace_simulation import Run, Site, simulate
from tests.operate.load import standalone

PACE: Final = Path(__file__).resolve().parents[3] / "docs" / "pace.md"
SEEDS: Final = range(1_001, 1_041)
SEEDS_OF_HOURS: Final = range(1_001, 1_003)
SUM, LEAST = 0.85, 0.3  # of the limit together, and of that for each
BEGUN: Final = 60  # seconds after the second fleet, from which on the bar holds
JUDGED: Final = 120  # seconds
HOUR: Final = 3_600
# Requests a second and configured delay in ms.
LIMITS: Final = (
    *((1, delay) for delay in (10, 100, 250, 500)),
    *((2, delay) for delay in (100, 250)),
    *((rate, 400 / rate) for rate in (5, 10, 20)),
)
# What is told of them, AutoThrottle's start delay (0: the configured one), and ms between the two.
BEGINNINGS: Final = (
    ("both begin together, with AutoThrottle's start delay", 1_000, 0),
    ("both begin together, at the configured delay", 0, 0),
    ("one comes 10 s later", 1_000, 10_000),
    ("two minutes later", 1_000, 120_000),
    ("ten minutes later", 1_000, 600_000),
)
SCATTER_MS: Final = 3_000  # by so much more they are apart, by chance: nobody begins at the same millisecond
MOST_REFUSED: Final = 0.03  # of the requests of a fleet alone
ALONE_LIMITS: Final = tuple((rate, delay) for rate, delay in LIMITS if rate <= 5)
PATHS: Final = (6.0, 15.0, 30.0)  # ms from lease to wire, and from answer to report: more where the machine is busy
NOISE: Final = 0.05
DELAYS: Final = (200, 250, 400, 600, 1_000)
SPANS: Final = (("second minute", 60, 120), ("fourth to sixth", 180, 360))


@dataclass(frozen=True, slots=True)
class Pair:
    """What two fleets got of a limit, as shares of it, and the share of their requests that was refused."""

    shares: tuple[float, float]
    refused: float

    @property
    def misses(self) -> bool:
        """The bar."""
        return sum(self.shares) < SUM or min(self.shares) < LEAST * sum(self.shares)


def pair(client: Any, site: Site, seed: int, seconds: float) -> Pair:
    """Two fleets at *site*, judged for *seconds*."""
    apart_ms = site.apart_ms + Random(seed).uniform(0, SCATTER_MS)
    after = ceil(apart_ms / 1_000) + BEGUN  # whole bins
    run = simulate(client, replace(site, apart_ms=apart_ms, run_ms=(after + seconds) * 1_000, bin_ms=1_000), seed)
    told = [run.after(after, fleet) for fleet in (1, 2)]
    return Pair((told[0][0] / site.rate, told[1][0] / site.rate), sum(refused for _, refused in told) / 2)


def pairs(client: Any, seeds: Sequence[int], seconds: float) -> dict[tuple[str, float, float], list[Pair]]:
    """By how they begin, limit and configured delay."""
    return {
        (told, rate, delay): [pair(client, site, seed, seconds) for seed in seeds]
        for told, rate, delay, site in _sites()
    }


def _sites() -> Iterator[tuple[str, float, float, Site]]:
    for retry_after_ms in (0, 1_000):
        for told, start_ms, apart_ms in BEGINNINGS:
            for rate, delay in LIMITS:
                site = Site(rate, retry_after_ms, floor=delay, cap=8, start_ms=start_ms, fleets=2, apart_ms=apart_ms)
                yield f"{told}, `Retry-After: 1`" if retry_after_ms else told, rate, delay, site


def misses(found: dict[tuple[str, float, float], list[Pair]]) -> str:
    """A table of how many pairs miss the bar, and how many in all of each limit."""
    columns = sorted({(rate, delay) for _, rate, delay in found})
    head = ["", *(f"{rate:g}, {delay / 1_000:g} s" for rate, delay in columns)]
    body = [
        [told, *(str(_missing(found[told, rate, delay])) for rate, delay in columns)]
        for told in dict.fromkeys(told for told, _, _ in found)
    ]
    totals = [[one for told, *of in found if tuple(of) == column for one in found[told, *column]] for column in columns]
    body.append(["all", *(f"{_missing(all_)} of {len(all_)}" for all_ in totals)])
    return document.rows(head, body)


def _missing(of: Sequence[Pair]) -> int:
    return sum(one.misses for one in of)


def hours(found: dict[tuple[str, float, float], list[Pair]]) -> str:
    """How many pairs meet the bar over an hour, by limit."""
    body = []
    for rate in sorted({rate for _, rate, _ in found}):
        of = [one for (_, own, _), each in found.items() if own == rate for one in each]
        got, refused = (
            sum(map(value, of)) / len(of) for value in (lambda one: sum(one.shares), lambda one: one.refused)
        )
        body.append([f"{rate:g} a second", f"{len(of) - _missing(of)} of {len(of)}", f"{got:.2f}", f"{refused:.0%}"])
    return document.rows(["limit", "meet it", "of the limit", "refused"], body)


def alone(client: Any) -> str:
    """How many fleets alone at a limit miss its bar in their second and third minute, by how busy their machine is."""
    body = []
    for path in PATHS:
        found = [[_misses_alone(client, site, path) for site in sites] for sites in _sites_alone()]
        body.append([f"{path:g} ms", *(f"{sum(map(sum, each))} of {sum(map(len, each))}" for each in found)])
    return document.rows(["to the wire", *(f"{rate:g}, {delay / 1_000:g} s" for rate, delay in ALONE_LIMITS)], body)


def _sites_alone() -> Iterator[list[Site]]:
    for rate, delay in ALONE_LIMITS:
        yield [
            Site(rate, retry_after_ms, floor=delay, cap=8, start_ms=start_ms)
            for retry_after_ms in (0, 1_000)
            for start_ms in (0, 1_000)
        ]


def _misses_alone(client: Any, site: Site, path_ms: float) -> list[bool]:
    runs = [simulate(client, replace(site, path_ms=path_ms), seed).after(BEGUN) for seed in SEEDS]
    return [good < SUM * site.rate or refused > MOST_REFUSED for good, refused in runs]


def noise(client: Any) -> str:
    """What is left of the pace of a configured delay where 5 % of the answers are a 429 whatever the pace."""
    runs = {delay: [_noisy(client, delay, seed) for seed in SEEDS] for delay in DELAYS}
    body = [
        [told, *(f"{_mean([_kept(run, delay, *span) for run in each]):.2f}" for delay, each in runs.items())]
        for told, *span in SPANS
    ]
    return document.rows(["configured delay", *(f"{delay / 1_000:g} s" for delay in DELAYS)], body)


def _noisy(client: Any, delay: float, seed: int) -> Run:
    return simulate(client, Site(noise=NOISE, floor=delay, run_ms=SPANS[-1][-1] * 1_000), seed)


def _kept(run: Run, delay: float, begin: float, end: float) -> float:
    good, refused = run.after(begin, until=end)
    return good / (1 - refused) * delay / 1_000


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def main() -> int:
    """Simulate on a Valkey of its own; write the five tables."""
    argparse.ArgumentParser(prog="pace_bars", description="How often simulated crawls miss the bars").parse_args()
    with (
        standalone("pace", mongodb=False) as fleet,
        redis.Redis.from_url(fleet.redis_url, socket_timeout=600) as client,
    ):
        tables = {
            "alone": (alone(client), f"Of {several(len(SEEDS), 'crawl')} of each kind"),
            "sweep": (pace_sweep.sweep(client), f"Of {several(len(pace_sweep.SEEDS), 'crawl')} in each cell"),
            "noise": (noise(client), f"Means of {several(len(SEEDS), 'crawl')} each"),
            "pairs": (misses(pairs(client, SEEDS, JUDGED)), f"Of {several(len(SEEDS), 'pair')} in each cell"),
            "hours": (
                hours(pairs(client, SEEDS_OF_HOURS, HOUR)),
                f"Of {several(len(SEEDS_OF_HOURS), 'pair')} of each kind",
            ),
        }
    for name, (table, of) in tables.items():
        document.write(name, f"{table}\n\n{of}, simulated; {document.machine()}".rstrip(", ") + ".", PACE)
        print(table, end="\n\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
