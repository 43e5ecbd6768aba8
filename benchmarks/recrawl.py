"""`make bench-recrawl`: how fresh a budget of visits keeps 10,000 pages that change at rates nobody knows.

A simulation in days: every page changes as a Poisson process, a visit sees whether it has changed since the one before.
Beside the product's rule: the best that could be done if all rates were known (every page at its own fixed interval),
the same number of visits for every page, and the adaptive rules of Nutch (AdaptiveFetchSchedule: 0.4 more, 0.2 less)
and StormCrawler (AdaptiveScheduler: 0.5 more, 0.5 less), each given the same visits: the most overdue pages first.
Last, the product's rule with the `lastmod` of a sitemap that is read once a day, right and wrong in several ways.
"""

from __future__ import annotations

import argparse
import heapq
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

from benchmarks.document import machine, write
from crawler.policy import recrawl
from crawler.policy.recrawl import DAY_SECONDS, Estimate, Reliability

DOCUMENT = Path(__file__).resolve().parents[1] / "docs" / "recrawl.md"
STEPS_A_DAY = 24
SAMPLE = 300
OF_A_SITE = 50  # pages
REMEMBERED = 0.8  # of a day's visits the day after


@dataclass(slots=True)
class Page:
    """One page: its true *rate* (changes a second) and *weight*; what happened to it."""

    rate: float
    weight: float
    visited: float = 0.0
    stale_since: float = math.inf  # when it changed first after its last visit
    due: float = 0.0
    fresh_time: float = 0.0


@dataclass(frozen=True, slots=True)
class Hints:
    """How a daily sitemap tells changes: which *share* of them, how many *false* ones come for each right one, and on
    which share of the sites every page is called changed on each day (*lying*)."""

    name: str
    share: float = 0.0
    false: float = 0.0
    lying: float = 0.0


NO_HINTS = Hints("")
HINTS = (
    Hints("no lastmod"),
    Hints("lastmod always right", 1.0),
    Hints("30 % of changes not told", 0.7),
    Hints("30 % of lastmods false", 1.0, 3 / 7),
    Hints("30 % false, 30 % not told", 0.7, 0.3),
    Hints("30 % of sites always say now", 1.0, lying=0.3),
    Hints("all sites always say now", lying=1.0),
)


