"""What `scrapy runs` prints: a table of runs, or one run in full."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any, Final

from rich.table import Table

from crawler.commands.views.progress import CrawlProgress, resumed_by
from crawler.commands.views.tables import narrow_table
from crawler.frontier.run_record import Run
from crawler.frontier.state.budgets import Closed
from crawler.storage.items.run_items import Difference
from crawler.utils.durations import in_words
from crawler.utils.plural import wait

MOMENT: Final = "%Y-%m-%d %H:%M:%S"
MOST_HOSTS: Final = 5
LONGEST_NAME: Final = 40  # in a list
QUIET_MS: Final = 600_000  # a shorter time is nothing to tell
_INNER: Final = ("base", "asked")  # of a record, for scripts
_COUNTS: Final = ("accepted", "queued", "leased", "delayed", "done", "dead", "dropped")


def overview(runs: Sequence[Run], now_ms: int, paused: Collection[str]) -> Table:
    """One row per run, newest first; it fits 80 columns. What no run has is left out; long names are cut. *paused*: see
    `resumed_by`."""
    numbers = {"to do": "pending", "done": "done"}
    numbers |= {name: name for name in ("gone", "dead", "dropped") if any(getattr(run.counts, name) for run in runs)}
    table = narrow_table("", ["run", "spider and name", "state"], ["took", *numbers])
    table.columns[0].no_wrap = table.columns[2].no_wrap = True  # an id is copied whole
    for run in runs:
        told = [_short(getattr(run.counts, name)) for name in numbers.values()]
        name = f"{run.spider} {run.name}".strip()
        name = name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}…"
        state = "paused" if resumed_by(run, paused) else run.shown_state
        table.add_row(run.id, name, state, took(run, now_ms), *told)
    return table


def _short(number: int) -> str:
    if number < 100_000:
        return f"{number:,}" if number else "-"
    return f"{number / 1_000:.0f}k" if number < 999_500 else f"{number / 1_000_000:,.1f}M"


def took(run: Run, now_ms: int) -> str:
    """How long it has been running, or ran."""
    return in_words(max(0, (run.ended_ms or now_ms) - run.opened_ms) / 1000)


def whole(run: Run, seen: CrawlProgress, items: Mapping[str, int], totals: Mapping[str, float]) -> Iterator[str]:
    """The lines of `runs show`; *items* counts its documents per collection, *totals* are its workers' stats."""
    yield f"Run {run.id} of {run.spider}{f', {run.name}' if run.name else ''}: {run.shown_state}"
    yield f"opened {_moment(run.opened_ms)}{f' by {run.producer}' if run.producer else ''}"
    yield _course(run, seen)
    yield _known(run)
    counts = run.counts
    for name in _COUNTS:
        line = f"{name:>9} {getattr(counts, name):>12,}"
        if name == "done" and counts.gone:
            line += f"   of these {counts.gone:,} gone (404, 410, ...)"
        yield line + _reasons({"dead": counts.dead_by, "dropped": counts.dropped_by}.get(name, {}))
    if items:
        yield "documents:" + _reasons(items)
    if counts.cut_by:
        yield "Out of scope, by rule:" + _reasons(counts.cut_by)
    if not run.is_over:
        yield from _prospect(run, seen)
    if totals:
        yield "Stats, summed over its workers:"
        yield from _columns({name: _number(value) for name, value in totals.items()})


def _columns(told: Mapping[str, str]) -> Iterator[str]:
    """Aligned, but for a name that would make all lines longer than 80 columns."""
    numbers = max(map(len, told.values()))
    names = min(max(map(len, told)), 80 - 3 - numbers)
    return (f"  {name:<{names}} {number:>{numbers}}" for name, number in told.items())


