"""`make bench-recrawl`: how fresh a budget of visits keeps 10,000 pages that change at rates nobody knows.

A simulation in days: every page changes as a Poisson process, a visit sees whether it has changed since the one before.
Beside the product's rule: the best that could be done if all rates were known (every page at its own fixed interval),
the same number of visits for every page, and the adaptive rules of Nutch (AdaptiveFetchSchedule: 0.4 more, 0.2 less)
and StormCrawler (AdaptiveScheduler: 0.5 more, 0.5 less), each given the same visits: the most overdue pages first.
"""

from __future__ import annotations

import argparse
import heapq
import math
from dataclasses import dataclass
from pathlib import Path
from random import Random

from benchmarks.document import machine, write
from crawler.policy import recrawl
from crawler.policy.recrawl import DAY_SECONDS, Estimate

DOCUMENT = Path(__file__).resolve().parents[1] / "docs" / "recrawl.md"
STEPS_A_DAY = 24
SAMPLE = 300


@dataclass(slots=True)
class Page:
    """One page: its true *rate* (changes a second) and *weight*; what happened to it."""

    rate: float
    weight: float
    visited: float = 0.0
    stale_since: float = math.inf  # when it changed first after its last visit
    fresh_time: float = 0.0


class Rule:
    """Decides from outcomes when a page comes next; *due* of all is set at the start."""

    name = ""

    def next_due(self, number: int, now: float, interval: float, *, changed: bool) -> float:
        raise NotImplementedError

    def after_step(self) -> None:
        """A step is over."""


class Ours(Rule):
    """crawler/policy/recrawl.py."""

    name = "Shoal"

    def __init__(self, pages: list[Page], share: float) -> None:
        self._pages = pages
        self._estimates = [Estimate()] * len(pages)
        self._share, self._rng, self._steps = share, Random(1), 0
        self.threshold = recrawl.value(Estimate().rate, 1 / share)

    def next_due(self, number: int, now: float, interval: float, *, changed: bool) -> float:
        estimate = self._estimates[number] = self._estimates[number].after(interval, changed=changed)
        return now + recrawl.due_after(estimate.rate, self.threshold, self._pages[number].weight)

    def after_step(self) -> None:
        self._steps += 1
        if self._steps % STEPS_A_DAY == 0:
            chosen = self._rng.sample(range(len(self._pages)), min(SAMPLE, len(self._pages)))
            sample = [(self._estimates[number].rate, self._pages[number].weight) for number in chosen]
            self.threshold = recrawl.threshold_for(sample, self._share)


class Adaptive(Rule):
    """An interval that grows and shrinks by fixed shares."""

    def __init__(self, name: str, pages: list[Page], share: float, more: float, less: float) -> None:
        self.name = name
        self._intervals = [1 / share] * len(pages)
        self._more, self._less = more, less

    def next_due(self, number: int, now: float, interval: float, *, changed: bool) -> float:
        factor = 1 - self._less if changed else 1 + self._more
        self._intervals[number] = min(max(self._intervals[number] * factor, 3_600), recrawl.LONGEST_SECONDS)
        return now + self._intervals[number]


class Uniform(Rule):
    """Every page as often as any other."""

    name = "every page alike"

    def __init__(self, share: float) -> None:
        self._interval = 1 / share

    def next_due(self, number: int, now: float, interval: float, *, changed: bool) -> float:
        return now + self._interval


def made(rng: Random, count: int) -> list[Page]:
    """Rates from several a day to one in a year (log-normal, median ten days), weights of a long tail."""
    return [Page(rng.lognormvariate(0, 1.5) / (10 * DAY_SECONDS), rng.paretovariate(1.5)) for _ in range(count)]


def optimum(pages: list[Page], share: float) -> float:
    """The weighted freshness of the best fixed intervals at *share* visits a second and page."""
    low, high = 1e-6, 1e12
    budget = share * len(pages)
    for _ in range(100):
        middle = math.sqrt(low * high)
        spent = sum(1 / recrawl.due_after(page.rate, middle, page.weight) for page in pages)
        low, high = (middle, high) if spent > budget else (low, middle)
    total = sum(page.weight for page in pages)
    kept = (
        page.weight * recrawl.freshness(page.rate, recrawl.due_after(page.rate, high, page.weight)) for page in pages
    )
    return sum(kept) / total


def run(pages: list[Page], rule: Rule, share: float, days: int, rng: Random) -> float:
    """The weighted freshness in the second half of *days*, with *share* visits a second and page in all."""
    for page in pages:
        page.visited = page.fresh_time = 0.0
        page.stale_since = rng.expovariate(page.rate)
    budget = share * len(pages) * DAY_SECONDS / STEPS_A_DAY
    queue = [(rng.random() / share, number) for number in range(len(pages))]
    heapq.heapify(queue)
    carried, half = 0.0, days / 2 * DAY_SECONDS
    for step in range(1, days * STEPS_A_DAY + 1):
        now = step * DAY_SECONDS / STEPS_A_DAY
        carried = min(carried + budget, 2 * budget)
        while queue and queue[0][0] <= now and carried >= 1:
            _, number = heapq.heappop(queue)
            carried, page = carried - 1, pages[number]
            _account(page, now, half)
            changed, interval = page.stale_since <= now, now - page.visited
            due = rule.next_due(number, now, interval, changed=changed)
            page.visited, page.stale_since = now, now + rng.expovariate(page.rate)
            heapq.heappush(queue, (due, number))
        rule.after_step()
    end = days * DAY_SECONDS
    for page in pages:
        _account(page, end, half)
    return sum(page.weight * page.fresh_time for page in pages) / sum(page.weight for page in pages) / (end - half)


def _account(page: Page, now: float, since: float) -> None:
    """Adds the time for which it was fresh since its last visit, as far as it counts."""
    began, ended = max(page.visited, since), min(page.stale_since, now)
    page.fresh_time += max(0.0, ended - began)


def rules(pages: list[Page], share: float) -> list[Rule]:
    return [
        Ours(pages, share),
        Adaptive("Nutch's AdaptiveFetchSchedule", pages, share, 0.4, 0.2),
        Adaptive("StormCrawler's AdaptiveScheduler", pages, share, 0.5, 0.5),
        Uniform(share),
    ]


def compared(count: int, days: int, every_days: float, seed: int) -> tuple[float, dict[str, float]]:
    """The optimum, and what each rule reaches."""
    pages, share = made(Random(seed), count), 1 / (every_days * DAY_SECONDS)
    found = {rule.name: run(pages, rule, share, days, Random(seed + 1)) for rule in rules(pages, share)}
    return optimum(pages, share), found


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--pages", type=int, default=10_000)
    parser.add_argument(
        "--visits", type=int, default=20, help="of each page, in the mean: the first half does not count"
    )
    parser.add_argument("--seed", type=int, default=7)
    options = parser.parse_args()
    lines = ["| visits a page, every | rule | freshness | of the optimum |", "| ---: | --- | ---: | ---: |"]
    for every in (3.0, 10.0, 30.0):
        best, found = compared(options.pages, round(every * options.visits), every, options.seed)
        for name, reached in [("all rates known (optimum)", best), *found.items()]:
            lines.append(f"| {every:g} days | {name} | {reached:.4f} | {reached / best:.1%} |")
    told = f"{options.pages:,} pages, {options.visits} visits of each in the mean, the first half not counted."
    lines += ["", f"{told} {machine('scrapy')}"]
    write("recrawl", "\n".join(lines), DOCUMENT)


if __name__ == "__main__":
    main()
