"""A request's way through download, callback and end beside Scrapy's own: the same results, in the same order."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from contextlib import suppress
from types import SimpleNamespace
from typing import Any

import pytest
from scrapy import Request, Spider, signals
from scrapy.core.engine import ExecutionEngine
from scrapy.core.scraper import Scraper, Slot
from scrapy.http import Response
from scrapy.utils.defer import deferred_from_coro
from scrapy.utils.test import get_crawler
from twisted.python.failure import Failure

from crawler.current_request import current, note
from crawler.engine import page_task
from crawler.engine.downloader import Downloader

URL = "http://a.example/"


class Answering(Downloader):
    """Answers with what it was given, and notes what is asked of it."""

    def __init__(self, noted: list[Any], answer: Any) -> None:
        self.noted, self.answer = noted, answer
        self.active = set()
        self._downloader = self

    def expect(self, request: Request) -> None:
        self.noted.append("expected")
        self.active.add(request)

    async def download(self, request: Request) -> Any:
        await asyncio.sleep(0)
        self.active.discard(request)
        if isinstance(self.answer, BaseException):
            raise self.answer
        return self.answer


class EngineSlot:
    """The engine's slot, noting."""

    def __init__(self, noted: list[Any], request: Request) -> None:
        self.noted = noted
        self.waiting = deque([request])
        self.scheduler = SimpleNamespace(next_request=lambda: self.waiting.popleft() if self.waiting else None)
        self.nextcall = SimpleNamespace(schedule=lambda: noted.append("next"))
        self.ended = asyncio.Event()

    def add_request(self, request: Request) -> None:
        self.noted.append("added")

    def remove_request(self, request: Request) -> None:
        self.noted.append("removed")
        self.ended.set()
        if "unknown" in request.url:
            raise KeyError(request)


def engine_of(noted: list[Any], request: Request, answer: Any) -> ExecutionEngine:
    """Scrapy's engine with a downloader and scheduler that answer at once, and its own scraper."""
    crawler = get_crawler()
    crawler.spider = Spider("test")
    engine = ExecutionEngine.__new__(ExecutionEngine)
    engine.crawler, engine.spider, engine.logformatter = crawler, crawler.spider, crawler.logformatter
    engine.signals, engine._slot = crawler.signals, EngineSlot(noted, request)  # type: ignore[assignment]
    engine.downloader, engine._downloader_fetch_needs_spider = Answering(noted, answer), False
    engine.crawl = lambda request: noted.append(f"crawl {request.url}")  # type: ignore[method-assign]
    engine.scraper = Scraper(crawler)
    engine.scraper.slot = Slot()

    async def scrape(result: Response | Failure, request: Request) -> None:
        slot = engine.scraper.slot
        assert slot is not None
        kind = type(getattr(result, "value", result))
        noted.append((kind, slot.active == {request}, slot.active_size, len(slot.queue)))
        if "broken" in request.url:
            raise ValueError("a bug")

    engine.scraper._scrape = scrape  # type: ignore[method-assign]
    engine.kept = (  # type: ignore[attr-defined]  # receivers are held weakly
        lambda response, request: noted.append(f"received {response.url} for {request.url}"),
        lambda: noted.append("nothing to do"),
    )
    for receiver, signal in zip(engine.kept, (signals.response_received, signals.scheduler_empty), strict=True):  # type: ignore[attr-defined]
        crawler.signals.connect(receiver, signal)
    return engine


def fetch(self: Any, request: Request) -> Any:
    """As the downloader's, without a run."""
    self.expect(request)
    return deferred_from_coro(self.download(request))


async def passed(request: Request, answer: Any, *, ours: bool) -> list[Any]:
    """What happens until *request* has ended."""
    noted: list[Any] = []
    engine = engine_of(noted, request, answer)
    if ours:
        page_task.install(engine)
    assert engine._start_scheduled_request() is True
    await engine._slot.ended.wait()  # type: ignore[union-attr]
    for _ in range(3):
        await asyncio.sleep(0)
    assert engine._start_scheduled_request() is False
    assert engine.scraper.slot is not None
    assert engine.scraper.slot.is_idle()
    assert engine.scraper.slot.active_size == 0
    return noted


PAGE = Response(URL)
FAILURE = ValueError("no page")
WAYS = {
    "page": (PAGE, ""),
    "large": (Response(URL, body=b"x" * 5_000), ""),
    "redirect": (Request(URL + "other"), ""),
    "failure": (FAILURE, ""),
    "none": (None, ""),
    "cancelled": (asyncio.CancelledError(), ""),
    "broken scraper": (FAILURE, "broken"),
    "unknown request": (PAGE, "unknown"),
}


