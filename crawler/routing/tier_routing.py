"""Which tier a request goes to, decided from this process' memory on every push and lease."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import islice
from time import time

from scrapy import Request

from crawler.meta import MIN_TIER, PLAYWRIGHT, SITEMAP
from crawler.policy.tiers import TIERS, LearnedTier, Tier, choose, dearest, rank, step_up
from crawler.routing.host_rules import HostRule


class TierRouting:
    """What is known of hosts, served tiers, and tiers whose budget is spent today.

    `TierTracker` fills it; until then everything is http, or what rules and requests ask for. *own*: the tiers that
    this worker serves, none for a command.
    """

    def __init__(self, own: Iterable[Tier] = ()) -> None:
        self.own = tuple(own)
        self.hosts: dict[str, LearnedTier] = {}
        self.served: frozenset[Tier] = frozenset(own)
        self.spent: frozenset[Tier] = frozenset()
        self.now_ms: Callable[[], int] = _now_ms

    def keep(self, changed: Mapping[str, LearnedTier], most: int) -> None:
        """Note changes; beyond *most* hosts those unchanged for longest are forgotten, as in Redis."""
        for host in changed:
            self.hosts.pop(host, None)
        self.hosts |= changed
        for host in list(islice(self.hosts, max(0, len(self.hosts) - most))):
            del self.hosts[host]

    def tier(self, request: Request, rule: HostRule) -> Tier:
        """The tier to queue *request* in."""
        if SITEMAP in request.meta:
            return TIERS[0]  # a browser would show it, not give it
        asked = min_tier(request)
        if rule.tier != TIERS[0]:
            asked = dearest(rule.tier, asked)
        return choose(self.in_force(rule), asked, rule.max_tier, self.served)

    def elsewhere(self, request: Request, rule: HostRule, at: Tier) -> Tier | None:
        """The tier that *request*, leased from the queue of tier *at*, has to move to; None if it is right there.

        It is moved down only by what is known here: another worker may have learned more about the host.
        """
        wanted = self.tier(request, rule)
        if wanted == at or (rank(wanted) < rank(at) <= rank(rule.max_tier) and rule.group not in self.hosts):
            return None
        return wanted

    def in_force(self, rule: HostRule) -> Tier:
        """The learned tier of a host."""
        known = self.hosts.get(rule.group)
        return rule.tier if known is None else known.in_force(rule.tier, self.now_ms())

    def above(self, at: Tier, rule: HostRule) -> tuple[Tier | None, str]:
        """The next tier for a page that failed at *at*; or None, and why there is none."""
        return step_up(at, rule.max_tier, self.served, self.spent)


def min_tier(request: Request) -> Tier:
    """The least tier that *request* itself asks for; an unknown one counts as http."""
    meta = request.meta
    asked = meta.get(MIN_TIER) or ("browser" if meta.get(PLAYWRIGHT) else None)
    return asked if asked in TIERS else TIERS[0]


def _now_ms() -> int:
    return round(time() * 1000)
