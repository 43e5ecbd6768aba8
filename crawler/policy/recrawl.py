"""When to visit a known page again: where a budget of visits buys most freshness. Pure.

**Estimate.** A page changes as a Poisson process. A visit tells whether it changed since the one before, not how often:
the rate is estimated by an online EM for such counts (each change seen over an interval stands for as many as are
expected there, given one; Cho & Garcia-Molina 2003 name the bias of counting it as one), with a Gamma prior.

**Value.** What a visit now buys is the marginal freshness of visiting a page every *age* seconds,
`weight * ((1 - exp(-rate age)) / rate - age exp(-rate age))`: the greedy crawl value (Azar et al. 2018; Busa-Fekete et
al. 2025). A page is due when its value crosses a threshold that is the same for all; it is set, again and again, so
that pages like a sample of those there are spend the budget. The objective is the weighted share of pages that are as
stored, averaged over time: what changes faster than any budget can follow is left alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Self

DAY_SECONDS: Final = 86_400.0
PRIOR_CHANGES: Final = 0.5  # as if half a change had been seen in PRIOR_SECONDS
PRIOR_SECONDS: Final = 5 * DAY_SECONDS
MOST_CHANGES: Final = 60.0  # beyond that old visits fade: sites change their habits
LONGEST_SECONDS: Final = 90 * DAY_SECONDS  # what seems never to change is looked at as often all the same
SHORTEST_SECONDS: Final = 60.0
STEPS: Final = 30  # of a bisection: to a second in a month
WAITING: Final = 0.25  # of a day's budget: so many may be due at any time
CORRECTION: Final = 0.1  # a day
THRESHOLD_STEPS: Final = 22  # to some percent: estimates are no better


@dataclass(frozen=True, slots=True)
class Estimate:
    """How often a page changes: *changes* (expected ones, of censored counts) in *seconds*."""

    changes: float = PRIOR_CHANGES
    seconds: float = PRIOR_SECONDS

    @property
    def rate(self) -> float:
        """Changes a second; never 0."""
        return self.changes / self.seconds

    def after(self, interval: float, *, changed: bool) -> Self:
        """The estimate after a visit *interval* seconds behind the one before."""
        interval = max(interval, 1.0)
        expected = self.rate * interval
        seen = expected / -math.expm1(-expected) if changed else 0.0
        changes, seconds = self.changes + seen, self.seconds + interval
        fade = min(1.0, MOST_CHANGES / changes)
        return type(self)(changes * fade, seconds * fade)


def value(rate: float, age: float, weight: float = 1.0) -> float:
    """What a visit buys *age* seconds after the last one, in seconds of freshness."""
    passed = rate * age
    if passed < 1e-4:  # the difference of two numbers next to each other
        return weight * rate * age * age / 2
    return weight * (-math.expm1(-passed) / rate - age * math.exp(-passed))


def due_after(rate: float, threshold: float, weight: float = 1.0, steps: int = STEPS) -> float:
    """Seconds after a visit at which its value crosses *threshold*: SHORTEST_SECONDS to LONGEST_SECONDS."""
    if value(rate, LONGEST_SECONDS, weight) <= threshold:
        return LONGEST_SECONDS
    low, high = SHORTEST_SECONDS, LONGEST_SECONDS
    for _ in range(steps):
        middle = math.sqrt(low * high)
        if value(rate, middle, weight) < threshold:
            low = middle
        else:
            high = middle
    return high


def freshness(rate: float, interval: float) -> float:
    """The share of time for which a page that is visited every *interval* seconds is as stored."""
    expected = rate * interval
    return -math.expm1(-expected) / expected if expected > 0 else 1.0


def threshold_for(sample: Sequence[tuple[float, float]], visits_per_page: float) -> float:
    """The threshold at which pages like those of *sample* (rate, weight) take *visits_per_page* a second, on average.

    Solved and not searched for: a controller that waits for what its last step did would wait for days, and swing.
    """
    low, high = 1e-9, LONGEST_SECONDS * max((weight for _, weight in sample), default=1.0)
    for _ in range(THRESHOLD_STEPS):
        middle = math.sqrt(low * high)
        taken = sum(1 / due_after(rate, middle, weight, THRESHOLD_STEPS) for rate, weight in sample)
        low, high = (middle, high) if taken > visits_per_page * len(sample) else (low, middle)
    return high


def corrected(correction: float, spent: float, waiting: float) -> float:
    """What the threshold is multiplied by, after a day in which *spent* of its budget was used and *waiting*, of it
    too, were due at its end: coarse samples make visits that nobody planned. Slow: it acts on dues to come.
    """
    if waiting > WAITING:
        return min(correction * (1 + CORRECTION * min(waiting, 1.0)), 1e3)
    return max(correction * (1 - CORRECTION * max(0.0, 1 - spent)), 1e-3)
