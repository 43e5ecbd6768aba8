"""How a page has to be fetched: `http`, then `browser`, then `api`; learned per host, with decay back down.

Pure: what a failure or a good page says about a host, where a request goes, and whether it may step up.
Times are ms of the frontier's clock.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, Self, get_args

from crawler import config
from crawler.errors import ConfigError

Tier = Literal["http", "browser", "api"]
TIERS: Final[tuple[Tier, ...]] = get_args(Tier)  # cheapest first
REMEMBERED_PAGES: Final = 1_000  # beyond this a host's counts are halved, so that old pages weigh less

_RANK: Final = {tier: rank for rank, tier in enumerate(TIERS)}


def rank(tier: Tier) -> int:
    """0 for the cheapest."""
    return _RANK[tier]


def listed(settings: Mapping[str, Any], name: str) -> tuple[Tier, ...]:
    """The setting, `"http,browser"` or a list, as tiers, cheapest first; raises ConfigError."""
    value = settings.get(name) or ()
    words = value.split(",") if isinstance(value, str) else value
    words = (
        [word.strip() if isinstance(word, str) else word for word in words] if isinstance(words, Iterable) else [None]
    )
    if not all(word in TIERS for word in words):
        raise ConfigError(name, value, "one or more of " + ", ".join(TIERS) + ", separated by commas")
    return tuple(tier for tier in TIERS if tier in words)


def daily_limits(settings: config.Dicts, name: str) -> dict[Tier, float]:
    """The setting *name*, TIER_DAILY_REQUESTS or TIER_DAILY_COST; raises ConfigError."""
    allowed = "a dict that maps browser or api to a number from 0 to 1e15"
    limits = config.mapping(settings, name)
    if set(limits) - set(TIERS[1:]):
        raise ConfigError(name, limits, allowed)
    try:
        return {tier: config.number(limits, tier, 0, 1e15) for tier in TIERS if tier in limits}
    except ConfigError:
        raise ConfigError(name, limits, allowed) from None


@dataclass(frozen=True, slots=True)
class TierPolicy:
    """When a host's tier changes."""

    failures: int  # pages that have to fail at a host's tier before it steps up
    share: float  # and the share of its pages there that they have to be
    trial_pages: int  # good pages one tier below, after the term, that bring the host down
    term_ms: int
    term_max_ms: int

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> Self:
        """Raises ConfigError for a value out of range."""
        made = cls(
            failures=config.integer(settings, "TIER_FAILURES"),
            share=config.number(settings, "TIER_FAILURE_SHARE"),
            trial_pages=config.integer(settings, "TIER_TRIAL_PAGES"),
            term_ms=round(config.number(settings, "TIER_TERM_SECONDS") * 1000),
            term_max_ms=round(config.number(settings, "TIER_TERM_MAX_SECONDS") * 1000),
        )
        if made.term_ms > made.term_max_ms:
            raise ConfigError("TIER_TERM_SECONDS", made.term_ms / 1000, "at most TIER_TERM_MAX_SECONDS")
        return made


@dataclass(frozen=True, slots=True)
class LearnedTier:
    """What the fleet knows of one host: *tier* until *until_ms*; after that the tier below is on trial."""

    tier: Tier = "http"
    failed: int = 0  # pages that failed at the tier
    ok: int = 0  # good pages there
    trial: int = 0  # good pages of the trial
    until_ms: int = 0
    term_ms: int = 0

    def on_trial(self, base: Tier, now_ms: int) -> bool:
        """Whether the term is over and the tier below is tried; never below *base*, the rules' own tier."""
        return rank(self.tier) > rank(base) and now_ms >= self.until_ms

    def in_force(self, base: Tier, now_ms: int) -> Tier:
        """The tier that fetches the host's pages."""
        if self.on_trial(base, now_ms):
            return TIERS[rank(self.tier) - 1]
        return dearest(self.tier, base)


UNKNOWN: Final = LearnedTier()


def dearest(*tiers: Tier) -> Tier:
    """The highest of *tiers*."""
    return max(tiers, key=rank)


