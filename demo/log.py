"""The shops' request log: what arrived when, and how polite the crawler was."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from itertools import groupby, pairwise
from operator import attrgetter
from typing import Any

from demo.site import CRAWL_DELAY, is_disallowed

TOLERANCE = 0.005  # seconds; the kernel's clock ticks every 1 to 4 ms


@dataclass(frozen=True, slots=True)
class Entry:
    """One request; `at` is seconds on a monotonic clock."""

    at: float
    host: str
    path: str
    status: int  # 0: the shop dropped the connection on purpose
    agent: str


@dataclass(frozen=True, slots=True)
class HostManners:
    """How one host was treated; gaps are between the arrivals of consecutive requests, in seconds."""

    host: str
    requests: int
    smallest_gap: float | None  # None: fewer than two requests
    too_close: int  # gaps below the crawl delay, less the measuring tolerance
    violations: int  # requests that robots.txt disallows


def manners(entries: Iterable[Entry], delay: float = CRAWL_DELAY) -> list[HostManners]:
    """One row per host, in the order of their names."""
    ordered = sorted(entries, key=attrgetter("host", "at"))
    return [_host(host, list(group), delay) for host, group in groupby(ordered, key=attrgetter("host"))]


def _host(host: str, entries: list[Entry], delay: float) -> HostManners:
    gaps = [later.at - earlier.at for earlier, later in pairwise(entries)]
    return HostManners(
        host,
        len(entries),
        min(gaps, default=None),
        sum(gap < delay - TOLERANCE for gap in gaps),
        sum(is_disallowed(entry.path) for entry in entries),
    )


def to_json(entries: Iterable[Entry]) -> list[dict[str, Any]]:
    """The entries as JSON objects."""
    return [asdict(entry) for entry in entries]


def from_json(rows: Iterable[dict[str, Any]]) -> list[Entry]:
    """The inverse of `to_json`."""
    return [Entry(**row) for row in rows]
