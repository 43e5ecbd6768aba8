"""What happens to a request that a downloader middleware returned in place of a leased one: a retry, a redirect,
another tier.

`decide` picks one of eight routes, `FollowUps.enqueue` takes it. Nothing else decides about follow-ups.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from scrapy import Request

from crawler import stats as names
from crawler import urls
from crawler.errors import MessageError
from crawler.meta import MIN_TIER, RETRY_WAIT_MS
from crawler.policy.endings.failures import FailureClass
from crawler.policy.endings.outcome import Evidence
from crawler.policy.tiers import TIERS, Tier
from crawler.routing.host_rules import HostRules
from crawler.urls import canonicalize
from crawler.worker.leases.held import HeldLease
from crawler.worker.leases.lease_book import LeaseBook
from crawler.worker.leases.requeue import Requeue
from crawler.worker.outbox.outbox import Outbox

MOST_UNSENT: Final = 100  # hops in a row: a middleware may sign a request, and a cache hold twenty redirects
ENDLESS: Final = (
    "replaced {} times in a row and never sent: the process_request of a downloader middleware returns a request each "
    "time; None is what lets it pass"
)


class FollowUpRoute(StrEnum):
    """Where a follow-up goes. With all but the last two, the lease moves on with it or ends at once."""

    LOST = "lost"  # not sent, and the lease expired: another worker has it
    POSTPONE = "postpone"  # not sent, or only in part: queued again unchanged, after its host's wait
    GIVE_BACK = "give back"  # not sent in time: returned, uncharged
    MOVE = "move"  # to the queue of another tier
    RETRY = "retry"  # queued again after a delay
    HOP = "hop"  # within the politeness group: continues here under its lease
    REFUSE = "refuse"  # not fetchable, or never fetched: its page fails as malformed
    CHILD = "child"  # to another politeness group: queued as a child, and its page is done


@dataclass(frozen=True, slots=True)
class Decision:
    """A route and its parameters."""

    route: FollowUpRoute
    tier: Tier | None = None  # for MOVE
    problem: str = ""  # for REFUSE: why


def decide(request: Request, held: HeldLease, source: Request, group_of: Callable[[Request], str]) -> Decision:
    """The route of *request*, which a middleware returned for *source*, leased as *held*; the first that applies."""
    if request is source:
        return Decision(_unsent(held))
    tier = request.meta.get("tier")
    if tier != source.meta.get("tier") and tier in TIERS:
        return Decision(FollowUpRoute.MOVE, tier=tier)
    if request.meta.get("retry_times", 0) > source.meta.get("retry_times", 0):
        return Decision(FollowUpRoute.RETRY)
    if problem := _problem(request, held):
        return Decision(FollowUpRoute.REFUSE, problem=problem)
    return Decision(FollowUpRoute.HOP if group_of(request) == held.lease.host else FollowUpRoute.CHILD)


def _problem(request: Request, held: HeldLease) -> str:
    """Why *request* is not to be sent; empty if it is."""
    try:
        urls.check(request.url)
    except MessageError as error:
        return f"replaced by a request that cannot be fetched: {error}"
    return ENDLESS.format(held.unsent_hops) if held.unsent_hops >= MOST_UNSENT else ""


def _unsent(held: HeldLease) -> FollowUpRoute:
    if held.lost:
        return FollowUpRoute.LOST
    return FollowUpRoute.POSTPONE if held.slot.reported or held.postponed_ms else FollowUpRoute.GIVE_BACK


class FollowUps:
    """Sends follow-ups on their route. *push* queues a child; *ready* holds hops for the scheduler."""

    def __init__(
        self,
        book: LeaseBook,
        outbox: Outbox,
        requeue: Requeue,
        rules: HostRules,
        push: Callable[..., bool],
        count: Callable[[str], None],
    ) -> None:
        self._book = book
        self._outbox = outbox
        self._requeue = requeue
        self._rules = rules
        self._push = push
        self._count = count
        self.ready: deque[Request] = deque()

    def enqueue(self, request: Request, held: HeldLease, source: Request) -> bool:
        """Whether *request* continues in some way; raises what an invalid meta value raises."""
        decision = decide(request, held, source, lambda asked: self._rules.of(asked).group)
        if decision.route is FollowUpRoute.CHILD:
            return self._child(request, held)
        if decision.route is FollowUpRoute.REFUSE:
            held.evidence.failure, held.evidence.malformed = FailureClass.MALFORMED, decision.problem
            return False
        self._book.release(source)
        match decision.route:
            case FollowUpRoute.POSTPONE:
                self._requeue.again(request, held, held.postponed_for, held.postponed_ms)
            case FollowUpRoute.GIVE_BACK:
                self._outbox.give_back(held.handle)
            case FollowUpRoute.MOVE if decision.tier is not None:
                self._requeue.move(request, held, decision.tier)
            case FollowUpRoute.RETRY:
                self._retry(request, held)
            case FollowUpRoute.HOP:
                self._hop(request, held)
        return True

    def drain(self) -> None:
        """Give back hops that were not started, as the worker is closing."""
        while self.ready:
            hop = self.ready.popleft()
            if (held := self._book.release(hop)) is not None:
                self._requeue.again(hop, held, "drained", delay_ms=0)

    def _retry(self, request: Request, held: HeldLease) -> None:
        self._count(names.RETRIED)
        delay_ms = request.meta.pop(RETRY_WAIT_MS, None)
        if delay_ms is None:  # returned by another middleware
            delay_ms = self._requeue.retry_delay_ms(request.meta["retry_times"])
        self._requeue.again(request, held, "retry", delay_ms)

    def _hop(self, request: Request, held: HeldLease) -> None:
        held.evidence, held.downloads = Evidence(), 0
        held.unsent_hops += 1
        self._book.hold(request, held)
        self.ready.append(request)

    def _child(self, request: Request, held: HeldLease) -> bool:
        held.evidence.replaced = True
        request = self._requeue.storable(request, held)
        request.meta.pop(MIN_TIER, None)  # one host's tier says nothing about another's
        return self._push(request, held, dedupe=not (request.dont_filter or _closes_chain(request)))


def _closes_chain(request: Request) -> bool:
    """Whether a redirect leads back to where it came from."""
    try:
        return canonicalize(request.url) in map(canonicalize, request.meta.get("redirect_urls", ()))
    except ValueError:
        return False  # an invalid URL, which is not queued anyway
