"""The frontier's settings, and the constants that its scripts are built with."""

from __future__ import annotations

import logging
import math
from dataclasses import dataclass
from typing import Final, Self

from scrapy.settings import BaseSettings

from crawler import config
from crawler.errors import ConfigError
from crawler.frontier import script_constants
from crawler.frontier.script_constants import BLOOM_PAGE_BITS, MOST_BUCKETS

DEDUPE_MODES: Final = ("compact", "exact", "window", "bloom")

REMOVED: Final = ("FRONTIER_BACKOFF_SECONDS", "FRONTIER_FORGIVE_AFTER", "FRONTIER_FORGIVE_SECONDS")

_COMMON: Final = {name: value for name, value in vars(script_constants).items() if name.isupper()}

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class FrontierConfig:
    """Read once per process. Workers of a fleet should have the same; Redis holds no settings."""

    key: str = "shoal"
    shards: int = 1
    lease_ms: int = 120_000
    start_within_ms: int = 20_000
    hard_cap_ms: int = 900_000
    max_deliveries: int = 5
    priority_step_ms: int = 60_000
    queue_limit: int = 50_000_000
    queue_high_water: int = 40_000_000
    memory_limit: float = 0.9
    memory_high_water: float = 0.8
    retention_ms: int = 7 * 86_400_000
    dead_limit: int = 100_000
    gone_limit: int = 10_000
    runs_kept: int = 1_000
    run_idle_ms: int = 60_000
    dedupe: str = "compact"
    window_s: int = 86_400
    bloom_capacity: int = 10_000_000
    bloom_error: float = 1e-5
    throttle: bool = False
    throttle_start_ms: int = 1_000
    throttle_max_ms: int = 60_000
    throttle_target: float = 1.0
    breaker_faults: int = 5
    breaker_ms: int = 30_000
    breaker_max_ms: int = 1_800_000
    quiet_ms: int = 3_600_000
    robots_ms: int = 86_400_000
    give_up_ms: int = 86_400_000  # pages of a host that was down for this long are given up

    @classmethod
    def from_settings(cls, settings: BaseSettings) -> Self:
        """Raises ConfigError for values out of range or in contradiction."""
        made = cls(
            key=_key(settings),
            shards=config.integer(settings, "FRONTIER_SHARDS"),
            lease_ms=_ms(settings, "FRONTIER_LEASE_SECONDS"),
            start_within_ms=_ms(settings, "FRONTIER_START_WITHIN_SECONDS"),
            hard_cap_ms=_ms(settings, "FRONTIER_HARD_CAP_SECONDS"),
            max_deliveries=config.integer(settings, "FRONTIER_MAX_DELIVERIES"),
            priority_step_ms=_ms(settings, "FRONTIER_PRIORITY_STEP_SECONDS"),
            queue_limit=config.integer(settings, "FRONTIER_QUEUE_LIMIT"),
            queue_high_water=config.integer(settings, "FRONTIER_QUEUE_HIGH_WATER"),
            memory_limit=config.number(settings, "FRONTIER_MEMORY_LIMIT"),
            memory_high_water=config.number(settings, "FRONTIER_MEMORY_HIGH_WATER"),
            retention_ms=_ms(settings, "FRONTIER_RETENTION_SECONDS"),
            gone_limit=config.integer(settings, "FRONTIER_GONE_LIMIT"),
            runs_kept=config.integer(settings, "RUNS_KEPT"),
            run_idle_ms=_ms(settings, "RUN_IDLE_SECONDS"),
            dead_limit=config.integer(settings, "FRONTIER_DEAD_LIMIT"),
            dedupe=config.choice(settings, "FRONTIER_DEDUPE", DEDUPE_MODES),
            window_s=config.integer(settings, "FRONTIER_WINDOW_SECONDS"),
            bloom_capacity=config.integer(settings, "FRONTIER_BLOOM_CAPACITY"),
            bloom_error=config.number(settings, "FRONTIER_BLOOM_ERROR_RATE"),
            throttle=config.boolean(settings, "AUTOTHROTTLE_ENABLED"),
            throttle_start_ms=_ms(settings, "AUTOTHROTTLE_START_DELAY"),
            throttle_max_ms=_ms(settings, "AUTOTHROTTLE_MAX_DELAY"),
            throttle_target=config.number(settings, "AUTOTHROTTLE_TARGET_CONCURRENCY"),
            breaker_faults=config.integer(settings, "FRONTIER_BREAKER_FAULTS"),
            breaker_ms=_ms(settings, "FRONTIER_BREAKER_SECONDS"),
            breaker_max_ms=_ms(settings, "FRONTIER_BREAKER_MAX_SECONDS"),
            quiet_ms=_ms(settings, "FRONTIER_HOST_MEMORY_SECONDS"),
            robots_ms=_ms(settings, "ROBOTSTXT_TTL_SECONDS"),
            give_up_ms=_ms(settings, "ROBOTSTXT_UNREACHABLE_SECONDS"),
        )
        made._check()
        for name in sorted(name for name in REMOVED if settings.get(name) is not None):
            logger.warning(
                "%s is set but no longer used: the pace that a host allows is measured, not configured", name
            )
        return made

    def _check(self) -> None:
        if self.start_within_ms > self.lease_ms:
            raise ConfigError(
                "FRONTIER_START_WITHIN_SECONDS", self.start_within_ms / 1000, "at most FRONTIER_LEASE_SECONDS"
            )
        if self.queue_high_water > self.queue_limit:
            raise ConfigError("FRONTIER_QUEUE_HIGH_WATER", self.queue_high_water, "at most FRONTIER_QUEUE_LIMIT")
        if self.breaker_ms > self.breaker_max_ms:
            raise ConfigError(
                "FRONTIER_BREAKER_SECONDS", self.breaker_ms / 1000, "at most FRONTIER_BREAKER_MAX_SECONDS"
            )
        if self.memory_high_water > self.memory_limit:
            raise ConfigError("FRONTIER_MEMORY_HIGH_WATER", self.memory_high_water, "at most FRONTIER_MEMORY_LIMIT")
        if self.dedupe == "bloom" and self._bloom_pages > MOST_BUCKETS:
            most = int(MOST_BUCKETS * BLOOM_PAGE_BITS / self._bloom_bits) * self.shards
            allowed = f"at most {most:,} with this FRONTIER_BLOOM_ERROR_RATE and these FRONTIER_SHARDS"
            raise ConfigError("FRONTIER_BLOOM_CAPACITY", self.bloom_capacity, allowed)

    @property
    def _bloom_bits(self) -> float:
        """Bits per URL for the wanted false positive rate: the textbook optimum."""
        return -math.log(self.bloom_error) / math.log(2) ** 2

    @property
    def _bloom_pages(self) -> int:
        """Pages of a generation's filter on each shard."""
        return max(1, math.ceil(self.bloom_capacity / self.shards * self._bloom_bits / BLOOM_PAGE_BITS))

    @property
    def renew_seconds(self) -> float:
        """How often leases are renewed: at a quarter of their time, so that three calls in a row may fail."""
        return self.lease_ms / 4000

    def constants(self) -> dict[str, float | str]:
        """The scripts' constants: inlined in their text, so that they cost nothing at run time."""
        return _COMMON | {
            "SHARDS": self.shards,
            "DEDUPE": self.dedupe,
            "WINDOWS": int(self.dedupe == "window"),  # 1 also where a generation was opened so: see layout
            "WINDOW_S": self.window_s,
            "BLOOM_PAGES": self._bloom_pages,
            "BLOOM_HASHES": round(self._bloom_bits * math.log(2)),
            "LEASE_MS": self.lease_ms,
            "START_MS": self.start_within_ms,
            "HARD_CAP_MS": self.hard_cap_ms,
            "MAX_DELIVERIES": self.max_deliveries,
            "STEP_MS": self.priority_step_ms,
            "QUEUE_LIMIT": max(1, self.queue_limit // self.shards),
            "RETENTION_MS": self.retention_ms,
            "DEAD_LIMIT": max(1, self.dead_limit // self.shards),
            "GONE_LIMIT": max(1, self.gone_limit // self.shards),
            "THROTTLE": int(self.throttle),
            "THROTTLE_START_MS": self.throttle_start_ms,
            "THROTTLE_MAX_MS": self.throttle_max_ms,
            "THROTTLE_TARGET": self.throttle_target,
            "BREAKER_FAULTS": self.breaker_faults,
            "BREAKER_MS": self.breaker_ms,
            "BREAKER_MAX_MS": self.breaker_max_ms,
            "QUIET_MS": self.quiet_ms,
            "ROBOTS_MS": self.robots_ms,
            "GIVE_UP_MS": self.give_up_ms,
        }


def _key(settings: BaseSettings) -> str:
    key = settings.get("FRONTIER_KEY")
    if not isinstance(key, str) or not key or set("{}") & set(key):
        raise ConfigError("FRONTIER_KEY", key, "a name without braces")
    return key


def _ms(settings: BaseSettings, name: str) -> int:
    return round(config.number(settings, name) * 1000)
