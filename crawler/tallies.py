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
MOST_FIELDS: Final = 1_000  # of a run and grade that wait


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


class FieldTally:
    """Counts by generation, grade and field; a whole item at a time, at a tenth of the cost of one key each."""

    def __init__(self) -> None:
        self._counts: dict[tuple[str, str], Counter[str]] = {}

    def add(self, generation: str, grade: str, fields: Iterable[str]) -> None:
        """Count each of *fields* of one item."""
        counts = self._counts.get((generation, grade))
        if counts is None:
            counts = self._counts[generation, grade] = Counter()
        if len(counts) < MOST_FIELDS:
            counts.update(fields)

    def take(self) -> Counter[tuple[str, ...]]:
        """All that was counted since the last call."""
        taken, self._counts = self._counts, {}
        return Counter({(*key, field): count for key, counts in taken.items() for field, count in counts.items()})

    def give_back(self, counts: Counter[tuple[str, ...]]) -> None:
        """They could not be told: they are among the next ones."""
        for (generation, grade, field), count in counts.items():
            self._counts.setdefault((generation, grade), Counter())[field] += count


class Tallies:
    """Those of one worker: *answers* by host and outcome, *fields* of the items of runs."""

    def __init__(self) -> None:
        self.answers = Tally()
        self.fields = FieldTally()


_KNOWN: Final[WeakKeyDictionary[Crawler, Tallies]] = WeakKeyDictionary()


def tallies_of(crawler: Crawler) -> Tallies:
    """Those of *crawler*, made at the first call."""
    return _KNOWN.setdefault(crawler, Tallies())