@pytest.mark.parametrize(("answer", "path"), WAYS.values(), ids=WAYS)
async def test_a_request_ends_as_with_scrapys_own(
    answer: Any, path: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(Downloader, "fetch", fetch)
    caplog.set_level(logging.INFO)
    told = []
    seen = []
    for ours in (False, True):
        caplog.clear()
        seen.append(await passed(Request(URL + path), answer, ours=ours))
        told.append([(one.name, one.levelname, one.getMessage().partition(" <")[0]) for one in caplog.records])
    assert seen[1] == seen[0]
    assert told[1] == told[0]


async def fetched(answers: list[Any], *, ours: bool) -> list[Any]:
    """What happens while a request is downloaded beside the pages."""
    noted: list[Any] = []
    engine = engine_of(noted, Request(URL), None)
    engine.downloader = Following(noted, answers)
    if ours:
        page_task.install(engine)
    try:
        noted.append(await engine.download_async(Request(URL)))
    except (ValueError, TypeError) as error:
        noted.append(repr(error))
    return noted


class Following(Answering):
    """Gives one answer after the other."""

    async def download(self, request: Request) -> Any:
        self.noted.append(request.url)
        await asyncio.sleep(0)
        note(request)
        if isinstance(answer := self.answer.pop(0), BaseException):
            raise answer
        return answer


@pytest.mark.parametrize("answer", [PAGE, FAILURE, None], ids=["page", "failure", "none"])
@pytest.mark.parametrize("hops", [0, 2])
@pytest.mark.parametrize("level", [logging.DEBUG, logging.INFO])
async def test_what_is_fetched_beside_the_pages_comes_as_with_scrapys_own(
    answer: Any, hops: int, level: int, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(Downloader, "fetch", fetch)
    caplog.set_level(level)
    seen, told = [], []
    for ours in (False, True):
        caplog.clear()
        redirects = [Request(f"{URL}{hop}") for hop in range(hops)]
        seen.append(await fetched([*redirects, answer], ours=ours))
        told.append([(one.name, one.message) for one in caplog.records if one.message.startswith("Crawled")])
        assert current() is None
    assert seen[1] == seen[0]
    assert told[1] == told[0]
    assert len(told[1]) == (answer is PAGE and level == logging.DEBUG)


class Waiting(Answering):
    """Waits without end, and past the first cancellations, as many as it is given: Python 3.11's `asyncio.wait_for`, in
    which redis-py sends, swallows one that arrives as it ends."""

    async def download(self, request: Request) -> Any:
        for _ in range(self.answer):
            with suppress(asyncio.CancelledError):
                await asyncio.Event().wait()
        await asyncio.Event().wait()


@pytest.mark.parametrize("swallowed", [0, 1])
async def test_what_is_fetched_beside_the_pages_ends_with_whom_it_is_for(swallowed: int) -> None:
    noted: list[Any] = []
    engine = engine_of(noted, Request(URL), PAGE)
    engine.downloader = Waiting(noted, swallowed)
    page_task.install(engine)
    asking = asyncio.create_task(engine.download_async(Request(URL)))
    while "expected" not in noted:  # noqa: ASYNC110 - of a few steps of the loop
        await asyncio.sleep(0)
    asking.cancel()
    await asyncio.wait([asking], timeout=60)
    assert asking.cancelled()
    assert noted == ["added", "expected", "next", "removed"]


async def test_what_its_loop_leaves_behind_ends_nothing() -> None:
    """Nobody hears of it any more, and a call on a closed loop would print a traceback."""
    noted: list[Any] = []
    request = Request(URL)
    engine = engine_of(noted, request, Response(URL))
    assert isinstance(engine.downloader, Downloader)
    page = page_task.PageTasks(engine, engine.downloader)._page(request, engine._slot)
    page.send(None)
    page.close()
    assert noted == []


async def test_a_downloader_with_its_own_way_keeps_it() -> None:
    class Own(Answering):
        def fetch(self, request: Request, spider: Any = None) -> Any:
            return deferred_from_coro(self.download(request))

    engine = engine_of([], Request(URL), Response(URL))
    engine.downloader = Own([], Response(URL))
    page_task.install(engine)
    assert engine._start_scheduled_request.__func__ is ExecutionEngine._start_scheduled_request  # type: ignore[attr-defined]
