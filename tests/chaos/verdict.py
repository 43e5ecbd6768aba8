"""What a chaos run shows: pure functions of the site's log, the stored documents, and what was done to the workers."""

from __future__ import annotations

import signal
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from operator import attrgetter
from typing import Any, Final

from crawler.worker.prefetch import LOST_DATA
from demo.log import Entry
from tests.chaos.plan import Plan
from tests.chaos.trouble import Freeze

TOLERANCE: Final = 0.002  # seconds: the frontier counts in whole ms, on both sides of a gap
THAW_SECONDS: Final = 1.0  # what a thawed worker had checked before it was frozen leaves it within this time


@dataclass(frozen=True, slots=True)
class Gap:
    """Two requests to one host in a row."""

    earlier: Entry
    later: Entry

    @property
    def seconds(self) -> float:
        """Between their arrivals."""
        return self.later.at - self.earlier.at


def gaps(entries: Iterable[Entry]) -> list[Gap]:
    """Of each host."""
    ordered = sorted(entries, key=attrgetter("host", "at"))
    hosts = groupby(ordered, key=attrgetter("host"))
    return [Gap(*pair) for _, group in hosts for pair in pairwise(group)]


def thawed(gap: Gap, freezes: Sequence[Freeze]) -> Freeze | None:
    """The freeze at whose end one of the two requests left a worker that had checked its time before."""
    for entry in (gap.later, gap.earlier):
        for freeze in freezes:
            if entry.agent == freeze.worker and freeze.ended <= entry.at <= freeze.ended + THAW_SECONDS:
                return freeze
    return None


@dataclass(frozen=True, slots=True)
class Wire:
    """How the hosts were treated."""

    requests: int
    smallest: float  # gap in seconds, those that a freeze cost left out
    too_short: list[Gap]
    by_freezes: list[Gap]
    redeliveries: int  # good answers beyond the first of an address that is asked for once


def wire(
    entries: Sequence[Entry], delay: float, freezes: Sequence[Freeze], unpaced: Sequence[tuple[float, float]] = ()
) -> Wire:
    """Compare the site's log with the promised delay; a freeze may cost one gap at most. *unpaced*: times without a
    promise."""
    too_short: list[Gap] = []
    by_freezes: dict[Freeze, Gap] = {}
    rest = [gap for gap in gaps(entries) if gap.seconds >= delay - TOLERANCE]
    for gap in (gap for gap in gaps(entries) if gap.seconds < delay - TOLERANCE):
        if any(began <= gap.later.at <= ended for began, ended in unpaced):
            continue
        freeze = thawed(gap, freezes)
        if freeze is None or freeze in by_freezes:
            too_short.append(gap)
        else:
            by_freezes[freeze] = gap
    answered = Counter((entry.host, entry.path) for entry in entries if entry.status == 200)
    pages = {address: count for address, count in answered.items() if address[1] != "/robots.txt"}
    return Wire(
        requests=len(entries),
        smallest=min((gap.seconds for gap in [*rest, *too_short]), default=0.0),
        too_short=too_short,
        by_freezes=list(by_freezes.values()),
        redeliveries=sum(pages.values()) - len(pages),
    )


@dataclass(frozen=True, slots=True)
class Stored:
    """What MongoDB holds against what the plan expects."""

    pages: int
    lost: list[str]
    duplicated: list[str]


def stored(plan: Plan, documents: Sequence[Mapping[str, Any]]) -> Stored:
    """One document per expected page, written once; anything else is a duplicate."""
    urls = Counter(str(document["url"]) for document in documents)
    twice = [url for url, count in urls.items() if count > 1 or url not in plan.expected]
    again = [str(document["url"]) for document in documents if document["version"] != 1]
    return Stored(len(documents), sorted(plan.expected - set(urls)), sorted(twice + again))


@dataclass(frozen=True, slots=True)
class Left:
    """What is left in the frontier: every number is 0 after a crawl that came to its end."""

    queued: int
    leased: int
    delayed: int
    slots: int  # in flight at the hosts
    entries: int  # keys of queues and leases

    def __str__(self) -> str:
        return ", ".join(f"{getattr(self, name)} {name}" for name in self.__slots__)


def owed(log: str) -> set[int]:
    """The exit statuses of a worker with this *log* after a SIGTERM: 1 once it has seen Redis emptied; the signal ends
    one that is only starting."""
    return {int(LOST_DATA in log)} if log else {0, -signal.SIGTERM}


def unexpected_dead(plan: Plan, dead: Mapping[str, str]) -> Iterator[str]:
    """A line for each dead letter that was not meant to be one, and for each that is missing."""
    for url in sorted({*plan.dead, *dead}):
        if dead.get(url) != plan.dead.get(url):
            yield f"{url}: {dead.get(url, 'no dead letter')}, not {plan.dead.get(url, 'a dead letter at all')}"
