"""The data of `scrapy status`: a snapshot of the frontier, at any size."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter, itemgetter
from typing import Any, Final

from crawler.frontier.frontier import Frontier
from crawler.frontier.inspection.eligible import by_queue
from crawler.frontier.inspection.held_back import held_back
from crawler.frontier.inspection.waiting import WaitingHost
from crawler.frontier.messages import HostState, SpiderStats, WorkerState
from crawler.frontier.run_record import Run
from crawler.frontier.runs.control import run_target
from crawler.frontier.state.budgets import Closed
from crawler.frontier.state.tiers import Spent, Tiers
from crawler.policy.tiers import TIERS, Tier, rank
from crawler.utils.plural import several

TOP_HOSTS: Final = 20
MOST_RUNS: Final = 50  # newest of those that are not over
OVER_RUNS: Final = 3  # finished ones
SILENT_MS: Final = 15_000  # three heartbeats: a worker says something every 5 s
_NUMBER: Final = re.compile(r"[0-9]+")
_HELD_UP: Final = {  # by what workers report
    "paused": "Leasing is paused",
    "slowed": "Leasing is slowed to one request at a time",
}


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A snapshot of the frontier."""

    spiders: dict[str, SpiderStats]
    tiers: dict[str, dict[str, SpiderStats]]  # by spider, for those that use more than one
    spent: dict[str, dict[str, float]]  # requests and cost of each tier today (UTC), by all spiders
    eligible_hosts: int
    waiting_hosts: int
    dead_letters: int  # of all spiders, including invalid start URLs
    hosts: Sequence[HostState]
    waiting: Sequence[WaitingHost]  # whose requests wait for something other than their turn
    workers: Sequence[WorkerState]
    advice: Sequence[str]  # on the server's configuration
    bytes_per_queued: float | None  # measured on a sample of the whole frontier; None if it is empty
    bytes_per_seen: float | None
    memory: float = 0.0  # share of maxmemory in use on the fullest server; 0 without a limit
    waiting_for_room: int = 0  # pages whose requests Redis has no room for, in workers and given back
    largest_waiting: tuple[str, int] | None = None  # URL and bytes: the page whose requests need the most room
    cut: Mapping[str, Mapping[str, int]] = field(default_factory=dict)  # links out of scope, by spider and rule
    closed: Sequence[Closed] = ()  # budgets and opening hours that hold requests back
    held_up: Sequence[str] = ()  # why workers lease slowly or not at all
    held_back: Sequence[str] = ()  # what no host holds back: budgets, hours, pauses, tiers without a worker
    runs: Sequence[Run] = ()  # unfinished ones, newest first, and the last few finished ones
    more_runs: int = 0  # unfinished ones that are older than these
    paused: Sequence[str] = ()  # what operators have paused, as `ControlState` names it
    oldest_ms: float = 0  # how long the oldest request that may be sent has waited for a worker
    now_ms: int = 0  # the frontier's time
    uncounted: int = 0  # requests that damaged counters miss, or count too many; of all spiders
    set_aside: Sequence[str] = ()  # damaged values, by key: see Inspection.set_aside
    start_urls: Mapping[str, int] = field(default_factory=dict)  # that no worker has taken in yet, by spider

    @property
    def requests(self) -> int:
        """Unfinished ones. A counter that was lost goes below 0 until `uncounted` is counted again."""
        return sum(map(_pending, self.spiders.values()))

    @property
    def pending(self) -> int:
        """Unfinished requests, and start URLs."""
        return self.requests + sum(self.start_urls.values())

    def rate(self, what: str, spider: str | None = None) -> float:
        """Pages ("pages_per_s") or items per second in the last minute, of the workers of *spider* or all."""
        return sum(float(info.get(what) or 0) for info in self._told(spider))

    def is_paused(self, spider: str | None = None) -> bool:
        """Whether no worker, of *spider* if given, leases anything: its last minute says nothing about the next."""
        ours = self._told(spider)
        return bool(ours) and all(info.get("paused") for info in ours)

    @property
    def silent(self) -> list[WorkerState]:
        """Workers that were killed, or hang, or have lost Redis; a minute later they are forgotten."""
        return [one for one in self.workers if one.seen_ms_ago > SILENT_MS]

    def _told(self, spider: str | None) -> list[Mapping[str, Any]]:
        heard = (one for one in self.workers if one.seen_ms_ago <= SILENT_MS)
        return [one.info for one in heard if spider in {None, one.info.get("spider")}]

    def seconds_to_go(self, spider: str | None = None, pending: int | None = None) -> float | None:
        """Seconds until *pending* requests are done at the current rate, None at a standstill, while leasing is paused
        and while some are held back. At least the time of the longest queue at its host's delay, and until the last
        waiting host's next try, unless some of these may be of other requests than *pending*."""
        pages = self.rate("pages_per_s", spider)
        if pages <= 0 or self.is_paused(spider) or self._holds_back(spider):
            return None
        queues = (one.queued * one.delay_ms / 1000 / max(one.cap, 1) for one in self.hosts)
        longest = max((*queues, *(one.until_ms / 1000 for one in self.waiting), 0.0))
        asked = self.pending if pending is None else pending
        return max(asked / pages, longest if asked >= self.requests else 0.0)

    def run_to_go(self, run: Run) -> tuple[float, float] | None:
        """`seconds_to_go` of *run*, at least and at most: other runs of its spider may be ahead of it; None while it is
        paused."""
        if self.resumed_by(run):
            return None
        least = self.seconds_to_go(run.spider, run.counts.pending)
        most = self.seconds_to_go(run.spider, _pending(self.spiders.get(run.spider, SpiderStats())))
        return None if least is None or most is None else (least, max(least, most))

    def resumed_by(self, run: Run) -> str:
        """See `resumed_by`."""
        return resumed_by(run, self.paused)

    def _holds_back(self, spider: str | None) -> bool:
        """Whether requests, of *spider* if given, wait for what no rate tells: the next day of a budget, say."""
        return bool(self.held_back) if spider is None else any(one.concerns((spider,)) for one in self.closed)


