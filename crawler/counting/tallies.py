"""What a worker counts for the fleet's figures, until it is sent to Redis every few seconds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Final
from weakref import WeakKeyDictionary

from scrapy.crawler import Crawler

# Outcomes of attempts besides the classes of policy/endings/failures.py.
OK: Final = "ok"
UNREACHED: Final = "unreached"  # retried without a response
UNKNOWN: Final = "unknown"  # an exception that policy/endings/failures.py has no class for
MOST: Final = 20_000  # pending keys; while Redis is away further new ones are not counted
MOST_FIELDS: Final = 1_000  # pending, per run and grade


class Tally:
    """Counts by key. For the event loop's thread only."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[str, ...]] = Counter()

    def add(self, *key: str) -> None:
        """Count one key."""
        if key in self._counts or len(self._counts) < MOST:
            self._counts[key] += 1

    def take(self) -> Counter[tuple[str, ...]]:
        """The counts since the last call."""
        taken, self._counts = self._counts, Counter()
        return taken

    def give_back(self, counts: Counter[tuple[str, ...]]) -> None:
        """Add counts that could not be sent to the next ones."""
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
        """The counts since the last call."""
        taken, self._counts = self._counts, {}
        return Counter({(*key, field): count for key, counts in taken.items() for field, count in counts.items()})

    def give_back(self, counts: Counter[tuple[str, ...]]) -> None:
        """Add counts that could not be sent to the next ones."""
        for (generation, grade, field), count in counts.items():
            self._counts.setdefault((generation, grade), Counter())[field] += count


class Tallies:
    """The tallies of one worker: *answers* by host and outcome, *fields* of the items of runs."""

    def __init__(self) -> None:
        self.answers = Tally()
        self.fields = FieldTally()


_KNOWN: Final[WeakKeyDictionary[Crawler, Tallies]] = WeakKeyDictionary()


def tallies_of(crawler: Crawler) -> Tallies:
    """The tallies of *crawler*, created on the first call."""
    return _KNOWN.setdefault(crawler, Tallies())
