"""Collects the figures of the whole fleet every few seconds, for the process that exports them."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from scrapy.settings import BaseSettings

from crawler import config
from crawler.frontier.errors import FrontierError
from crawler.frontier.frontier import Frontier
from crawler.frontier.inspection import eligible
from crawler.frontier.inspection.inspection import FrontierStats
from crawler.frontier.run_record import Run
from crawler.frontier.state.budgets import Share
from crawler.frontier.state.tiers import DAY_MS, Spent, Tiers
from crawler.metrics.fleet import COUNTED, PLACES, RUN_STATES, FleetFigures, RunFigures, ScheduleFigures, render
from crawler.policy.tiers import TierBudgets, daily_limits

MOST_RUNS: Final = 30  # newest, finished or not; and as many of the oldest that are not
OLD_LOOKS: Final = 4  # figures older than this many intervals are not served


@dataclass(frozen=True, slots=True)
class FleetConfig:
    """How often to collect, and what an operator expects to see."""

    every_seconds: float
    workers: int
    budgets: TierBudgets

    @classmethod
    def from_settings(cls, settings: BaseSettings) -> FleetConfig:
        """Raises ConfigError for a value out of range."""
        return cls(
            every_seconds=config.number(settings, "METRICS_QUEUE_SECONDS"),
            workers=config.integer(settings, "FLEET_WORKERS"),
            budgets=TierBudgets(
                daily_limits(settings, "TIER_DAILY_REQUESTS"), daily_limits(settings, "TIER_DAILY_COST")
            ),
        )


@dataclass(frozen=True, slots=True)
class FigureSources:
    """Sources of figures in other rooms, called at each collection; each raises FrontierError if it fails."""

    schedules: Callable[[], Awaitable[Sequence[ScheduleFigures]]]
    start_urls: Callable[[], Awaitable[Mapping[str, int]]]
    wanted: Callable[[], Mapping[str, float]]  # workers by tier; empty while that is unknown


class FleetCollector:
    """`refresh` collects, `text` returns the latest figures: from another thread, and only while this process leads.

    While Redis is away there are no figures: old ones would look like a fleet at a standstill.
    """

    def __init__(
        self,
        frontier: Frontier,
        settings: FleetConfig,
        others: FigureSources,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._frontier = frontier
        self._config = settings
        self._others = others
        self._clock = clock
        self._rising = MonotonicSums()
        self._untouched = Untouched()
        self._latest: tuple[FleetFigures, Callable[[], bool]] | None = None

    @property
    def every_seconds(self) -> float:
        """The interval of collections in seconds."""
        return self._config.every_seconds

    @property
    def latest(self) -> FleetFigures | None:
        """The latest figures, unless they are outdated or another process leads now."""
        if (latest := self._latest) is None:
            return None
        seen, leads = latest
        is_fresh = self._clock() - seen.at <= OLD_LOOKS * self._config.every_seconds
        return seen if is_fresh and leads() else None

    def text(self, accept: str = "") -> tuple[bytes, str]:
        """Body and content type of a scrape, for the client's *accept* header."""
        return render(self.latest, accept)

    async def refresh(self, leads: Callable[[], bool]) -> None:
        """Collect once; the figures are served while *leads*. Raises FrontierError, after which there are none."""
        try:
            self._latest = await self.look(), leads
        except FrontierError:
            self._latest = None
            raise

    async def look(self) -> FleetFigures:
        """The current figures; raises FrontierError if Redis does not provide them."""
        frontier, ask = self._frontier, self._frontier.inspection
        stats = await ask.stats()
        domains = await frontier.domains.top()
        spent = await Tiers(frontier.shards, keep_ms=0).spent(stats.now_ms)
        start_urls, paused = await self._others.start_urls(), (await frontier.control.said()).paused
        unpaused = {spider: count for spider, count in start_urls.items() if f"spider {spider}" not in paused}
        return FleetFigures(
            at=self._clock(),
            stats=stats,
            counts=self._rising.take(stats),
            queues=await eligible.by_queue(frontier.shards, self._config.budgets.spent(*spent)),
            domains=domains,
            paces=await eligible.hosts(frontier.shards, list(domains), stats.now_ms),
            workers=await frontier.workers.alive(),
            expected_workers=self._config.workers,
            dead_letters=await frontier.dead.count(),
            waiting_for_room=await ask.put_off(),
            memory=await frontier.gauge.used(),
            spent=spent,
            budgets=self._config.budgets,
            shares=await self._shares(spent, stats.now_ms),
            start_urls=start_urls,
            start_urls_wait=self._untouched.take(unpaused, stats.now_ms / 1000),
            runs=await self._runs(),
            schedules=await self._others.schedules(),
            wanted=self._others.wanted(),
        )

    async def _shares(self, spent: Spent, now_ms: int) -> list[Share]:
        """The shares of all budgets, including those of tiers; most spent first."""
        day, limits = now_ms % DAY_MS / DAY_MS, self._config.budgets
        kinds = (("requests", spent.requests, limits.requests), ("cost", spent.cost, limits.cost))
        tiers = [
            Share(f"tier {tier}", what, used.get(tier, 0) / most, day)
            for what, used, allowed in kinds
            for tier, most in allowed.items()
            if most > 0
        ]
        return sorted([*tiers, *await self._frontier.budgets.shares(now_ms)], key=lambda one: -one.spent)

    async def _runs(self) -> list[RunFigures]:
        """The newest runs, and older ones that do not end; for the newest two of each name also the coverage of
        fields."""
        newest = await self._frontier.runs.find(limit=MOST_RUNS)
        known = {run.id for run in newest}
        older = [run for run in await self._frontier.runs.under_way() if run.id not in known][-MOST_RUNS:]
        figures: list[RunFigures] = []
        met: Counter[tuple[str, str]] = Counter()
        for run in [*newest, *older]:
            key, coverage = (run.spider, run.name), dict[str, float]()
            if met[key] < len(PLACES) and (coverage := await self._frontier.coverage.of(run)):
                met[key] += 1
            figures.append(_figures(run, coverage, PLACES[met[key] - 1] if coverage else ""))
        return figures


