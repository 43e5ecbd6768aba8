"""`scrapy status`: what is queued, leased, delayed, dead and done; per host and worker."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from operator import attrgetter, itemgetter

from rich import box
from rich.console import Group
from rich.live import Live
from rich.table import Table
from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from crawler import tasks
from crawler.commands.usage import FleetCommand, answering, console, spider_class
from crawler.frontier.command_session import session
from crawler.frontier.frontier import Frontier
from crawler.frontier.messages import HostState, SpiderStats, WorkerState
from crawler.frontier.state.tiers import Spent, Tiers
from crawler.frontier.state.waiting import WaitingHost
from crawler.policy.tiers import TIERS, Tier, rank

WATCH_SECONDS = 2.0
TOP_HOSTS = 20
SPIDERS_PER_TABLE = 4  # so that a table fits a terminal of 80 columns
_HELD_UP = {"paused": "Leasing is paused", "slowed": "Leasing is slowed to one request at a time"}  # by what they say
COLUMNS = ("queued", "leased", "delayed", "dead", "done", "seen", "duplicates", "refused", "nacked", "reaped")


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One look at the frontier."""

    spiders: dict[str, SpiderStats]
    tiers: dict[str, dict[str, SpiderStats]]  # by spider, for those that use more than one
    spent: dict[str, dict[str, float]]  # requests and cost of each tier today (UTC), by all spiders
    eligible_hosts: int
    waiting_hosts: int
    dead_letters: int  # of all spiders, with start URLs that could not be read
    hosts: Sequence[HostState]
    waiting: Sequence[WaitingHost]  # whose requests wait for something else than their turn
    workers: Sequence[WorkerState]
    advice: Sequence[str]  # on the server's configuration
    bytes_per_queued: float | None  # measured on a sample of the whole frontier; None where there is nothing
    bytes_per_seen: float | None
    memory: float = 0.0  # share of maxmemory in use, of the fullest server; 0 where there is no limit
    waiting_for_room: int = 0  # pages whose requests Redis has no room for, in workers and given back
    largest_waiting: tuple[str, int] | None = None  # URL and bytes: the page whose requests need the most room
    cut: Mapping[str, Mapping[str, int]] = field(default_factory=dict)  # by spider and rule: what was out of scope
    held_up: Sequence[str] = ()  # why workers lease less than they could, or nothing


class Command(FleetCommand, ScrapyCommand):
    """Reads only. Costs the same at any size of the queue; of the hosts it shows the longest queues."""

    def syntax(self) -> str:
        return "[spider] [--json] [--watch]"

    def short_desc(self) -> str:
        return "Show what the shared frontier holds"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--json", action="store_true", help="print one JSON object, for scripts")
        parser.add_argument("--watch", action="store_true", help=f"look again every {WATCH_SECONDS:g} s until Ctrl-C")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        with answering(args):
            if len(args) > 1 or (opts.json and opts.watch):
                raise UsageError("name at most one spider, and either --json or --watch", print_help=False)
            with suppress(*([KeyboardInterrupt] if opts.watch else [])):
                tasks.run(self._show(args[0] if args else None, opts))

    async def _show(self, spider: str | None, opts: argparse.Namespace) -> None:
        assert self.settings is not None
        async with session(self.settings) as frontier:
            seen = await look(frontier, spider)
            if spider and spider not in seen.spiders and not seen.workers:
                spider_class(self.settings, spider)
            if opts.json:
                print(json.dumps(asdict(seen), default=dict))
            elif opts.watch:
                await self._watch(frontier, spider, seen)
            else:
                console().print(render(seen))

    async def _watch(self, frontier: Frontier, spider: str | None, seen: Snapshot) -> None:
        """On a terminal one picture that changes, elsewhere one block per look, with its time and an empty line."""
        shown = console()
        with Live(render(seen), console=shown, auto_refresh=False) if shown.is_terminal else nullcontext() as live:
            while True:
                if live is None:
                    shown.print(f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S} UTC", render(seen), "", sep="\n")
                    sys.stdout.flush()
                await asyncio.sleep(WATCH_SECONDS)
                seen = await look(frontier, spider)
                if live is not None:
                    live.update(render(seen), refresh=True)


