"""How far crawls are, and when they will be finished: what `scrapy status` and `scrapy runs` tell first."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from crawler.frontier.inspection.waiting import WaitingHost
from crawler.frontier.messages import HostState, SpiderStats, WorkerState
from crawler.frontier.run_record import Run
from crawler.frontier.runs.control import run_target
from crawler.frontier.state.budgets import Closed
from crawler.frontier.state.workers import SILENT_MS


@dataclass(frozen=True, kw_only=True)
class CrawlProgress:
    """What is to do, who does it, and what holds it up."""

    spiders: Mapping[str, SpiderStats] = field(default_factory=dict)
    start_urls: Mapping[str, int] = field(default_factory=dict)  # that no worker has taken in yet, by spider
    workers: Sequence[WorkerState] = ()
    hosts: Sequence[HostState] = ()  # with the longest queues
    waiting: Sequence[WaitingHost] = ()  # whose requests wait for something other than their turn
    held_up: Sequence[str] = ()  # why workers lease slowly or not at all
    held_back: Sequence[str] = ()  # what no host holds back: budgets, hours, pauses, tiers without a worker
    closed: Sequence[Closed] = ()  # budgets and opening hours that hold requests back
    paused: Sequence[str] = ()  # what operators have paused, as `ControlState` names it
    now_ms: int = 0  # the frontier's time

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