def plain(run: Run, seen: CrawlProgress | None = None, paused: Collection[str] = ()) -> dict[str, Any]:
    """*run* for scripts: times as ISO 8601, null for what has not happened; its speed, if that was *seen*.
    *paused*: see `resumed_by`."""
    row = {name: value for name, value in asdict(run).items() if not name.endswith("_ms") and name not in _INNER}
    times = {name: getattr(run, f"{name}_ms") for name in ("opened", "sealed", "ended", "cancelled")}
    row |= {name: _iso(ms) if ms else None for name, ms in times.items()}
    row["paused"] = bool(resumed_by(run, paused))
    if not run.is_over:
        row["quiet_seconds"] = round(run.quiet_ms / 1000)
    if seen is not None and not run.is_over:
        row["pages_per_s"] = round(seen.rate("pages_per_s", run.spider), 2)
        row["seconds_to_go"] = (seen.run_to_go(run) or [None])[-1]
    return row


def difference(one: Difference) -> str:
    """A line of `runs diff`."""
    sign = {"new": "+", "gone": "-"}.get(one.kind, "~")
    versions = f" (version {one.before} -> {one.after})" if one.kind == "changed" else ""
    return f"{sign} {one.collection} {f'{one.url} ' if one.url else ''}{one.id}{versions}"


def _course(run: Run, seen: CrawlProgress) -> str:
    length = took(run, seen.now_ms)
    if run.is_over:
        return f"ended {_moment(run.ended_ms)}, after {length}"
    return f"under way for {length}" + (f", sealed {_moment(run.sealed_ms)}" if run.sealed_ms else "")


def _known(run: Run) -> str:
    if run.is_plain:
        return f"of the crawl that plain starts and start URLs join (generation {run.generation})"
    if run.fresh:
        return "every URL is new to it"
    return f"skips the URLs that {run.spider} knows already (generation {run.shares})"


def _prospect(run: Run, seen: CrawlProgress) -> Iterator[str]:
    """Its speed, the time left, and what holds it up."""
    if run.state == "open":
        yield "It is open: more may be pushed. It ends once it is sealed (`scrapy runs seal`) and all is done."
    if run.quiet_ms >= QUIET_MS:
        yield f"Nothing was pushed to it or done for {in_words(run.quiet_ms / 1000)}."
    if not run.counts.pending:
        return
    pages = seen.rate("pages_per_s", run.spider)
    if seconds := seen.run_to_go(run):
        least, most = map(in_words, seconds)
        behind = "" if least == most else f", {most} if its other runs come first"
        about = "at least" if seen.waiting else "about"  # the next try of what waits may fail, too
        yield f"{run.spider} does {pages:,.1f} pages a second: {about} {least} to go{behind}."
    elif not seen.workers:
        yield f"No worker of {run.spider} is running."
    elif pages <= 0:
        yield "No page was done in the last minute."
    if option := seen.resumed_by(run):
        yield f"It is paused (`scrapy control resume {option}`)."
    yield from (f"{reason}." for reason in seen.held_up)
    for closed in _closed(run, seen):
        yield f"Held back: {closed.told}, {closed.lasts}."
    for one in seen.waiting[:MOST_HOSTS]:
        yield f"{one.host}: {wait(one.pages, 'page')}, next try in {in_words(one.until_ms / 1000)}: {one.why}."


def _closed(run: Run, seen: CrawlProgress) -> list[Closed]:
    """The budgets and opening hours that hold back requests of *run*; those of hosts, of the longest queues'."""
    hosts = [host.host for host in seen.hosts]
    own = {f"r:{run.spider}:{run.generation}", f"s:{run.spider}"}
    return [
        one
        for one in seen.closed
        if one.name in own
        or (one.name[:2] not in {"r:", "s:"} and any(one.governs(host, run.spider) for host in hosts))
    ]


def _reasons(counts: Mapping[str, int]) -> str:
    most_first = sorted(counts.items(), key=lambda one: (-one[1], one[0]))
    return "   " + ", ".join(f"{name} {count:,}" for name, count in most_first) if most_first else ""


def _number(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:,.4g}"


def _moment(ms: int) -> str:
    return f"{datetime.fromtimestamp(ms / 1000, UTC):{MOMENT}} UTC"


def _iso(ms: int) -> str:
    return datetime.fromtimestamp(ms / 1000, UTC).isoformat()
