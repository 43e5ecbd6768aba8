"""What a worker holds, by Request object."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncIterator
from typing import Any

import pytest
from scrapy import Request
from scrapy.http import Response

from crawler.worker.leases.lease_book import LeaseBook
from tests.clock import Clock
from tests.unit.frontier.fakes import held

URL = "http://a.example/"


async def output(*values: Any) -> AsyncIterator[Any]:
    for value in values:
        yield value


def test_a_lease_belongs_to_one_request_object_and_not_to_its_url() -> None:
    book, request, lease = LeaseBook(), Request(URL), held()
    book.hold(request, lease)
    assert book.of(request) is lease
    assert book.of(Request(URL)) is None
    assert book.of(None) is None
    assert (len(book), book.all(), book.hosts) == (1, [lease], {"a.example": 1})
    assert book.release(request) is lease
    assert book.release(request) is None
    assert (len(book), book.hosts) == (0, {})


def test_a_follow_up_is_known_once() -> None:
    book, source, follow_up, lease = LeaseBook(), Request(URL), Request(URL + "2"), held()
    book.follow(source, follow_up)  # holds no lease: robots.txt, media
    assert book.follow_up(follow_up) is None
    book.hold(source, lease)
    book.follow(source, follow_up)
    assert book.follow_up(follow_up) == (lease, source)
    assert book.follow_up(follow_up) is None


def test_a_follow_up_that_somebody_drops_leaves_nothing_behind() -> None:
    book, source = LeaseBook(), Request(URL)
    book.hold(source, held())
    book.follow(source, Request(URL))
    gc.collect()
    assert len(book._follow_ups) == 0


async def test_requests_of_a_page_are_its_children_and_its_last_line_is_its_end() -> None:
    book, lease, child = LeaseBook(), held(), Request(URL)
    seen = []
    async for one in book.track_output(output({"item": 1}, child), lease):
        assert not lease.evidence.parsed
        seen.append(one)
    assert seen == [{"item": 1}, child]
    assert book.parent(child) is lease
    assert book.parent(Request(URL)) is None
    assert lease.evidence.parsed


async def test_a_callback_that_raises_has_no_end() -> None:
    async def broken() -> AsyncIterator[Any]:
        yield 1
        raise ValueError("cut off")

    book, lease = LeaseBook(), held()
    with pytest.raises(ValueError, match="cut off"):
        [one async for one in book.track_output(broken(), lease)]
    assert not lease.evidence.parsed


def test_a_page_is_known_by_its_response_whatever_request_that_names() -> None:
    book, lease = LeaseBook(), held()
    response = Response(URL, request=Request(URL + "elsewhere"))
    assert book.behind(response) is None
    book.answered(response, lease)
    assert book.behind(response) is lease


def test_only_what_is_not_on_the_wire_can_lend_its_turn() -> None:
    book, first, second = LeaseBook(), held(1), held(2)
    book.hold(Request(URL), first)
    book.hold(Request(URL), second)
    assert book.unstarted("b.example") is None
    first.slot.started_at = Clock.now
    assert book.unstarted("a.example") is second
    second.slot.started_at = Clock.now
    assert book.unstarted("a.example") is None


def test_what_has_ended_lends_nothing() -> None:
    book, request = LeaseBook(), Request(URL)
    for number in (1, 2):
        book.hold(request, held(number))
        assert book.unstarted("a.example") is not None
        book.release(request)
        assert book.unstarted("a.example") is None
    assert not book.hosts


def test_a_fetch_is_slow_from_its_start_to_its_answer() -> None:
    lease = held()
    assert not lease.on_wire_since(Clock.now)
    lease.slot.started_at = Clock.now - 1
    assert lease.on_wire_since(Clock.now)
    assert not lease.on_wire_since(Clock.now - 2)
    lease.slot.reported = True
    assert not lease.on_wire_since(Clock.now)


@pytest.mark.parametrize(("lost", "seconds", "cancelled"), [(True, 0, True), (False, 0, False), (True, 900, False)])
async def test_a_callback_that_outlasts_its_lease_is_cancelled(lost: bool, seconds: float, cancelled: bool) -> None:
    """Pages whose callbacks never end took their slots for ever: a worker with as many of them did nothing more."""
    book = LeaseBook()
    lease = held(1)
    lease.lost = lost
    book.hold(Request(URL), lease)

    async def callback() -> None:
        lease.handed()
        await asyncio.sleep(60)

    task = asyncio.create_task(callback())
    await asyncio.sleep(0)
    book.stop_overdue(seconds)
    await asyncio.sleep(0)
    assert task.cancelled() is cancelled
    task.cancel()


def test_a_lease_whose_callback_was_not_called_is_left_alone() -> None:
    book = LeaseBook()
    lease = held(1)
    lease.lost = True
    book.hold(Request(URL), lease)
    book.stop_overdue(0)
    assert book.all() == [lease]
