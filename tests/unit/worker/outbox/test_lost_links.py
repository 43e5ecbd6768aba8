"""A page is done only if Redis still has what it links to: a restart or a failover may take that back."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.frontier.errors import FrontierUnavailableError
from crawler.frontier.messages import Handle, Message, PushOutcome, Report
from crawler.frontier.server.drops import Drops
from crawler.frontier.server.failures import translating
from crawler.worker.outbox.lease_endings import Bury, Ending, Gone, Move, Nack, Unsent, handle_of
from crawler.worker.outbox.lost_links import LOST, LostLinks
from crawler.worker.outbox.offers import KEPT_SECONDS
from crawler.worker.outbox.outbox import Outbox
from tests.clock import Clock
from tests.unit.frontier.fakes import Frontier, message
from tests.unit.worker.outbox.test_outbox import Desk, events, post

PAGE = ("0:1", 1)
OTHER = ("0:2", 2)
DONE: list[Ending] = [PAGE, Bury(PAGE, "spider_error", {}), Gone(PAGE, "http_404", {}), Unsent(PAGE)]
AGAIN: list[Ending] = [Nack(PAGE, 5, "http_503"), Move(PAGE, "s:browser")]


@pytest.mark.parametrize("ending", DONE, ids=str)
def test_a_page_whose_links_may_be_lost_is_fetched_again(ending: Ending) -> None:
    links = LostLinks()
    links.stored(PAGE, links.losses)
    assert links.judged(ending) == ending
    links.lose()
    assert links.judged(ending) == Nack(PAGE, 0, LOST)


@pytest.mark.parametrize("ending", AGAIN, ids=str)
def test_one_that_is_fetched_again_anyway_keeps_its_reason(ending: Ending) -> None:
    links = LostLinks()
    links.stored(PAGE, links.losses)
    links.lose()
    assert links.judged(ending) == ending


def test_one_without_stored_links_ends_as_it_would_have() -> None:
    links = LostLinks()
    links.lose()
    assert links.judged(PAGE) == PAGE


def test_a_confirmation_that_was_on_its_way_when_the_server_went_counts_for_nothing() -> None:
    links = LostLinks()
    losses = links.losses
    links.lose()
    links.stored(PAGE, losses)
    assert links.judged(PAGE) == Nack(PAGE, 0, LOST)


def test_a_page_that_has_ended_is_forgotten() -> None:
    links = LostLinks()
    for losses in (0, -1):
        links.stored(PAGE, losses)
        links.ended([PAGE])
        assert not len(links)
        links.lose()
        assert links.judged(PAGE) == PAGE


class Restarting(Frontier):
    """A Redis that is started again without its last writes, at any call: before it, or when its answer is under way.

    As of a real one, its client hears of that before anything is sent to it, and sends it no endings (`same_server`).
    """

    def __init__(self, restarts: list[int]) -> None:
        super().__init__()
        self.stored: list[bytes] = []
        self.lose: Any = None
        self._restarts = iter(restarts)

    def restart(self) -> bool:
        if not (lost := next(self._restarts, 0)):
            return False
        del self.stored[-lost:]
        self.lose()
        return True

    async def push(self, messages: Sequence[Message], *, forced: bool = False) -> list[PushOutcome]:
        self.restart()
        self.stored += [one.body for one in messages]
        self.restart()
        return await super().push(messages, forced=forced)

    async def ack(self, handles: Sequence[Handle]) -> list[bool]:
        if self.restart():
            raise FrontierUnavailableError
        for _, page in handles:
            self.told.append(("missing", self.children[page] - {*self.stored}))
        return await super().ack(handles)

    children: list[set[bytes]]


@given(
    children=st.lists(st.integers(0, 3), min_size=1, max_size=8),
    order=st.randoms(use_true_random=False),
    arrivals=st.lists(st.integers(0, 4), max_size=60),
    restarts=st.lists(st.integers(0, 4), max_size=60),
)
def test_no_page_is_acknowledged_on_a_server_that_lacks_its_links(
    children: list[int], order: Any, arrivals: list[int], restarts: list[int]
) -> None:
    frontier = Restarting(restarts)
    frontier.children = [
        {b"%d" % (100 * page + child) for child in range(count)} for page, count in enumerate(children)
    ]
    desk, waiting, arriving = Desk(frontier), events(children, order), iter(arrivals)
    frontier.lose = desk.outbox.lose
    frontier.before = lambda name: post(desk, waiting, next(arriving, 0))

    async def work() -> None:
        while waiting or len(desk.outbox):
            post(desk, waiting, 1)
            await desk.outbox.flush()

    asyncio.run(work())
    assert [missing for what, missing in frontier.told if what == "missing" and missing] == []
    acked = [page for what, pages in frontier.told if what == "ack" for page in pages]
    again = [handle[:2] for what, handle in frontier.told if what == "nack"]
    assert sorted(acked + again) == [("0:1", page) for page in range(len(children))]
    assert not len(desk.outbox._lost_links)


@pytest.mark.parametrize("leave", [Outbox.abandon, Outbox.give_back], ids=["lost", "given back"])
async def test_a_page_whose_lease_is_left_without_an_ending_is_doubted_no_longer(
    leave: Callable[[Outbox, Handle], None],
) -> None:
    desk = Desk(Frontier())
    desk.outbox.push(message(1), PAGE)
    await desk.outbox.flush()
    assert len(desk.outbox._lost_links) == 1
    leave(desk.outbox, PAGE)
    await desk.outbox.flush()
    assert not len(desk.outbox._lost_links)


@pytest.mark.parametrize("ending", DONE[1:], ids=str)
async def test_a_server_that_goes_while_reports_are_sent_is_sent_no_ending_that_was_for_it(ending: Ending) -> None:
    """What ends such a page goes out by itself, a call after the one with the reports of its flush."""
    desk, drops, left = Desk(Frontier()), Drops(), iter([True])
    desk.frontier.client, drops.on_other_server = SimpleNamespace(drops=drops), desk.outbox.lose

    def before(name: str) -> None:
        if name == "report" and next(left, False):
            drops._other()
        with translating():
            drops.check()

    desk.outbox.push(message(1), PAGE)
    await desk.outbox.flush()
    desk.frontier.before = before
    desk.outbox.report(Report(*OTHER, 1, 1, 200))
    desk.outbox.end(ending)
    await desk.outbox.flush()
    assert desk.frontier.told[-1] == ("nack", PAGE)
    assert not {"bury", "gone", "skip"}.intersection(desk.frontier.names)


async def test_start_requests_that_were_stored_last_are_sent_again() -> None:
    desk, clock = Desk(Frontier()), Clock()
    desk.outbox.new.offers._clock = clock
    for number in range(3):
        desk.outbox.offer(message(number))
        await desk.outbox.flush()
        clock.now += KEPT_SECONDS / 2
    desk.outbox.lose()
    assert [one.body for one in desk.outbox.new.offers.left] == [b"1", b"2"]
    await desk.outbox.flush()
    clock.now += KEPT_SECONDS + 1
    desk.outbox.lose()
    await desk.outbox.flush()
    assert [batch for _, batch in desk.frontier.told] == [[b"0"], [b"1"], [b"2"], [b"1", b"2"]]


async def test_start_requests_that_are_stored_for_good_are_kept_no_longer() -> None:
    """A spider's `start()` is over after seconds, and its worker lives for days."""
    desk, clock = Desk(Frontier()), Clock()
    desk.outbox.new.offers._clock = clock
    desk.outbox.offer(message(1))
    await desk.outbox.flush()
    assert len(desk.outbox.new.offers._kept) == 1
    clock.now += KEPT_SECONDS + 1
    await desk.outbox.flush()
    assert not desk.outbox.new.offers._kept


async def test_one_whose_answer_was_on_its_way_when_the_server_went_is_sent_again() -> None:
    desk, losing = Desk(Frontier()), iter([True])
    desk.outbox.offer(message(1))
    desk.frontier.before = lambda name: desk.outbox.lose() if next(losing, False) else None
    await desk.outbox.flush()
    assert [one.body for one in desk.outbox.new.offers.left] == [b"1"]
    assert not desk.confirmed
    await desk.outbox.flush()
    assert len(desk.frontier.told) == 2
    assert [one.body for one in desk.confirmed] == [b"1"]


def test_every_ending_has_its_lease() -> None:
    assert {handle_of(ending) for ending in DONE + AGAIN} == {PAGE}
