"""The scaling signal: how many workers there is work for, of the fleet and of each pool of workers."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, Self

from scrapy.settings import BaseSettings

from crawler import config
from crawler.frontier.inspection.eligible import Queue
from crawler.policy.scaling import Demand, Hold, workers_wanted

Filter = tuple[str | None, str | None]  # spider and tier, None for all
OLD_LOOKS: Final = 3  # an answer older than so many intervals is none


@dataclass(frozen=True, slots=True)
class ScalingConfig:
    """How much work justifies a worker, and for how long a peak counts."""

    every_seconds: float
    per_worker: float
    hold_seconds: float

    @classmethod
    def from_settings(cls, settings: BaseSettings) -> Self:
        """Raises ConfigError for a value out of range."""
        return cls(
            every_seconds=config.number(settings, "METRICS_QUEUE_SECONDS"),
            per_worker=config.number(settings, "SCALING_REQUESTS_PER_WORKER"),
            hold_seconds=config.number(settings, "SCALING_HOLD_SECONDS"),
        )


class Scaling:
    """The latest answers of /scaling; read from other threads."""

    def __init__(self, settings: ScalingConfig, clock: Callable[[], float] = time.monotonic) -> None:
        self._config = settings
        self._clock = clock
        self._holds: dict[Filter, Hold] = {}
        self._newest: tuple[float, dict[Filter, dict[str, float]]] | None = None

    def take(self, demands: Mapping[Queue, Demand] | None) -> None:
        """Take the demand of each queue; None: unknown."""
        if demands is None:
            self._newest = None
            return
        sums: dict[Filter, Demand] = {(None, None): Demand()}
        for (spider, tier), one in demands.items():
            keys: tuple[Filter, ...] = ((None, None), (spider, None), (None, tier), (spider, tier))
            for key in keys:
                sums[key] = sums.get(key, Demand()) + one
        now = self._clock()
        for key in self._holds.keys() - sums.keys():
            sums[key] = Demand()
        self._newest = now, {key: self._answer(key, demand, now) for key, demand in sums.items()}

    def answer(self, spider: str | None = None, tier: str | None = None) -> dict[str, float] | None:
        """The answer; None while it is unknown or too old."""
        newest = self._newest
        too_old = OLD_LOOKS * self._config.every_seconds + 1
        if newest is None or self._clock() - newest[0] > too_old:
            return None
        return newest[1].get((spider, tier)) or _told(Demand(), 0, 0)

    def _answer(self, key: Filter, demand: Demand, now: float) -> dict[str, float]:
        wanted = workers_wanted(demand, self._config.per_worker)
        hold = self._holds.setdefault(key, Hold(self._config.hold_seconds))
        return _told(demand, hold.held(wanted, now), wanted)


def _told(demand: Demand, workers: int, wanted: int) -> dict[str, float]:
    return {
        "workers": workers,
        "wanted_now": wanted,
        "eligible_requests": round(demand.requests),
        "eligible_slots": round(demand.slots),
        "leased": demand.leased,
        "soon": demand.soon,
    }