async def look(frontier: Frontier, spider: str | None) -> Snapshot:
    """Everything the command shows."""
    stats = await frontier.inspection.stats(spider)
    workers = await frontier.inspection.workers()
    bytes_per_queued, bytes_per_seen = await frontier.inspection.sizes()
    return Snapshot(
        spiders=dict(stats.spiders),
        tiers=_by_spider(stats.tiers),
        spent=_today(await Tiers(frontier.shards, keep_ms=0).spent(stats.now_ms)),
        eligible_hosts=stats.eligible_hosts,
        waiting_hosts=stats.waiting_hosts,
        dead_letters=await frontier.dead.count(),
        hosts=await frontier.inspection.hosts(spider, TOP_HOSTS),
        waiting=await frontier.inspection.waiting(spider, TOP_HOSTS),
        advice=frontier.advice,
        bytes_per_queued=bytes_per_queued,
        bytes_per_seen=bytes_per_seen,
        workers=(ours := [w for w in workers if spider is None or w.info.get("spider") == spider]),
        memory=await frontier.gauge.used(),
        waiting_for_room=sum(worker.info.get("waiting", 0) for worker in ours) + await frontier.inspection.put_off(),
        largest_waiting=_largest_waiting(ours),
        held_up=_held_up(ours),
        cut=_cut_of_spiders(stats.cut),
    )


def _held_up(workers: Sequence[WorkerState]) -> list[str]:
    reasons = {(word, str(worker.info.get(key) or "")) for worker in workers for key, word in _HELD_UP.items()}
    return [f"{word}: {reason}" for word, reason in sorted(reasons) if reason]


def _largest_waiting(workers: Sequence[WorkerState]) -> tuple[str, int] | None:
    told = [
        (str(worker.info["largest_waiting"]), int(worker.info.get("largest_waiting_bytes") or 0))
        for worker in workers
        if worker.info.get("largest_waiting")
    ]
    return max(told, key=itemgetter(1), default=None)


def render(seen: Snapshot) -> Group:
    """Tables for people."""
    parts: list[Table | str] = [*_spiders(seen.spiders)]
    if seen.tiers:
        parts.append(_tiers(seen.tiers))
    if set(seen.spent) - {TIERS[0]}:
        told = [f"{tier} {sums['requests']:,.0f} requests, cost {sums['cost']:g}" for tier, sums in seen.spent.items()]
        parts.append("Today (UTC): " + "; ".join(told) + ".")
    parts.extend(_cut(spider, rules) for spider, rules in sorted(seen.cut.items()))
    parts.append("")
    parts.append(f"Hosts ready now: {seen.eligible_hosts:,}; waiting for their next turn: {seen.waiting_hosts:,}.")
    parts.extend(
        f"{one.host}: {one.pages:,} pages wait, next try in {_seconds(one.until_ms)}: {one.why}{_given_up(one)}."
        for one in seen.waiting
    )
    if seen.dead_letters:
        parts.append(f"Dead letters of all spiders: {seen.dead_letters:,} (see `scrapy dead list`).")
    sizes = [(seen.bytes_per_queued, "queued"), (seen.bytes_per_seen, "seen")]
    if told := [f"{size:.1f} bytes per {kind} URL" for size, kind in sizes if size is not None]:
        parts.append(f"Redis memory: {', '.join(told)}.")
    parts.extend(f"{reason}." for reason in seen.held_up)
    if seen.waiting_for_room:
        parts.append(
            f"{seen.waiting_for_room:,} pages wait for room in Redis, which uses {seen.memory:.0%} of its maxmemory. "
            "They are done once the requests found on them are stored: raise maxmemory, or let the queue drain."
        )
        if seen.largest_waiting:
            url, size = seen.largest_waiting
            parts.append(f"The most room is needed by {size:,} bytes of requests found on {url}")
    if seen.hosts:
        parts.append(_hosts(seen.hosts))
    parts.append(_workers(seen.workers) if seen.workers else "No worker is running.")
    parts.extend(f"Redis: {advice}." for advice in seen.advice)
    return Group(*parts)


def _cut_of_spiders(cut: Mapping[tuple[str, str], Mapping[str, int]]) -> dict[str, dict[str, int]]:
    sums: dict[str, Counter[str]] = {}
    for (spider, _), rules in cut.items():
        sums.setdefault(spider, Counter()).update(rules)
    return {spider: dict(rules) for spider, rules in sums.items()}


def _cut(spider: str, rules: Mapping[str, int]) -> str:
    most_first = sorted(rules.items(), key=lambda one: (-one[1], one[0]))
    told = ", ".join(f"{rule} {count:,}" for rule, count in most_first)
    return f"Out of scope for {spider}, by rule: {told} (docs/scope.md)."


