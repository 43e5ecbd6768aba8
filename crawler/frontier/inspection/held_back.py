"""What holds queued requests back that their hosts do not: operators, budgets, hours, and tiers that nobody serves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from crawler.frontier.inspection.inspection import FrontierStats
from crawler.frontier.messages import WorkerState
from crawler.frontier.run_record import run_id_of
from crawler.frontier.runs.control import ControlState
from crawler.frontier.state.budgets import Closed
from crawler.utils.plural import wait


def held_back(
    stats: FrontierStats, workers: Sequence[WorkerState], said: ControlState, closed: Sequence[Closed] = ()
) -> list[str]:
    """One phrase for each reason that concerns a spider of *stats*, with its end or its cure."""
    closed = [one for one in closed if one.concerns(stats.spiders) and (stats.is_pending or not one.is_of_run)]
    return [*(f"{one.told}, {one.lasts}" for one in closed), *_paused(stats, said), *_unserved(stats, workers)]


def _paused(stats: FrontierStats, said: ControlState) -> Iterator[str]:
    for kind, _, whose in (what.partition(" ") for what in said.paused):
        spider, _, generation = whose.partition(":")
        if kind == "host" and stats.is_pending:
            yield f"{whose} is paused (`scrapy control resume --host {whose}`)"
        elif kind == "spider" and _queued(stats, spider):
            yield f"{spider} is paused (`scrapy control resume --spider {spider}`)"
        elif kind == "run" and (run := run_id_of(generation)) and spider in stats.spiders:
            yield f"run {run} is paused (`scrapy control resume --run {run}`)"


def _queued(stats: FrontierStats, spider: str) -> int:
    return stats.spiders[spider].queued if spider in stats.spiders else 0


def _unserved(stats: FrontierStats, workers: Sequence[WorkerState]) -> Iterator[str]:
    """Nothing while no worker runs at all, which is said before."""
    served = {(one.info.get("spider"), tier) for one in workers for tier in str(one.info.get("tiers", "")).split(",")}
    for (spider, tier), counters in sorted(stats.tiers.items()):
        if served and counters.queued and (spider, tier) not in served:
            start = f"`scrapy crawl {spider}{'' if tier == 'http' else f' -s TIER={tier}'}`"
            yield f"{spider}: {wait(counters.queued, 'page')} for a worker of tier {tier} ({start})"
