"""How the stats of a run's workers make one: a table of names, and what the run itself says in Scrapy's words."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final, Literal, NamedTuple, get_args

How = Literal["sum", "max", "last"]
HOWS: Final = (*get_args(How), "")  # "": left out
LONGEST_NAME: Final = 200
LARGEST: Final = 1e300
# Whatever the table does not name: what was counted up is summed, of maxima the largest is kept, else the last value.
# A name may begin or end with *.
TABLE: Final[Mapping[str, str]] = {
    "memusage/startup": "max",
    "memusage/max": "max",
    "browser/memory_bytes": "max",
    # said of the run: see `described`
    "start_time": "",
    "finish_time": "",
    "finish_reason": "",
    "elapsed_time_seconds": "",
    "items_per_minute": "",
    "responses_per_minute": "",
    "spidermon_field_coverage/*": "",  # computed from the sums
    # of a worker at a moment, or of no run
    "storage/away": "",
    "storage/spool/*bytes": "",
    "storage/spool/oldest_timestamp_seconds": "",
    "archive/away": "",
    "frontier/budget_dropped": "",
    "frontier/requests_damaged": "",
    "frontier/runs_ended": "",
    "webhooks/*": "",
}


class Row(NamedTuple):
    """A change of one stat of one run."""

    run: str
    name: str
    how: How
    value: float


class Table:
    """Looks up how a stat adds up: first in *own*, then in TABLE."""

    def __init__(self, own: Mapping[str, str]) -> None:
        table = {**TABLE, **own}
        self._exact = {name: how for name, how in table.items() if "*" not in name}
        self._patterns = [(*name.split("*", 1), how) for name, how in reversed(table.items()) if "*" in name]
        self._known: dict[tuple[str, How], str] = {}

    def how(self, name: str, counted: How) -> str:
        """What is done with *name*, which Scrapy's collector was given as *counted*; "" for nothing."""
        if (key := (name, counted)) not in self._known:
            if len(self._known) > 10_000:
                self._known.clear()
            self._known[key] = self._look_up(name, counted)
        return self._known[key]

    def _look_up(self, name: str, counted: How) -> str:
        if not isinstance(name, str) or len(name) > LONGEST_NAME or not name.isprintable():
            return ""  # Scrapy takes anything for a name
        fits = (how for head, tail, how in self._patterns if name.startswith(head) and name.endswith(tail))
        return self._exact.get(name) or ("" if name in self._exact else next(fits, counted))

    def rows(self, run: str, taken: Mapping[tuple[str, How], float]) -> list[Row]:
        """What is to be added to *run*."""
        found: list[Row] = []
        for (name, counted), value in taken.items():
            how: Any = self.how(name, counted)
            if how and _is_number(value) and (value or how != "sum"):
                found.append(Row(run, name, how, +value))
        return found


def _is_number(value: object) -> bool:
    """Whether Redis can keep it: a double, and no text, moment or infinity."""
    return isinstance(value, int | float) and abs(value) < LARGEST and not math.isnan(value)


def described(state: str, opened_ms: int, ended_ms: int, totals: Mapping[str, float]) -> dict[str, Any]:
    """*totals* with what Scrapy says of a crawl, here of the run: its times, its end and its speed."""
    start, finish = (datetime.fromtimestamp(ms / 1000, UTC) for ms in (opened_ms, ended_ms))
    seconds = max(0, ended_ms - opened_ms) / 1000
    said: dict[str, Any] = {
        "start_time": start,
        "finish_time": finish,
        "finish_reason": state,
        "elapsed_time_seconds": seconds,
    }
    for name, counted in (("items", "item_scraped_count"), ("responses", "response_received_count")):
        said[f"{name}_per_minute"] = 60 * totals.get(counted, 0) / seconds if seconds else None
    return {**totals, **said}