def after_failure(known: LearnedTier, at: Tier, base: Tier, most: Tier, now_ms: int, policy: TierPolicy) -> LearnedTier:
    """*known* after a page failed (blocked or without content) at tier *at*.

    A failure at another tier than the one in force is ignored: that request was sent before the host's tier changed. A
    trial ends with its first failure, and the next one comes after twice the time. Nothing is learned beyond *most*.
    """
    if at != known.in_force(base, now_ms):
        return known
    if known.on_trial(base, now_ms):
        term_ms = min(max(2 * known.term_ms, policy.term_ms), policy.term_max_ms)
        return LearnedTier(known.tier, until_ms=now_ms + term_ms, term_ms=term_ms)
    counted = _counted(known if known.tier == at else LearnedTier(at), failed=1)
    enough = counted.failed >= max(policy.failures, policy.share * (counted.failed + counted.ok))
    if not enough or rank(at) >= rank(most) or at == TIERS[-1]:
        return counted
    return LearnedTier(TIERS[rank(at) + 1], until_ms=now_ms + policy.term_ms, term_ms=policy.term_ms)


def after_success(known: LearnedTier, at: Tier, pages: int, base: Tier, now_ms: int, policy: TierPolicy) -> LearnedTier:
    """*known* after *pages* good pages at tier *at*: enough of them on trial bring the host down."""
    if at != known.in_force(base, now_ms):
        return known
    if not known.on_trial(base, now_ms):
        return _counted(known if known.tier == at else LearnedTier(at), ok=pages)
    if known.trial + pages < policy.trial_pages:
        return replace(known, trial=known.trial + pages)
    return LearnedTier(at, ok=pages, until_ms=now_ms + policy.term_ms, term_ms=policy.term_ms)


def _counted(known: LearnedTier, failed: int = 0, ok: int = 0) -> LearnedTier:
    failed, ok = known.failed + failed, known.ok + ok
    while failed + ok > REMEMBERED_PAGES:
        failed, ok = (failed + 1) // 2, ok // 2
    return replace(known, failed=failed, ok=ok)


def choose(learned: Tier, asked: Tier, most: Tier, served: Collection[Tier]) -> Tier:
    """The tier of a request: what was *learned* for its host, never below what rules or request ask for.

    A tier that was asked for waits for a worker if need be. One that was only learned does not: the request goes to the
    nearest served tier, below or else above. *most* always limits it.
    """
    if asked == learned == TIERS[0] and (TIERS[0] in served or not served):
        return TIERS[0]  # the usual case, without building lists
    if rank(asked) >= rank(learned) and (asked != TIERS[0] or not served):
        return min(asked, most, key=rank)
    allowed = [tier for tier in TIERS if rank(asked) <= rank(tier) <= rank(most) and tier in served]
    below = [tier for tier in allowed if rank(tier) <= rank(learned)]
    if below or allowed:
        return below[-1] if below else allowed[0]
    return min(asked, most, key=rank)


def step_up(at: Tier, most: Tier, served: Collection[Tier], spent: Collection[Tier]) -> tuple[Tier | None, str]:
    """The next tier for a page that failed at *at*; or None, and why it may not step up."""
    why = ""
    for tier in TIERS[rank(at) + 1 :]:
        if rank(tier) > rank(most):
            return None, why or f"max_tier is {most}"
        if tier in served and tier not in spent:
            return tier, ""
        why = why or (f"the daily budget of {tier} is spent" if tier in served else f"no worker serves {tier}")
    return None, why or f"{at} is the highest tier"


@dataclass(frozen=True, slots=True)
class TierBudgets:
    """Most requests and cost of each tier per day (UTC); a tier without an entry is not limited.

    Cost is in the unit that a tier's fetcher reports, such as a scraping API's credits.
    """

    requests: Mapping[Tier, float]
    cost: Mapping[Tier, float]

    def spent(self, requests: Mapping[Tier, float], cost: Mapping[Tier, float]) -> frozenset[Tier]:
        """The tiers whose budget is spent today."""
        over = {tier for tier, limit in self.requests.items() if requests.get(tier, 0) >= limit}
        return frozenset(over | {tier for tier, limit in self.cost.items() if cost.get(tier, 0) >= limit})
