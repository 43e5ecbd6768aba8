"""The tables of `scrapy status`: runs, queues by spider and tier, hosts, workers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter
from typing import Final

from rich.table import Table

from crawler.commands.views.status_snapshot import Snapshot
from crawler.commands.views.tables import amount, narrow_table, shortly
from crawler.frontier.messages import HostState, SpiderStats, WorkerState
from crawler.frontier.run_record import Run
from crawler.frontier.state.workers import SILENT_MS
from crawler.policy.tiers import TIERS
from crawler.utils.durations import in_words

COLUMNS: Final = ("queued", "leased", "delayed", "dead", "done", "seen")
MOST_HOSTS: Final = 5  # a screen; --json has more
MOST_WORKERS: Final = 10


def runs(seen: Snapshot) -> Table:
    """One row per run: those that are not over, and the last few that are."""
    dropped = ["dropped"] if any(run.counts.dropped for run in seen.runs) else []
    table = narrow_table("", ["run", "spider", "state"], ["done", "to do", "dead", *dropped, "to go"])
    for run in seen.runs:
        counts, name = run.counts, f"{run.spider} {run.name}".strip()
        table.add_row(
            run.id,
            name,
            run.shown_state,
            amount(counts.done),
            amount(counts.pending) if counts.pending else "-",
            amount(counts.dead) if counts.dead else "-",
            *(amount(counts.dropped) if counts.dropped else "-" for _ in dropped),
            _to_go(seen, run),
        )
    return table


def _to_go(seen: Snapshot, run: Run) -> str:
    """For a run that is over: how long it took."""
    if run.is_over:
        return f"took {in_words((run.ended_ms - run.opened_ms) / 1000)}"
    if seen.resumed_by(run):
        return "paused"
    seconds = seen.run_to_go(run) if run.counts.pending else None
    return "-" if seconds is None else " to ".join(dict.fromkeys(map(in_words, seconds)))


def spiders(spiders: Mapping[str, SpiderStats]) -> Table:
    """What is queued, under way and done, by spider."""
    table = narrow_table("", ["spider"], COLUMNS)
    for name in sorted(spiders):
        table.add_row(name, *(amount(getattr(spiders[name], column)) for column in COLUMNS))
    return table


def tiers(spiders: Mapping[str, Mapping[str, SpiderStats]]) -> Table:
    """The same by spider and tier."""
    table = narrow_table("Tiers", ["spider", "tier"], COLUMNS[:5])
    for spider, of_tiers in spiders.items():
        for tier, counters in of_tiers.items():
            table.add_row(spider, tier, *(amount(getattr(counters, name)) for name in COLUMNS[:5]))
    return table


def hosts(hosts: Sequence[HostState]) -> Table:
    """Tiers and breakers have a column only where there is something to say."""
    optional: dict[str, Callable[[HostState], str]] = {}
    if {host.tier for host in hosts} != {TIERS[0]}:
        optional["tier"] = attrgetter("tier")
    if any(host.openings for host in hosts):
        optional["breaker"] = _breaker
    shown = hosts[:MOST_HOSTS]
    numbers = ("queued", "in use", "delay", "next in", "latency", "ok")
    table = narrow_table(_title("Hosts with the longest queues", shown, hosts), ["host", *optional], numbers)
    for host in shown:
        table.add_row(
            host.host,
            *(told(host) for told in optional.values()),
            amount(host.queued),
            f"{host.in_flight}/{host.cap}",
            shortly(host.delay_ms),
            shortly(max(host.waits_ms, host.blocked_ms)),
            shortly(host.latency_ms),
            "" if host.success is None else f"{host.success:.0%}",
        )
    return table


def _title(name: str, shown: Sequence[object], found: Sequence[object]) -> str:
    return f"{name} ({len(shown)} of {len(found)})" if len(shown) < len(found) else name


def _breaker(host: HostState) -> str:
    return f"{host.breaker} {host.openings}" if host.openings else ""


def workers(workers: Sequence[WorkerState]) -> Table:
    """Those that say nothing first."""
    shown = sorted(workers, key=lambda one: one.seen_ms_ago <= SILENT_MS)[:MOST_WORKERS]
    numbers = ["pages/s", "age", "memory", "leases", "outbox", "seen ago"]
    tiers = ["tiers"] if {str(one.info.get("tiers", TIERS[0])) for one in workers} - {TIERS[0]} else []
    table = narrow_table(_title("Workers", shown, workers), ["worker", "spider", *tiers], numbers)
    for worker in shown:
        info = worker.info
        told = [str(info.get(name, "")) for name in ("spider", *tiers)]
        age, memory = info.get("age_s"), info.get("memory_mb")
        table.add_row(
            worker.name,
            *told,
            f"{float(info.get('pages_per_s') or 0):.1f}",
            in_words(float(age)) if age is not None else "",
            f"{memory} MB" if memory else "",
            str(info.get("leases", "")),
            str(info.get("outbox", "")),
            shortly(worker.seen_ms_ago),
        )
    return table
