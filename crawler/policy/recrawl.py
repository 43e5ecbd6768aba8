"""When to revisit a known page: spends a budget of visits where it buys most freshness. Pure.

**Estimate.** A page changes as a Poisson process. A visit shows whether it changed since the previous one, not how
often: the rate is estimated by an online EM for such counts (each change seen over an interval stands for as many as
are expected there, given one; Cho & Garcia-Molina 2003 name the bias of counting it as one), with a Gamma prior.

**Value.** What a visit now buys is the marginal freshness of visiting a page every *age* seconds, `weight * ((1 -
exp(-rate age)) / rate - age exp(-rate age))`: the greedy crawl value (Azar et al. 2018; Busa-Fekete et al. 2025). A
page is due when its value crosses a threshold that is the same for all; it is reset regularly so that pages like those
in a sample spend exactly the budget. The objective is the weighted share of pages that are as stored, averaged over
time: a page that changes faster than any budget can follow is left alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Self

DAY_SECONDS: Final = 86_400.0
PRIOR_CHANGES: Final = 0.5  # as if half a change had been seen in PRIOR_SECONDS
PRIOR_SECONDS: Final = 5 * DAY_SECONDS
MOST_CHANGES: Final = 60.0  # older visits fade beyond this: sites change their habits
LONGEST_SECONDS: Final = 90 * DAY_SECONDS  # even a page that never seems to change is visited this often
SHORTEST_SECONDS: Final = 60.0
STEPS: Final = 30  # of a bisection: accurate to a second in a month
THRESHOLD_STEPS: Final = 22  # accurate to a few percent: the estimates are no better


@dataclass(frozen=True, slots=True)
class Estimate:
    """How often a page changes: *changes* (expected ones, of censored counts) in *seconds*."""

    changes: float = PRIOR_CHANGES
    seconds: float = PRIOR_SECONDS

    @property
    def rate(self) -> float:
        """Changes per second; never 0."""
        return self.changes / self.seconds

    def after(self, interval: float, *, changed: bool) -> Self:
        """The estimate after a visit *interval* seconds after the previous one."""
        interval = max(interval, 1.0)
        expected = self.rate * interval
        seen = expected / -math.expm1(-expected) if changed else 0.0
        changes, seconds = self.changes + seen, self.seconds + interval
        fade = min(1.0, MOST_CHANGES / changes)
        return type(self)(changes * fade, seconds * fade)


def value(rate: float, age: float, weight: float = 1.0) -> float:
    """What a visit buys *age* seconds after the last one, in seconds of freshness."""
    passed = rate * age
    if passed < 1e-4:  # a difference of nearly equal numbers loses precision
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
    """The share of time in which a page visited every *interval* seconds is as stored."""
    expected = rate * interval
    return -math.expm1(-expected) / expected if expected > 0 else 1.0


def threshold_for(sample: Sequence[tuple[float, float]], visits_per_page: float) -> float:
    """The threshold at which pages like those in *sample* (rate, weight) get *visits_per_page* per second on average.

    Computed rather than found by feedback: a controller would wait days for the effect of each step, and oscillate.
    """
    low, high = 1e-9, LONGEST_SECONDS * max((weight for _, weight in sample), default=1.0)
    for _ in range(THRESHOLD_STEPS):
        middle = math.sqrt(low * high)
        taken = sum(1 / due_after(rate, middle, weight, THRESHOLD_STEPS) for rate, weight in sample)
        low, high = (middle, high) if taken > visits_per_page * len(sample) else (low, middle)
    return high
