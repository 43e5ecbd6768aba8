"""When to revisit a known page: spends a budget of visits where it buys most freshness. Pure.

**Estimate.** A page changes as a Poisson process. A visit shows whether it changed since the previous one, not how
often: the rate is estimated by an online EM for such counts (each change seen over an interval stands for as many as
are expected there, given one; Cho & Garcia-Molina 2003 name the bias of counting it as one), with a Gamma prior. What
has been seen leaves a Gamma distribution of rates: few visits leave it wide.

**Value.** What a visit now buys is the marginal freshness of visiting a page every *age* seconds, `weight * ((1 -
exp(-rate age)) / rate - age exp(-rate age))`: the greedy crawl value (Azar et al. 2018; Busa-Fekete et al. 2025), here
its mean over the rates that are possible. That looks at a page that nobody knows well earlier than the value at its
likeliest rate: one that seems to change too fast to follow may not. A page is due when its value crosses a threshold
that is the same for all; it is reset regularly so that pages like those in a sample spend exactly the budget. The
objective is the weighted share of pages that are as stored, averaged over time: a page that changes faster than any
budget can follow is left alone.

**Hints.** A sitemap's `lastmod` after the last visit raises the odds that a page has changed by a factor that its
host's earlier hints have earned (`Reliability`). It can make a page due, and never changes the estimate but by what
the visit then finds.
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
STEPS: Final = 24  # of a bisection: accurate to some seconds in a month
THRESHOLD_STEPS: Final = 14  # accurate to a percent: the estimates are no better
CERTAIN: Final = 1e6  # changes: as good as known
MOST_HINTS: Final = 500.0  # visits: older ones fade
UNPROVEN: Final = 10.0  # visits, before which hints say nothing
TRUSTED: Final = 0.95  # least share of hints that were right; at 0.7 they cost more visits than they are worth
CONFIDENT: Final = 1.64  # standard errors


@dataclass(frozen=True, slots=True)
class Estimate:
    """How often a page changes: *changes* (expected ones, of censored counts) in *seconds*. Shape and scale of the
    Gamma distribution of its rate."""

    changes: float = PRIOR_CHANGES
    seconds: float = PRIOR_SECONDS

    @classmethod
    def certain(cls, rate: float) -> Self:
        """Of a page whose rate is known."""
        return cls(CERTAIN, CERTAIN / rate)

    @property
    def rate(self) -> float:
        """Changes per second; never 0."""
        return self.changes / self.seconds

    def after(self, interval: float, *, changed: bool, hinted: bool = False) -> Self:
        """The estimate after a visit *interval* seconds after the previous one. *hinted*: a hint brought it forward, so
        that it came right after the first change, which counts as one."""
        interval = max(interval, 1.0)
        expected = self.rate * interval
        seen = (1.0 if hinted else expected / -math.expm1(-expected)) if changed else 0.0
        changes, seconds = self.changes + seen, self.seconds + interval
        fade = min(1.0, MOST_CHANGES / changes)
        return type(self)(changes * fade, seconds * fade)

    def changed_within(self, age: float) -> float:
        """The probability that the page has changed *age* seconds after a visit."""
        return -math.expm1(-self.changes * math.log1p(age / self.seconds))

    def fresh_for(self, age: float) -> float:
        """For how many of the *age* seconds since a visit the page has been as stored, in the mean."""
        passed, rest = math.log1p(age / self.seconds), self.changes - 1
        if abs(rest) < 1e-9:
            return self.seconds * passed
        return self.seconds * -math.expm1(-rest * passed) / rest


def value(known: Estimate, age: float, weight: float = 1.0) -> float:
    """What a visit buys *age* seconds after the last one, in seconds of freshness."""
    if known.changes * age < 1e-4 * known.seconds:  # a difference of nearly equal numbers loses precision
        return weight * known.rate * age * age / 2
    return weight * (known.fresh_for(age) - age * (1 - known.changed_within(age)))


def hinted_value(known: Estimate, age: float, factor: float, weight: float = 1.0) -> float:
    """`value` right after a hint that multiplies the odds of a change by *factor*."""
    before = known.changed_within(age)
    changed = before * factor / (1 - before + before * factor)
    return weight * (known.fresh_for(age) * changed / before - age * (1 - changed))


def due_after(known: Estimate, threshold: float, weight: float = 1.0, steps: int = STEPS) -> float:
    """Seconds after a visit at which its value crosses *threshold*: SHORTEST_SECONDS to LONGEST_SECONDS."""
    if value(known, LONGEST_SECONDS, weight) <= threshold:
        return LONGEST_SECONDS
    low, high = SHORTEST_SECONDS, LONGEST_SECONDS
    for _ in range(steps):
        middle = math.sqrt(low * high)
        if value(known, middle, weight) < threshold:
            low = middle
        else:
            high = middle
    return high


def threshold_for(sample: Sequence[tuple[Estimate, float]], visits_per_page: float) -> float:
    """The threshold at which pages like those in *sample*, with their weights, get *visits_per_page* per second on
    average.

    Computed rather than found by feedback: a controller would wait days for the effect of each step, and oscillate.
    """
    low, high = 1e-9, LONGEST_SECONDS * max((weight for _, weight in sample), default=1.0)
    for _ in range(THRESHOLD_STEPS):
        middle = math.sqrt(low * high)
        taken = sum(1 / due_after(known, middle, weight, THRESHOLD_STEPS) for known, weight in sample)
        low, high = (middle, high) if taken > visits_per_page * len(sample) else (low, middle)
    return high


@dataclass(frozen=True, slots=True)
class Outcomes:
    """Of some visits: how many, how many *found* a change, and how many were *expected* to by the estimates."""

    visits: float = 0.0
    found: float = 0.0
    expected: float = 0.0

    def after(self, expected: float, *, changed: bool) -> Self:
        """With one more."""
        fade = min(1.0, MOST_HINTS / (self.visits + 1))
        return type(self)((self.visits + 1) * fade, (self.found + changed) * fade, (self.expected + expected) * fade)

    def share(self, deviations: float) -> float:
        """The share that found a change, *deviations* standard errors more than were seen."""
        share = (self.found + 1) / (self.visits + 2)
        return min(max(share + deviations * math.sqrt(share * (1 - share) / (self.visits + 2)), 1e-3), 1 - 1e-3)

    def surprise(self, deviations: float) -> float:
        """By how much the odds of a change were higher than expected, were *deviations* standard errors more found."""
        found = self.share(deviations)
        expected = (self.expected + 1) / (self.visits + 2)
        return found / (1 - found) * (1 - expected) / expected


@dataclass(frozen=True, slots=True)
class Reliability:
    """What the hints of one host are worth, from the visits to its pages: all that a hint preceded, and all that were
    due without one, to set them against: of a host that calls every page changed both find the same, however wrong
    the estimates are."""

    hinted: Outcomes = Outcomes()
    planned: Outcomes = Outcomes()

    @property
    def factor(self) -> float:
        """By how much a hint multiplies the odds of a change: 1 until we may be confident of more, and that hints
        without a change, which cost a visit each, are few."""
        if min(self.hinted.visits, self.planned.visits) < UNPROVEN or self.hinted.share(-CONFIDENT) < TRUSTED:
            return 1.0
        return max(1.0, self.hinted.surprise(-CONFIDENT) / self.planned.surprise(CONFIDENT))

    def after(self, known: Estimate, interval: float, *, changed: bool, hinted: bool, planned: bool) -> Self:
        """With one more visit *interval* seconds after the previous one. *hinted*: a hint came in between; *planned*:
        it would have been due without."""
        expected = known.changed_within(interval)
        return type(self)(
            self.hinted.after(expected, changed=changed) if hinted else self.hinted,
            self.planned.after(expected, changed=changed) if planned else self.planned,
        )
