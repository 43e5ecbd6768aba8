"""Doubtful pages are read in a limited child process, whose death affects nothing else."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any
from unittest.mock import Mock

import pytest
from scrapy.settings import Settings

from crawler.errors import TooCostlyError
from crawler.extraction import Document, extract_page
from crawler.policy.rules.domains import DomainRules
from crawler.spiders.bounds import Bounds
from crawler.spiders.products import read
from crawler.spiders.sandbox import CROWD, Sandbox

URL = "https://shop.example.com/p/12345"
LAMP = "<h1>A lamp</h1><p class=price>EUR 48.00</p><button>Add to cart</button><a href=/p/2>x</a>"
BOMB = LAMP + "".join(f"<b id={n}>" for n in range(1_900)) + "<p>x" * 6_000
LONG = LAMP + " " * 20_000


def pid(document: Document) -> int:
    return os.getpid()


def spin(document: Document) -> None:
    while True:
        pass


def grow(document: Document) -> int:
    return len([bytes(10_000_000) for _ in range(1_000)])  # never written to: it costs no CPU


def die(document: Document) -> None:
    os.kill(os.getpid(), signal.SIGSEGV)


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    """One for all: a child takes most of a second to start."""
    sandbox = Sandbox(Bounds(characters=10_000, seconds=1, memory_bytes=1_000_000_000))
    yield sandbox
    sandbox.close()


async def test_a_long_page_is_not_even_looked_at_here(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    """Telling whether it is doubtful takes as long as parsing it."""
    monkeypatch.setattr("crawler.extraction.source.tame.tamed", lambda page, strays=None: pytest.fail("looked at"))
    assert sandbox.wants(Document(LONG, URL))
    monkeypatch.setattr("crawler.extraction.source.source.read", lambda html: pytest.fail("taken apart"))
    assert Sandbox(Bounds(10_000_000, 1, 1_000_000_000)).wants(Document(LAMP + "<b>" * 2 * CROWD, URL))


async def test_ordinary_pages_are_read_here(sandbox: Sandbox) -> None:
    assert not sandbox.wants(Document(LAMP, URL))


@pytest.mark.parametrize("html", [BOMB, LONG], ids=["doubtful", "long"])
async def test_doubtful_and_long_pages_are_read_apart(sandbox: Sandbox, html: str) -> None:
    assert sandbox.wants(Document(html, URL))
    child = await sandbox.ask(pid, Document(html, URL))
    assert child != os.getpid()
    item, links = await sandbox.ask(read, Document(html, URL), DomainRules(), True)
    assert item is not None
    assert (item.title, str(item.price), list(links)) == ("A lamp", "48.00", ["https://shop.example.com/p/2"])
    assert (await sandbox.ask(extract_page, Document(html, URL), URL)).url == URL
    assert await sandbox.ask(pid, Document(html, URL)) == child, "one child for all"


@pytest.mark.parametrize(
    ("function", "words"), [(spin, "1 s of CPU"), (grow, "1000 MB"), (die, f"status -{signal.SIGSEGV.value}")]
)
async def test_what_takes_too_much_ends_the_child_alone(sandbox: Sandbox, function: object, words: str) -> None:
    before = await sandbox.ask(pid, Document(LONG, URL))
    with pytest.raises(TooCostlyError, match=words):
        await sandbox.ask(function, Document(LONG, URL))  # type: ignore[arg-type]
    assert await sandbox.ask(pid, Document(LONG, URL)) not in {before, os.getpid()}


@pytest.mark.parametrize(("seconds", "size", "is_short"), [(0.9, 0, True), (1.1, 0, False), (1.9, 5_000_000, True)])
def test_the_event_loop_may_take_a_tenth_of_it(seconds: float, size: int, is_short: bool) -> None:
    sandbox = Sandbox(Bounds(characters=10_000, seconds=10, memory_bytes=1_000_000_000))
    with nullcontext() if is_short else pytest.raises(TooCostlyError, match=r"1\.1 s of CPU, .* may take 1\.0"):
        sandbox.check_loop(seconds, size)


@pytest.mark.parametrize("asked", [signal.SIGTERM, signal.SIGHUP])
async def test_a_child_that_was_asked_to_end_with_its_worker_costs_no_page(
    asked: signal.Signals, monkeypatch: pytest.MonkeyPatch
) -> None:
    """systemd tells all processes of a unit, a terminal those of a job: the worker then finishes its pages."""
    children = [
        (Mock(exitcode=-asked), Mock(recv=Mock(side_effect=EOFError))),
        (Mock(), Mock(recv=Mock(return_value=7))),
    ]
    monkeypatch.setattr("crawler.spiders.sandbox._start", lambda _: children.pop(0))
    monkeypatch.setattr(children[0][0], "is_alive", Mock(return_value=False))
    sandbox = Sandbox(Bounds(characters=10_000, seconds=1, memory_bytes=1_000_000_000))
    assert await sandbox.ask(pid, Document(LONG, URL)) == 7
    assert children == []


class Struck:
    """A child that the system kills with -9 in the middle of a page, as it does when memory runs out."""

    exitcode = None

    def __init__(self, kills: list[str], starts: list[str]) -> None:
        self._kills, self._starts = kills, starts
        starts.append("child")

    def is_alive(self) -> bool:
        return self.exitcode is None

    def kill(self) -> None:
        """Too late: the system has done it."""

    def join(self, timeout: float | None = None) -> None:
        """It is dead."""

    def send(self, job: object) -> None:
        """It takes every page."""

    def poll(self, seconds: float) -> bool:
        return True

    def recv(self) -> int:
        if self._kills:
            self._kills.pop()
            self.exitcode = -signal.SIGKILL
            raise EOFError
        return 7

    def close(self) -> None:
        """Nothing is left open."""


@pytest.mark.parametrize(("kills", "closed", "starts"), [(1, False, 2), (2, False, 2), (1, True, 1)])
async def test_a_child_that_the_system_kills_costs_no_page_at_once_and_no_lie(
    kills: int, closed: bool, starts: int, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The kernel's choice may fall on a child that reads a page of 2 KB. A worker that ends kills it, too."""
    left, started = ["kill"] * kills, list[str]()
    monkeypatch.setattr("crawler.spiders.sandbox._start", lambda _: (struck := Struck(left, started), struck))
    sandbox = Sandbox(Bounds(characters=10_000, seconds=1, memory_bytes=1_000_000_000))
    if closed:
        sandbox.close()
    if kills < starts:
        assert await sandbox.ask(pid, Document(LONG, URL)) == 7
    else:
        with pytest.raises(TooCostlyError, match="out of memory"):
            await sandbox.ask(pid, Document(LONG, URL))
    assert len(started) == starts
    assert [URL in line for line in caplog.messages] == [True] * (starts - 1)