class Rule:
    """Decides from outcomes when a page comes next; *due* of all is set at the start."""

    name = ""

    def is_due(self, number: int, now: float, age: float) -> bool:
        """Whether a hint makes a page due."""
        return False

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
        self._reliable = [Reliability()] * (1 + len(pages) // OF_A_SITE)
        self._hinted: dict[int, bool] = {}  # whether that made the page due
        self._share, self._rng, self._steps = share, Random(1), 0
        self._pause = STEPS_A_DAY * max(1, round(0.1 / share / DAY_SECONDS))  # between two thresholds
        self._visits = self._forward = 0.0  # of late, and those that a hint brought forward
        self.threshold = recrawl.value(Estimate(), 1 / share)

    def is_due(self, number: int, now: float, age: float) -> bool:
        factor, weight = self._reliable[number // OF_A_SITE].factor, self._pages[number].weight
        before = self._hinted.get(number, False)
        due = factor > 1 and recrawl.hinted_value(self._estimates[number], age, factor, weight) >= self.threshold
        self._hinted[number] = due or before
        return due and not before

    def next_due(self, number: int, now: float, interval: float, *, changed: bool) -> float:
        known, hinted = self._estimates[number], self._hinted.pop(number, None)
        site, forward = number // OF_A_SITE, bool(hinted)
        self._reliable[site] = self._reliable[site].after(
            known, interval, changed=changed, hinted=hinted is not None, planned=not forward
        )
        self._visits, self._forward = self._visits + 1, self._forward + forward
        estimate = self._estimates[number] = known.after(interval, changed=changed, hinted=forward)
        return now + recrawl.due_after(estimate, self.threshold, self._pages[number].weight)

    def after_step(self) -> None:
        self._steps += 1
        if self._steps % self._pause == 0:
            chosen = self._rng.sample(range(len(self._pages)), min(SAMPLE, len(self._pages)))
            sample = [(self._estimates[number], self._pages[number].weight) for number in chosen]
            planned = max(0.1, 1 - self._forward / max(1.0, self._visits))
            self.threshold = recrawl.threshold_for(sample, planned * self._share)
            self._visits, self._forward = self._visits * REMEMBERED, self._forward * REMEMBERED


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
    known = [(Estimate.certain(page.rate), page.weight) for page in pages]
    for _ in range(40):
        middle = math.sqrt(low * high)
        spent = sum(1 / recrawl.due_after(page, middle, weight) for page, weight in known)
        low, high = (middle, high) if spent > budget else (low, middle)
    total = sum(page.weight for page in pages)
    kept = (
        page.weight * freshness(page.rate, recrawl.due_after(one, high, weight))
        for page, (one, weight) in zip(pages, known, strict=True)
    )
    return sum(kept) / total


def freshness(rate: float, interval: float) -> float:
    """The share of time in which a page visited every *interval* seconds is as stored."""
    expected = rate * interval
    return -math.expm1(-expected) / expected if expected > 0 else 1.0


def run(pages: list[Page], rule: Rule, share: float, days: int, rng: Random, hints: Hints = NO_HINTS) -> float:
    """The weighted freshness in the second half of *days*, with *share* visits a second and page in all."""
    for page in pages:
        page.visited = page.fresh_time = 0.0
        page.stale_since, page.due = rng.expovariate(page.rate), rng.random() / share
    budget = share * len(pages) * DAY_SECONDS / STEPS_A_DAY
    queue = [(page.due, number) for number, page in enumerate(pages)]
    heapq.heapify(queue)
    carried, half = 0.0, days / 2 * DAY_SECONDS
    hinting, whims = hints.share + hints.lying > 0, Random(2)
    for step in range(1, days * STEPS_A_DAY + 1):
        now = step * DAY_SECONDS / STEPS_A_DAY
        carried = min(carried + budget, 2 * budget)
        if hinting and step % STEPS_A_DAY == 0:
            for number in _called_changed(pages, hints, now, whims):
                if pages[number].due > now and rule.is_due(number, now, now - pages[number].visited):
                    pages[number].due = now
                    heapq.heappush(queue, (now, number))
        while queue and queue[0][0] <= now and carried >= 1:
            due, number = heapq.heappop(queue)
            page = pages[number]
            if due != page.due:
                continue  # a hint brought its visit forward
            carried -= 1
            _account(page, now, half)
            changed, interval = page.stale_since <= now, now - page.visited
            due = rule.next_due(number, now, interval, changed=changed)
            page.visited, page.stale_since = now, now + rng.expovariate(page.rate)
            page.due = due
            heapq.heappush(queue, (due, number))
        rule.after_step()
    end = days * DAY_SECONDS
    for page in pages:
        _account(page, end, half)
    return sum(page.weight * page.fresh_time for page in pages) / sum(page.weight for page in pages) / (end - half)


def _called_changed(pages: list[Page], hints: Hints, now: float, rng: Random) -> Iterator[int]:
    """The pages whose lastmod says on this day that they have changed since their last visit and the day before."""
    liars = hints.lying * len(pages) // OF_A_SITE
    for number, page in enumerate(pages):
        if number // OF_A_SITE < liars:
            yield number
            continue
        today = now - DAY_SECONDS < page.stale_since <= now  # the first change: later ones tell nothing new
        false = hints.false and rng.random() < hints.false * -math.expm1(-page.rate * DAY_SECONDS)
        if (today and rng.random() < hints.share) or false:
            yield number


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


def hinted(count: int, every_days: float, visits: int, seed: int) -> dict[str, float]:
    """What the product's rule reaches with each kind of hints."""
    share, found = 1 / (every_days * DAY_SECONDS), {}
    for hints in HINTS:
        pages = made(Random(seed), count)
        found[hints.name] = run(pages, Ours(pages, share), share, round(every_days * visits), Random(seed + 1), hints)
    return found


def compared(count: int, days: int, every_days: float, seed: int) -> tuple[float, dict[str, float]]:
    """The optimum, and what each rule reaches."""
    pages, share = made(Random(seed), count), 1 / (every_days * DAY_SECONDS)
    found = {rule.name: run(pages, rule, share, days, Random(seed + 1)) for rule in rules(pages, share)}
    return optimum(pages, share), found


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.recrawl", description=(__doc__ or "").partition("\n")[0])
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
    lines += ["", told, "", "| lastmod, read once a day | freshness | beside none |", "| --- | ---: | ---: |"]
    found = hinted(options.pages // 5, 10.0, 12, options.seed)
    none = found[HINTS[0].name]
    lines += [f"| {name} | {reached:.4f} | {reached / none - 1:+.1%} |" for name, reached in found.items()]
    lines += ["", f"A visit a page every 10 days, {options.pages // 5:,} pages, 12 visits of each. {machine('scrapy')}"]
    write("recrawl", "\n".join(lines), DOCUMENT)


if __name__ == "__main__":
    main()
