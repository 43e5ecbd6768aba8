"""A worker that closes names the pages that it waits for."""

from __future__ import annotations

import asyncio
import logging

import pytest
from scrapy import Request
from scrapy.http import Response

from crawler.utils.tasks import end
from crawler.worker.leases.lease_book import LeaseBook
from crawler.worker.upkeep.closing import ClosingPages
from tests.clock import Clock
from tests.unit.frontier.fakes import held


def parse_slowly(_: Response) -> None:
    """A callback."""


class Closing:
    """Pages of a worker that is closing, or not yet."""

    def __init__(self) -> None:
        self.book, self.closing, self.now = LeaseBook(), True, Clock.now
        self.pages = ClosingPages(self.book, lambda: self.closing, lambda: self.now)

    def holds(self, number: int, **noted: float | bool) -> None:
        lease = held(number)
        for name, value in noted.items():
            setattr(lease.slot if hasattr(lease.slot, name) else lease, name, value)
        self.book.hold(Request(f"https://a.example/{number}", callback=parse_slowly), lease)

    def looks_after(self, seconds: float) -> None:
        self.now += seconds
        self.pages.look()


@pytest.fixture
def closing(caplog: pytest.LogCaptureFixture) -> Closing:
    caplog.set_level(logging.WARNING, "crawler.worker.upkeep.closing")
    return Closing()


def test_pages_are_named_after_a_while_and_each_minute(closing: Closing, caplog: pytest.LogCaptureFixture) -> None:
    closing.holds(1, started_at=Clock.now - 90, reported=True, handed_at=Clock.now - 80)
    closing.looks_after(0)
    closing.looks_after(9)
    assert not caplog.messages
    closing.looks_after(1)
    closing.looks_after(59)
    said = "[0:1] <GET https://a.example/1> has been in its callback parse_slowly for 90 s"
    end = "A second SIGTERM or Ctrl-C quits at once"
    assert caplog.messages == [f"Closing, but pages have not ended (1): {said}. {end}"]
    closing.looks_after(1)
    assert len(caplog.messages) == 2


def test_each_page_says_what_it_waits_for(closing: Closing, caplog: pytest.LogCaptureFixture) -> None:
    closing.holds(1, started_at=Clock.now)
    closing.holds(2, started_at=Clock.now, reported=True)
    closing.holds(3, started_at=Clock.now, reported=True, handed_at=Clock.now, parsed_at=Clock.now + 4)
    closing.looks_after(0)
    closing.looks_after(10)
    (said,) = caplog.messages
    assert "/1> has had no answer for 10 s; " in said
    assert "/2> is in a middleware, leased 10 s ago; " in said
    assert "/3> has had items in pipelines for 6 s. " in said


def test_of_many_pages_some_are_named(closing: Closing, caplog: pytest.LogCaptureFixture) -> None:
    for number in range(8):
        closing.holds(number, started_at=Clock.now)
    closing.looks_after(0)
    closing.looks_after(10)
    assert "; and 3 more. " in caplog.messages[0]
    assert caplog.messages[0].count("<GET") == 5


async def test_nothing_is_said_while_it_works_or_when_all_have_ended(
    closing: Closing, caplog: pytest.LogCaptureFixture
) -> None:
    closing.looks_after(100)
    closing.looks_after(100)
    closing.closing = False
    closing.holds(1, started_at=Clock.now)
    closing.looks_after(100)
    assert not caplog.messages


async def test_what_ends_with_the_spider_is_named_once_all_pages_have(
    closing: Closing, caplog: pytest.LogCaptureFixture
) -> None:
    class Shop:
        async def closed(self) -> None:
            await asyncio.Event().wait()

    async def close() -> None:
        await Shop().closed()

    task = asyncio.create_task(close())
    await asyncio.sleep(0)
    closing.looks_after(0)
    closing.looks_after(10)
    await end(task)
    name = Shop.closed.__qualname__
    assert caplog.messages == [f"Closing, but {name} has not ended. A second SIGTERM or Ctrl-C quits at once"]