async def test_a_child_that_says_nothing_for_long_is_killed_and_blamed_on_its_page(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It sleeps, say, and takes no CPU: that it was killed is our own doing, and no reason to read the page again."""
    child = Mock(exitcode=-signal.SIGKILL)
    monkeypatch.setattr("crawler.spiders.sandbox._start", lambda _: (child, Mock(poll=Mock(return_value=False))))
    with pytest.raises(TooCostlyError, match="more than 1 s of CPU"):
        await Sandbox(Bounds(characters=10_000, seconds=1, memory_bytes=1_000_000_000)).ask(pid, Document(LONG, URL))
    child.kill.assert_called_once_with()


async def test_pages_that_wait_for_the_child_hold_no_threads(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    busy, most, to_thread = 0, 0, asyncio.to_thread

    async def counted(*arguments: Any) -> Any:
        nonlocal busy, most
        busy, most = busy + 1, max(most, busy + 1)
        try:
            return await to_thread(*arguments)
        finally:
            busy -= 1

    monkeypatch.setattr(asyncio, "to_thread", counted)
    found = await asyncio.gather(*(sandbox.ask(pid, Document(LONG, URL)) for _ in range(20)))
    assert (len(set(found)), most) == (1, 1)


def test_its_bounds_are_in_characters_and_bytes() -> None:
    settings = Settings({"PARSE_APART_KB": 1, "PARSE_MAX_SECONDS": 1, "PARSE_MAX_MB": 256})
    assert Bounds.from_settings(settings) == Bounds(1_000, 1, 256_000_000)
