"""What a worker counts for the figures of the fleet, until it tells Redis every few seconds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Final
from weakref import WeakKeyDictionary

from scrapy.crawler import Crawler

# What became of an attempt, where it is no class of policy/failures.py.
OK: Final = "ok"
UNREACHED: Final = "unreached"  # tried again, without an answer
UNKNOWN: Final = "unknown"  # an exception that policy/failures.py does not know
MOST: Final = 20_000  # keys that wait; while Redis is away new ones are not counted beyond that


class Tally:
    """Counts by key. Only the event loop's thread uses it."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[str, ...]] = Counter()

    def add(self, *key: str) -> None:
        """Count one."""
        if key in self._counts or len(self._counts) < MOST:
            self._counts[key] += 1

    def take(self) -> Counter[tuple[str, ...]]:
        """All that was counted since the last call."""
        taken, self._counts = self._counts, Counter()
        return taken

    def give_back(self, counts: Counter[tuple[str, ...]]) -> None:
        """They could not be told: they are among the next ones."""
        self._counts.update(counts)


class Tallies:
    """Those of one worker: *answers* by host and outcome, *fields* by generation, grade and field."""

    def __init__(self) -> None:
        self.answers = Tally()
        self.fields = Tally()

    def grade(self, generation: str, grade: str, fields: Iterable[str]) -> None:
        """Count each of *fields* of one item."""
        for field in fields:
            self.fields.add(generation, grade, field)


_KNOWN: Final[WeakKeyDictionary[Crawler, Tallies]] = WeakKeyDictionary()


def tallies_of(crawler: Crawler) -> Tallies:
    """Those of *crawler*, made at the first call."""
    return _KNOWN.setdefault(crawler, Tallies())
