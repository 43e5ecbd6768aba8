"""The data of `scrapy status`: a snapshot of the frontier, at any size."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter, itemgetter
from typing import Final

from crawler.commands.views.progress import CrawlProgress
from crawler.commands.views.redis_view import RedisState
from crawler.frontier.frontier import Frontier
from crawler.frontier.inspection.eligible import by_queue
from crawler.frontier.inspection.held_back import held_back
from crawler.frontier.messages import SpiderStats, WorkerState
from crawler.frontier.run_record import Run
from crawler.frontier.state.tiers import Spent, Tiers
from crawler.policy.tiers import TIERS, Tier, rank
from crawler.utils.plural import several

TOP_HOSTS: Final = 20
MOST_RUNS: Final = 50  # newest of those that are not over
OVER_RUNS: Final = 3  # finished ones
_NUMBER: Final = re.compile(r"[0-9]+")
_HELD_UP: Final = {  # by what workers report
    "paused": "Leasing is paused",
    "slowed": "Leasing is slowed to one request at a time",
}


@dataclass(frozen=True, kw_only=True)
class Snapshot(CrawlProgress, RedisState):
    """All that the command shows."""

    tiers: Mapping[str, Mapping[str, SpiderStats]] = field(default_factory=dict)  # by spider that uses several
    spent: Mapping[str, Mapping[str, float]] = field(default_factory=dict)  # by tier today (UTC), of all spiders
    eligible_hosts: int = 0
    waiting_hosts: int = 0
    oldest_ms: float = 0  # how long the oldest request that may be sent has waited for a worker
    dead_letters: int = 0  # of all spiders, including invalid start URLs
    cut: Mapping[str, Mapping[str, int]] = field(default_factory=dict)  # links out of scope, by spider and rule
    runs: Sequence[Run] = ()  # unfinished ones, newest first, and the last few finished ones
    more_runs: int = 0  # unfinished ones that are older than these


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