def resumed_by(run: Run, paused: Collection[str]) -> str:
    """The option of `scrapy control resume` that lets *run* go on; "" unless it, or its spider, is among the *paused*,
    as `ControlState` names them."""
    options = {run_target(run): f"--run {run.id}", f"spider {run.spider}": f"--spider {run.spider}"}
    return "" if run.is_over else next((options[name] for name in options if name in paused), "")


def _pending(counts: SpiderStats) -> int:
    return sum(max(0, count) for count in (counts.queued, counts.leased, counts.delayed))


async def take_snapshot(frontier: Frontier, spider: str | None) -> Snapshot:
    """Collect everything the command shows."""
    stats = await frontier.inspection.stats(spider)
    workers = await frontier.workers.alive(60_000)
    closed = await frontier.budgets.closed(stats.now_ms)
    said = await frontier.control.said()
    queues = await by_queue(frontier.shards)
    bytes_per_queued, bytes_per_seen = await frontier.inspection.sizes()
    under_way = await frontier.runs.under_way(spider)
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
        held_up=_held_up(ours) + await _full_in_part(frontier),
        cut=_cut_of_spiders(stats.cut),
        closed=closed,
        held_back=held_back(stats, workers, said, closed),
        paused=said.paused,
        runs=_shown(await frontier.runs.find(spider, limit=MOST_RUNS), under_way),
        more_runs=max(0, len(under_way) - MOST_RUNS),
        oldest_ms=max((one.late_ms for (name, _), one in queues.items() if spider in {None, name}), default=0),
        now_ms=stats.now_ms,
        uncounted=stats.uncounted,
        set_aside=await frontier.inspection.set_aside(),
        start_urls=await frontier.runs.plain.start_urls(spider),
    )


def _shown(newest: Sequence[Run], under_way: Sequence[Run]) -> list[Run]:
    """Unfinished runs, however old, and the last few finished ones."""
    over = [run for run in newest if run.is_over][:OVER_RUNS]
    return sorted([*under_way[:MOST_RUNS], *over], key=attrgetter("opened_ms"), reverse=True)


def _held_up(workers: Sequence[WorkerState]) -> list[str]:
    told = [f"{word}: {reason}" for word, reason in _reasons(workers)]
    if away := [worker for worker in workers if worker.info.get("store_away")]:
        whom = f"{len(away)} of {several(len(workers), 'worker')}"
        told.append(f"MongoDB stores nothing from {whom}: {_spooled(away):,} bytes of items wait on disk")
    if refusing := sum(bool(worker.info.get("changes_refused")) for worker in workers):
        whom = f"{refusing} of {several(len(workers), 'worker')}"
        told.append(f"MongoDB refuses changes of items from {whom}: their logs say why, and the changes wait")
    return told


async def _full_in_part(frontier: Frontier) -> list[str]:
    """Of a Cluster with room elsewhere; workers tell themselves that all of it is full."""
    full = await frontier.gauge.full()
    if not full or len(full) == frontier.shards.count:
        return []
    of = f"for {several(len(full), 'shard')} of {frontier.shards.count}"
    return [f"Leasing is slowed to one request at a time {of}: {await frontier.gauge.told()}"]


def _spooled(workers: Sequence[WorkerState]) -> int:
    """Bytes: each tells what the disk of its machine holds, of all workers there."""
    disks: dict[str, int] = {}
    for one in workers:
        machine = one.name.rsplit("-", 2)[0]  # before the process, and what tells it from an earlier one
        disks[machine] = max(disks.get(machine, 0), int(one.info.get("spool_bytes") or 0))
    return sum(disks.values())


def _reasons(workers: Sequence[WorkerState]) -> list[tuple[str, str]]:
    """What they say, and why, each once: of those that differ in a number alone, such as a share of memory, one."""
    said = [(word, str(worker.info.get(key) or "")) for worker in workers for key, word in _HELD_UP.items()]
    return sorted({(word, _NUMBER.sub("", reason)): (word, reason) for word, reason in said if reason}.values())


def _largest_waiting(workers: Sequence[WorkerState]) -> tuple[str, int] | None:
    told = [
        (str(worker.info["largest_waiting"]), int(worker.info.get("largest_waiting_bytes") or 0))
        for worker in workers
        if worker.info.get("largest_waiting")
    ]
    return max(told, key=itemgetter(1), default=None)


def _cut_of_spiders(cut: Mapping[tuple[str, str], Mapping[str, int]]) -> dict[str, dict[str, int]]:
    sums: dict[str, Counter[str]] = {}
    for (spider, _), rules in cut.items():
        sums.setdefault(spider, Counter()).update(rules)
    return {spider: dict(rules) for spider, rules in sums.items()}


def _by_spider(counters: Mapping[tuple[str, Tier], SpiderStats]) -> dict[str, dict[str, SpiderStats]]:
    found: dict[str, dict[str, SpiderStats]] = {}
    for spider, tier in sorted(counters, key=lambda queue: (queue[0], rank(queue[1]))):
        found.setdefault(spider, {})[tier] = counters[spider, tier]
    return {spider: of_tiers for spider, of_tiers in found.items() if set(of_tiers) != {TIERS[0]}}


def _today(spent: Spent) -> dict[str, dict[str, float]]:
    both = {tier: {"requests": spent.requests[tier], "cost": spent.cost[tier]} for tier in TIERS}
    return {tier: sums for tier, sums in both.items() if any(sums.values())}
