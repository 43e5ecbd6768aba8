"""One worker's part in learning tiers: sends what it sees and reads what the fleet knows."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic
from typing import Self

from scrapy import Request
from scrapy.settings import BaseSettings
from scrapy.statscollectors import StatsCollector

from crawler import stats as names
from crawler.frontier.server.outage import RedisOutage
from crawler.frontier.server.shards import Shards
from crawler.frontier.state.tiers import MOST_HOSTS, Tiers
from crawler.meta import REQUEST_ID, TIER_FAILED
from crawler.policy.tiers import (
    UNKNOWN,
    LearnedTier,
    Tier,
    TierBudgets,
    TierPolicy,
    after_failure,
    after_success,
    daily_limits,
    listed,
    rank,
)
from crawler.routing.host_rules import HostRule, HostRules
from crawler.routing.tier_routing import TierRouting
from crawler.utils.durations import in_words

MOST_GOOD = 10_000  # hosts without learned state whose good pages are counted here

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class TierConfig:
    """The settings of tiers."""

    policy: TierPolicy
    budgets: TierBudgets
    served: tuple[Tier, ...]  # tiers counted as served even without a worker

    @classmethod
    def from_settings(cls, settings: BaseSettings) -> Self:
        """Raises ConfigError when a value is out of range."""
        return cls(
            policy=TierPolicy.from_settings(settings),
            budgets=TierBudgets(
                daily_limits(settings, "TIER_DAILY_REQUESTS"), daily_limits(settings, "TIER_DAILY_COST")
            ),
            served=listed(settings, "TIERS_SERVED"),
        )


class TierTracker:
    """Fills the tier routing from Redis every few seconds, and reports what this worker saw."""

    def __init__(
        self,
        shards: Shards,
        tier_routing: TierRouting,
        rules: HostRules,
        settings: TierConfig,
        stats: StatsCollector,
        spider: str,
        outage: RedisOutage,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._shards = shards
        self.tiers = Tiers(shards, keep_ms=2 * settings.policy.term_max_ms)
        self.tier_routing = tier_routing
        self._rules = rules
        self._config = settings
        self._stats = stats
        self._spider = spider
        self._outage = outage
        self._clock = clock
        self._told_at = clock()
        self._good: Counter[tuple[str, Tier, Tier]] = Counter()  # host, tier, and the rules' own tier
        self._before: Counter[tuple[str, Tier, Tier]] = Counter()  # of hosts without learned state
        self._requests: Counter[Tier] = Counter()
        self._cost: dict[Tier, float] = {}
        self._forget = False
        tier_routing.now_ms = self.now_ms

    def now_ms(self) -> int:
        """The frontier's time, as of the last refresh."""
        return self.tiers.now_ms + round((self._clock() - self._told_at) * 1000)

    def forget(self) -> None:
        """Redis may have lost state: discard what was read, and ask for all hosts at the next refresh."""
        self.tier_routing.hosts.clear()
        self._forget = True  # a refresh in progress would keep what it read before

    async def refresh(self) -> None:
        """Send and read state. Errors of Redis pass through, and no spending is lost."""
        if self._forget:
            self._forget = False
            self.tier_routing.hosts.clear()
            self.tiers.forget()
        await self._tell_good()
        requests, cost = self._requests.copy(), dict(self._cost)
        spent = await self.tiers.spend(requests, cost)
        self._requests -= requests
        self._cost = {tier: total - cost.get(tier, 0.0) for tier, total in self._cost.items()}
        changed = await self.tiers.changes()
        self._told_at = self._clock()
        self.tier_routing.keep(changed, MOST_HOSTS)
        served = await self.tiers.served(self._spider)
        self.tier_routing.served = served | {*self.tier_routing.own, *self._config.served}
        self._over_budget(self._config.budgets.spent(spent.requests, spent.cost))

    async def failed(self, request: Request, at: Tier) -> tuple[Tier | None, str]:
        """Learn from a page that failed at tier *at*, once however often it is tried there; returns the next tier, or
        None and why there is none.

        A host's learned tier is worth waiting for until there is budget again; a single page is not.
        """
        rule = self._rules.of(request)
        if REQUEST_ID not in request.meta or request.meta.get(TIER_FAILED) != at:
            request.meta[TIER_FAILED] = at
            self.tier_routing.hosts[rule.group] = await self._learn(rule, at)
        needed = self.tier_routing.tier(request, rule)
        return (needed, "") if rank(needed) > rank(at) else self.tier_routing.above(at, rule)

    def good(self, host: str, request: Request, at: Tier) -> None:
        """A page of *host* was good at tier *at*; reported if the host has learned state, or with its first failing
        page."""
        place = host, at, self._rules.of(request).tier
        if host in self.tier_routing.hosts:
            self._good[place] += 1
            return
        if place not in self._before and len(self._before) >= MOST_GOOD:
            del self._before[next(iter(self._before))]
        self._before[place] += 1

    def spend(self, tier: Tier, requests: int = 1, cost: float = 0.0) -> None:
        """Count the cost of a fetch in *tier*; *cost* in units of TIER_DAILY_COST."""
        self._requests[tier] += requests
        self._cost[tier] = self._cost.get(tier, 0.0) + cost
        self._stats.inc_value(names.TIER_REQUESTS.format(tier), requests)

    async def _learn(self, rule: HostRule, at: Tier) -> LearnedTier:
        before, place = UNKNOWN, (rule.group, at, rule.tier)
        good = self._good.pop(place, 0) + self._before.pop(place, 0)

        def lesson(known: LearnedTier) -> LearnedTier:
            nonlocal before
            before = known
            praised = self._praise(at, rule.tier, good)(known) if good else known
            return after_failure(praised, at, rule.tier, rule.max_tier, self.now_ms(), self._config.policy)

        after = await self._outage.insist(lambda: self.tiers.learn(rule.group, lesson))
        if after.until_ms != before.until_ms:
            self._say(rule.group, at, after)
        return after

    def _say(self, host: str, at: Tier, after: LearnedTier) -> None:
        term = in_words(after.term_ms / 1000)
        served = "" if after.tier in self.tier_routing.served else ", once a worker serves it"
        words = "%s is fetched by tier %s for %s%s: in tier %s its pages are blocked or empty"
        logger.warning(words, host, after.tier, term, served, at)

    async def _tell_good(self) -> None:
        for (host, at, base), pages in list(self._good.items()):
            if not self._shards.serves(host):
                continue
            self.tier_routing.hosts[host] = await self.tiers.learn(host, self._praise(at, base, pages))
            del self._good[host, at, base]

    def _praise(self, at: Tier, base: Tier, pages: int) -> Callable[[LearnedTier], LearnedTier]:
        return lambda before: after_success(before, at, pages, base, self.now_ms(), self._config.policy)

    def _over_budget(self, spent: frozenset[Tier]) -> None:
        for tier in sorted(spent - self.tier_routing.spent):
            logger.warning("The daily budget of tier %s is spent: its queue waits until midnight UTC", tier)
        for tier in sorted(self.tier_routing.spent - spent):
            logger.warning("A new day: tier %s has budget again", tier)
        self.tier_routing.spent = spent
