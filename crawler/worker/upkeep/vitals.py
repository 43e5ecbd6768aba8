"""A worker's vital figures, for `scrapy status`: recent rates, age, memory, whether it stores."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from pathlib import Path
from time import monotonic
from typing import Any, Final, Protocol

from crawler import stats as names

WINDOW_SECONDS: Final = 60.0
_PAGE_BYTES: Final = 4_096
_MEMORY: Final = Path("/proc/self/statm")


class _Stats(Protocol):
    def get_value(self, key: str, default: Any = None) -> Any: ...


class Vitals:
    """Rates are of the last WINDOW_SECONDS, or since the first call."""

    def __init__(self, stats: _Stats, clock: Callable[[], float] = monotonic) -> None:
        self._stats = stats
        self._clock = clock
        self._began = clock()
        self._seen: deque[tuple[float, int, int]] = deque([(self._began, 0, 0)])

    def told(self) -> dict[str, float]:
        """pages_per_s, items_per_s, age_s, memory_mb (0 if unavailable); store_away and spool_bytes while MongoDB is
        away, changes_refused where it refuses some."""
        now = self._clock()
        pages, items = self._count(names.ACKED), self._count("item_scraped_count")
        while len(self._seen) > 1 and self._seen[1][0] <= now - WINDOW_SECONDS:
            self._seen.popleft()
        then, pages_then, items_then = self._seen[0]
        self._seen.append((now, pages, items))
        seconds = max(now - then, 1.0)
        return {
            "pages_per_s": round((pages - pages_then) / seconds, 2),
            "items_per_s": round((items - items_then) / seconds, 2),
            "age_s": round(now - self._began),
            "memory_mb": _memory_mb(),
            **self._storage(),
        }

    def _storage(self) -> dict[str, int]:
        refused = self._count(names.CHANGES_REFUSED)
        found = {"changes_refused": refused} if refused else {}
        if self._stats.get_value(names.STORE_AWAY, 0):
            found |= {"store_away": 1, "spool_bytes": self._count(names.SPOOL_BYTES)}
        return found

    def _count(self, name: str) -> int:
        value = self._stats.get_value(name, 0)
        return value if isinstance(value, int) else 0  # a spider may have put anything there


def _memory_mb() -> int:
    try:
        return int(_MEMORY.read_text("ascii").split()[1]) * _PAGE_BYTES // 1_000_000
    except (OSError, ValueError, IndexError):  # not Linux
        return 0
