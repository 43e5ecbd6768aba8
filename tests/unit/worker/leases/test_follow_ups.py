"""Each follow-up goes one way, and its lease either moves on with it, ends at once, or stays with its page."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy import Request

from crawler.policy.endings.failures import FailureClass
from crawler.worker.leases.follow_ups import MOST_UNSENT, Decision, FollowUpRoute, FollowUps, decide
from crawler.worker.leases.held import HeldLease
from crawler.worker.leases.lease_book import LeaseBook
from tests.unit.frontier.fakes import held as a_lease

HERE, THERE, NOWHERE = "http://a.example/2", "http://b.example/", "ftp://a.example/"


def group_of(request: Request) -> str:
    return request.url.split("/")[2]


def lease(**changes: Any) -> HeldLease:
    held = a_lease()
    for name, value in changes.items():
        setattr(held.slot if hasattr(held.slot, name) else held, name, value)
    return held


@pytest.mark.parametrize(
    ("changes", "route"),
    [
        ({}, FollowUpRoute.GIVE_BACK),
        ({"reported": True}, FollowUpRoute.POSTPONE),
        ({"postponed_ms": 5}, FollowUpRoute.POSTPONE),
        ({"lost": True}, FollowUpRoute.LOST),
        ({"lost": True, "reported": True, "postponed_ms": 5}, FollowUpRoute.LOST),
    ],
)
def test_a_request_that_was_not_sent(changes: dict[str, Any], route: FollowUpRoute) -> None:
    request = Request(HERE)
    assert decide(request, lease(**changes), request, group_of) == Decision(route)


@pytest.mark.parametrize(
    ("url", "meta", "route"),
    [
        (HERE, {}, FollowUpRoute.HOP),
        (THERE, {}, FollowUpRoute.CHILD),
        (HERE, {"retry_times": 1}, FollowUpRoute.RETRY),
        (HERE, {"tier": "browser", "retry_times": 1}, FollowUpRoute.MOVE),
        (HERE, {"tier": "no such tier"}, FollowUpRoute.HOP),
        (NOWHERE, {}, FollowUpRoute.REFUSE),
        (NOWHERE, {"retry_times": 1}, FollowUpRoute.RETRY),
    ],
)
def test_what_a_middleware_made_of_a_request(url: str, meta: dict[str, Any], route: FollowUpRoute) -> None:
    decision = decide(Request(url, meta=meta), lease(), Request(HERE), group_of)
    assert decision.route is route
    assert (decision.tier is not None) == (route is FollowUpRoute.MOVE)
    assert bool(decision.problem) == (route is FollowUpRoute.REFUSE)


class Worker:
    """Notes which endings its lease is given, and what is pushed."""

    def __init__(self) -> None:
        self.done: list[str] = []
        note: Any = self.done.append
        self.book = LeaseBook()
        outbox: Any = SimpleNamespace(give_back=lambda handle: note("give back"))
        requeue: Any = SimpleNamespace(
            again=lambda request, held, reason, delay_ms: note(reason),
            move=lambda request, held, tier: note(f"move to {tier}"),
            storable=lambda request, held: request,
            retry_delay_ms=lambda attempt: 1_000,
        )
        rules: Any = SimpleNamespace(of=lambda request: SimpleNamespace(group=group_of(request)))
        self.follow_ups = FollowUps(self.book, outbox, requeue, rules, lambda *_, **__: not note("push"), note)


@given(
    url=st.sampled_from([HERE, THERE, NOWHERE]),
    meta=st.fixed_dictionaries(
        {}, optional={"retry_times": st.integers(0, 3), "tier": st.sampled_from(["http", "browser", "x"])}
    ),
    same=st.booleans(),
    reported=st.booleans(),
    lost=st.booleans(),
)
def test_no_lease_is_left_without_an_owner(
    url: str, meta: dict[str, Any], same: bool, reported: bool, lost: bool
) -> None:
    worker, held = Worker(), lease(reported=reported, lost=lost)
    source = Request(HERE)
    follow_up = source if same else Request(url, meta=meta)
    route = decide(follow_up, held, source, group_of).route
    worker.book.hold(source, held)
    assert worker.follow_ups.enqueue(follow_up, held, source) == (route is not FollowUpRoute.REFUSE)
    stays = route in {FollowUpRoute.REFUSE, FollowUpRoute.CHILD}  # with the page, whose end is still to come
    assert (worker.book.of(source) is held) == stays
    hops = route is FollowUpRoute.HOP
    assert (not same and worker.book.of(follow_up) is held, list(worker.follow_ups.ready)) == (
        hops,
        [follow_up] if hops else [],
    )
    assert bool(worker.done) == (route not in {FollowUpRoute.LOST, FollowUpRoute.REFUSE, FollowUpRoute.HOP})
    assert held.evidence.replaced == (route is FollowUpRoute.CHILD)
    assert (held.evidence.failure is FailureClass.MALFORMED) == (route is FollowUpRoute.REFUSE)


def test_what_continues_here_names_its_lease_and_run_whatever_a_middleware_made_of_its_meta() -> None:
    worker, held, source = Worker(), lease(), Request(HERE, meta={"request_id": "0:9", "run_id": "r"})
    worker.book.hold(source, held)
    follow_up = source.replace(url=HERE + "?signed", meta={})
    assert worker.follow_ups.enqueue(follow_up, held, source)
    assert follow_up.meta == {"request_id": held.lease.id, "run_id": held.run_id}


def test_what_a_middleware_replaces_for_ever_without_a_request_ends() -> None:
    """`return request` in process_request, where None is meant."""
    worker, held, source = Worker(), lease(), Request(HERE)
    worker.book.hold(source, held)
    for _ in range(MOST_UNSENT):
        follow_up = source.copy()
        assert worker.follow_ups.enqueue(follow_up, held, source)
        source = follow_up
    assert not worker.follow_ups.enqueue(source.copy(), held, source)
    assert held.evidence.failure is FailureClass.MALFORMED
    assert "None is what lets it pass" in held.evidence.malformed