def _figures(run: Run, coverage: Mapping[str, float], place: str) -> RunFigures:
    counts = {name: getattr(run.counts, name) for name in RUN_STATES}
    times = run.opened_ms / 1000, run.ended_ms / 1000
    return RunFigures(run.id, run.spider, run.name, *times, counts, run.quiet_ms / 1000, coverage, place)


class Untouched:
    """For how long keys of start URLs have not become shorter: nothing in Redis says when one was pushed."""

    def __init__(self) -> None:
        self._seen: dict[str, tuple[int, float]] = {}  # by spider: how many, and since when

    def take(self, waiting: Mapping[str, int], now: float) -> dict[str, float]:
        """Seconds by spider, *now* that so many are *waiting*; those without any are left out."""
        before, self._seen = self._seen, {}
        for spider, count in waiting.items():
            least, since = before.get(spider, (count, now))
            if count:
                self._seen[spider] = (count, since if count >= least else now)
        return {spider: now - since for spider, (_, since) in self._seen.items()}


class MonotonicSums:
    """Sums over crawl generations that do not decrease when one expires."""

    def __init__(self) -> None:
        self._before: dict[tuple[str, str, str], int] = {}
        self._sums: Counter[tuple[str, str]] = Counter()

    def take(self, stats: FrontierStats) -> dict[tuple[str, str], float]:
        """Spider and one of COUNTED -> its sum, including changes since the last call."""
        now = {
            (spider, generation, what): int(getattr(counters, what))
            for (spider, generation), counters in stats.generations.items()
            for what in COUNTED
        }
        for key, count in now.items():
            spider, _, what = key
            self._sums[spider, what] += max(0, count - self._before.get(key, 0))
        self._before = now
        return {key: float(count) for key, count in self._sums.items()}
