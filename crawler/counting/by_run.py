"""A worker's stats by run: what is counted while a page is fetched, parsed and stored is counted for its run too.

Which run that is goes with the task: the downloader and the scraper set it, and what they start inherits it as long as
the request exists. Tasks that a page happens to start and that live on are part of no run.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import Final, Literal
from weakref import ReferenceType, ref

Counted = Literal["sum", "max", "last"]
Taken = dict[str, dict[tuple[str, Counted], float]]
MOST: Final = 5_000  # names per run; while Redis is away further ones are not counted
MOST_RUNS: Final = 200

_page: Final[ContextVar[tuple[str, ReferenceType[object]] | None]] = ContextVar("page", default=None)


class of_run:  # noqa: N801 - used as a function; a generator would take four times as long, twice per page
    """What is counted here for *request*, and in tasks that begin here, is part of *run*; "": of that around it."""

    __slots__ = ("_page", "_token")

    def __init__(self, run: str, request: object) -> None:
        self._page = (run, ref(request)) if run else _page.get()

    def __enter__(self) -> None:
        self._token = _page.set(self._page)

    def __exit__(self, *exception: object) -> None:
        _page.reset(self._token)


class RunShare:
    """What was counted for one run since it was last taken."""

    __slots__ = ("lasts", "peaks", "sums")

    def __init__(self) -> None:
        self.sums: dict[str, float] = {}
        self.peaks: dict[str, float] = {}
        self.lasts: dict[str, float] = {}


class StatsByRun:
    """By run; under "" what belongs to no page. For the event loop's thread only."""

    def __init__(self) -> None:
        self._of: dict[str, RunShare] = {}

    def add(self, name: str, count: float) -> None:
        """Count *name* up."""
        sums = self._share().sums
        if name in sums:
            sums[name] += count
        elif len(sums) < MOST:
            sums[name] = count

    def peak(self, name: str, value: float) -> None:
        """Keep the largest."""
        peaks = self._share().peaks
        if name in peaks or len(peaks) < MOST:
            peaks[name] = max(peaks.get(name, value), value)

    def note(self, name: str, value: float) -> None:
        """Keep the last."""
        lasts = self._share().lasts
        if name in lasts or len(lasts) < MOST:
            lasts[name] = value

    def take(self) -> Taken:
        """All since the last call."""
        taken, self._of = self._of, {}
        kinds: tuple[Counted, ...] = ("sum", "max", "last")
        return {
            run: {
                (name, kind): value
                for kind, values in zip(kinds, (of.sums, of.peaks, of.lasts), strict=True)
                for name, value in values.items()
            }
            for run, of in taken.items()
        }

    def give_back(self, taken: dict[tuple[str, Counted], float]) -> None:
        """Add what belongs to no page to the next such."""
        into = {"sum": self.add, "max": self.peak, "last": self.note}
        for (name, kind), value in taken.items():
            into[kind](name, value)

    def _share(self) -> RunShare:
        page = _page.get()
        run = page[0] if page is not None and page[1]() is not None else ""
        share = self._of.get(run)
        if share is None:
            if len(self._of) >= MOST_RUNS:
                run = ""
            share = self._of.setdefault(run, RunShare())
        return share


def merged(into: dict[tuple[str, Counted], float], other: dict[tuple[str, Counted], float]) -> None:
    """Add *other* to *into*."""
    for (name, kind), value in other.items():
        key, known = (name, kind), into.get((name, kind))
        if known is None or kind == "last":
            into[key] = value
        else:
            into[key] = known + value if kind == "sum" else max(known, value)
