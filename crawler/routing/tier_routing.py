"""Which tier a request goes to, as this process knows it: decided from memory, on every push and every lease."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import islice
from time import time

from scrapy import Request

from crawler.meta import MIN_TIER, PLAYWRIGHT
from crawler.policy.tiers import TIERS, Learned, Tier, choose, dearest, rank, step_up
from crawler.routing.host_rules import HostRule


class TierRouting:
    """What is known of hosts, of the tiers that are served, and of those whose budget is spent today.

    `TierKeeper` fills it; until then everything is http, or what rules and requests ask for. *own*: the tiers that
    this worker serves itself, none for a command.
    """

    def __init__(self, own: Iterable[Tier] = ()) -> None:
        self.own = tuple(own)
        self.hosts: dict[str, Learned] = {}
        self.served: frozenset[Tier] = frozenset(own)
        self.spent: frozenset[Tier] = frozenset()
        self.now_ms: Callable[[], int] = _now_ms

    def keep(self, changed: Mapping[str, Learned], most: int) -> None:
        """Note what changed; beyond *most* hosts those unchanged for longest are forgotten, as Redis forgets them."""
        for host in changed:
            self.hosts.pop(host, None)
        self.hosts |= changed
        for host in list(islice(self.hosts, max(0, len(self.hosts) - most))):
            del self.hosts[host]

    def tier(self, request: Request, rule: HostRule) -> Tier:
        """Where *request* is to be queued."""
        asked = min_tier(request)
        if rule.tier != TIERS[0]:
            asked = dearest(rule.tier, asked)
        return choose(self.in_force(rule), asked, rule.max_tier, self.served)

    def elsewhere(self, request: Request, rule: HostRule, at: Tier) -> Tier | None:
        """The tier to which *request*, leased from the queue of tier *at*, is to be moved; None where it is right.

        It is moved down only by what is known here: another worker may have learned more of the host.
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
        """The tier in which a page that failed at *at* is tried next; or None, and why there is none."""
        return step_up(at, rule.max_tier, self.served, self.spent)


def min_tier(request: Request) -> Tier:
    """The least tier that *request* itself asks for; what is no tier counts as http."""
    meta = request.meta
    asked = meta.get(MIN_TIER) or ("browser" if meta.get(PLAYWRIGHT) else None)
    return asked if asked in TIERS else TIERS[0]


def _now_ms() -> int:
    return round(time() * 1000)