def _table(title: str, names: Sequence[str], numbers: Sequence[str]) -> Table:
    """Narrow, with names folded instead of cut off: it fits 80 columns."""
    table = Table(
        title=f"\n{title}" if title else None,
        title_justify="left",
        box=box.SIMPLE_HEAD,
        show_edge=False,
        padding=(0, 1, 0, 0),
        pad_edge=False,
    )
    for name in names:
        table.add_column(name, overflow="fold")
    for number in numbers:
        table.add_column(number, justify="right", no_wrap=True)
    return table


def _given_up(one: WaitingHost) -> str:
    if one.given_up_ms is None:
        return ""
    return f"; given up in {_seconds(one.given_up_ms)}" if one.given_up_ms else "; given up when the next try fails"


def _spiders(spiders: dict[str, SpiderStats]) -> list[Table | str]:
    if not spiders:
        return ["Nothing has been pushed yet."]
    names = sorted(spiders)
    return [
        _counters({name: spiders[name] for name in some})
        for some in (names[i : i + SPIDERS_PER_TABLE] for i in range(0, len(names), SPIDERS_PER_TABLE))
    ]


def _counters(spiders: dict[str, SpiderStats]) -> Table:
    table = _table("", ["requests"], [])
    for name in spiders:
        table.add_column(name, justify="right", overflow="fold")
    for column in COLUMNS:
        table.add_row(column, *(f"{getattr(stats, column):,}" for stats in spiders.values()))
    return table


def _by_spider(counters: Mapping[tuple[str, Tier], SpiderStats]) -> dict[str, dict[str, SpiderStats]]:
    found: dict[str, dict[str, SpiderStats]] = {}
    for spider, tier in sorted(counters, key=lambda queue: (queue[0], rank(queue[1]))):
        found.setdefault(spider, {})[tier] = counters[spider, tier]
    return {spider: of_tiers for spider, of_tiers in found.items() if set(of_tiers) != {TIERS[0]}}


def _today(spent: Spent) -> dict[str, dict[str, float]]:
    both = {tier: {"requests": spent.requests[tier], "cost": spent.cost[tier]} for tier in TIERS}
    return {tier: sums for tier, sums in both.items() if any(sums.values())}


def _tiers(spiders: dict[str, dict[str, SpiderStats]]) -> Table:
    table = _table("Tiers", ["spider", "tier"], COLUMNS[:5])
    for spider, of_tiers in spiders.items():
        for tier, counters in of_tiers.items():
            table.add_row(spider, tier, *(_count(getattr(counters, name)) for name in COLUMNS[:5]))
    return table


def _hosts(hosts: Sequence[HostState]) -> Table:
    """Tiers and breakers have a column only where there is something to say."""
    optional: dict[str, Callable[[HostState], str]] = {}
    if {host.tier for host in hosts} != {TIERS[0]}:
        optional["tier"] = attrgetter("tier")
    if any(host.openings for host in hosts):
        optional["breaker"] = _breaker
    title = f"Hosts with the longest queues ({len(hosts)})"
    numbers = ("queued", "in use", "delay", "next in", "latency", "ok")
    table = _table(title, ["host", *optional], numbers)
    for host in hosts:
        table.add_row(
            host.host,
            *(shown(host) for shown in optional.values()),
            _count(host.queued),
            f"{host.in_flight}/{host.cap}",
            _seconds(host.delay_ms),
            _seconds(max(host.waits_ms, host.blocked_ms)),
            _seconds(host.latency_ms),
            "" if host.success is None else f"{host.success:.0%}",
        )
    return table


def _breaker(host: HostState) -> str:
    return f"{host.breaker} {host.openings}" if host.openings else ""


def _workers(workers: Sequence[WorkerState]) -> Table:
    table = _table("Workers", ["worker", "spider", "tiers"], ["leases", "buffered", "outbox", "seen ago"])
    for worker in workers:
        told = [str(worker.info.get(name, "")) for name in ("spider", "tiers", "leases", "buffered", "outbox")]
        table.add_row(worker.name, *told, _seconds(worker.seen_ms_ago))
    return table


def _count(number: int) -> str:
    return f"{number:,}" if number < 10_000_000 else f"{number / 1_000_000:,.1f}M"


def _seconds(milliseconds: float) -> str:
    if not milliseconds:
        return "-"
    if milliseconds < 100:
        return f"{milliseconds:.0f} ms"
    return f"{milliseconds / 1000:.1f} s" if milliseconds < 600_000 else f"{milliseconds / 60_000:.0f} min"
