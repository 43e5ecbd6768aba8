"""Our handling of a callback's output beside Scrapy's own: the same items, requests, receivers, errors and order."""

from __future__ import annotations

import asyncio
import gc
import logging
from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import Any, cast
from weakref import ReferenceType, ref

import pytest
from pydispatch import dispatcher
from scrapy import Request, Spider, signals
from scrapy.core.scraper import Scraper, Slot
from scrapy.exceptions import CloseSpider, DropItem
from scrapy.http import HtmlResponse, Response
from scrapy.pipelines import ItemPipelineManager
from scrapy.signalmanager import SignalManager
from scrapy.utils.test import get_crawler
from twisted.python.failure import Failure

from crawler.engine import safe_urls
from crawler.engine.interruptions import UNINTERRUPTED, InterruptedPageError
from crawler.engine.item_processor import ItemProcessor, Signals, handle_output
from crawler.engine.quick_signals import QuickSignals
from tests.shipped import shipped

URL = "http://a.example/"
RESPONSE = Response(URL, request=Request(URL))


class Engine:
    """Notes what it is given."""

    def __init__(self, noted: list[Any], scraper: Scraper) -> None:
        self.noted, self.scraper = noted, scraper
        self.signals, self.downloader = scraper.signals, SimpleNamespace()

    def crawl(self, request: Request) -> None:
        self.noted.append(f"crawl {request.url}")

    async def close_spider_async(self) -> None:
        """Nobody closes it here."""

    async def stop_async(self) -> None:
        """Nor this way."""


class Plain:
    def process_item(self, item: Any) -> Any:
        return f"{item} plain"


class Slow:
    async def process_item(self, item: Any) -> Any:
        await asyncio.sleep(0.02 if "slow" in item else 0)
        if "bad" in item:
            raise DropItem(item)
        if "worse" in item:
            raise ValueError(item)
        return f"{item} awaited"


class Future:
    def process_item(self, item: Any) -> Any:
        done: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        done.set_result(f"{item} future")
        return done


def scraper_of(manager: type[ItemPipelineManager], noted: list[Any], concurrent: int = 100) -> Scraper:
    """Scrapy's scraper with three pipelines, noting what they make of items, and what the engine is given."""
    crawler = get_crawler(settings_dict={"CONCURRENT_ITEMS": concurrent})
    crawler.spider = Spider("test")
    crawler.spider.crawler = crawler
    scraper = Scraper(crawler)
    scraper.itemproc = manager(Plain(), Slow(), Future(), crawler=crawler)
    scraper.slot = Slot()
    crawler.engine = cast("Any", Engine(noted, scraper))

    def scraped(item: Any) -> None:
        noted.append(f"scraped {item}")

    async def dropped(item: Any, exception: Exception) -> None:
        await asyncio.sleep(0)
        noted.append(f"dropped {item}: {exception}")

    def failed(item: Any, failure: Failure) -> None:
        noted.append(f"error {item}: {failure.value!r}")

    scraper.kept = [scraped, dropped, failed]  # type: ignore[attr-defined]  # receivers are held weakly
    for receiver, signal in zip(
        (scraped, dropped, failed), (signals.item_scraped, signals.item_dropped, signals.item_error), strict=True
    ):
        crawler.signals.connect(receiver, signal)
    return scraper


async def outputs(*given: Any) -> AsyncIterator[Any]:
    for one in given:
        if isinstance(one, Exception):
            raise one
        yield one


GIVEN: list[tuple[Any, ...]] = [
    (),
    ("one",),
    (None, "one", Request(URL + "1")),
    ("slow", "two", Request(URL + "1"), "bad", "worse", Request(URL + "2")),
    ("one", ValueError("callback"), "never"),
    tuple(f"item {number}" for number in range(30)),
]


@pytest.mark.parametrize("given", GIVEN, ids=str)
async def test_output_ends_as_with_scrapys_own(given: tuple[Any, ...], caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL)
    theirs: list[Any] = []
    request = Request(URL)
    await scraper_of(ItemPipelineManager, theirs).handle_spider_output_async(outputs(*given), request, RESPONSE)
    ours: list[Any] = []
    scraper = scraper_of(ItemProcessor, ours)
    await scraper.itemproc.open_spider_async()
    await scraper.handle_spider_output_async(outputs(*given), request, RESPONSE)
    assert sorted(ours) == sorted(theirs)
    stats = scraper.crawler.stats
    assert stats is not None
    assert stats.get_value("spider_exceptions/count", 0) == any(isinstance(one, Exception) for one in given)
    assert scraper.slot is not None
    assert scraper.slot.itemproc_size == 0


async def test_no_more_items_are_in_work_than_may_be() -> None:
    noted: list[Any] = []
    scraper = scraper_of(ItemProcessor, noted, concurrent=2)
    most = 0

    async def counting(item: Any, *, response: Any) -> None:
        nonlocal most
        assert scraper.slot is not None
        scraper.slot.itemproc_size += 1
        most = max(most, scraper.slot.itemproc_size)
        await asyncio.sleep(0.001)
        scraper.slot.itemproc_size -= 1
        noted.append(item)

    scraper.start_itemproc_async = counting  # type: ignore[method-assign]
    await handle_output(scraper, outputs(*range(9)), Request(URL), RESPONSE)
    assert (sorted(noted), most) == (list(range(9)), 2)


async def test_an_errbacks_list_is_output_too() -> None:
    noted: list[Any] = []
    scraper = scraper_of(ItemProcessor, noted)
    await scraper.itemproc.open_spider_async()
    failure = Failure(ValueError("no page"))  # type: ignore[no-untyped-call]
    await scraper.handle_spider_output_async(["one", Request(URL)], Request(URL), failure)
    assert sorted(noted) == ["crawl http://a.example/", "scraped one plain awaited future"]


@pytest.mark.parametrize("item", ["slow", "slow bad", "slow worse"])
async def test_a_spider_that_closes_waits_for_items_of_start_and_no_longer(item: str) -> None:
    noted: list[Any] = []
    scraper = scraper_of(ItemProcessor, noted)
    await scraper.itemproc.open_spider_async()
    scraper._start_itemproc_nowait(item)
    scraper._start_itemproc_nowait(item)
    closing = asyncio.create_task(scraper.close_spider_async())
    await asyncio.wait_for(closing, 60)
    assert len(noted) == 2
    scraper._start_itemproc_nowait("late")
    await asyncio.sleep(0.01)
    assert noted[2:] == ["scraped late plain awaited future"]


@pytest.mark.parametrize("kind", [SignalManager, Signals])
async def test_receivers_are_called_and_their_errors_caught(
    kind: type[SignalManager], caplog: pytest.LogCaptureFixture
) -> None:
    manager, signal = kind(SimpleNamespace()), object()

    def plain(item: str) -> str:
        return item

    async def awaited(spider: str) -> str:
        return spider

    async def failing() -> None:
        raise ValueError("a bug")

    def closing() -> None:
        raise CloseSpider("enough")

    for receiver in (plain, awaited, failing, closing):
        manager.connect(receiver, signal)
    found = dict(await manager.send_catch_log_async(signal, item="item", spider="spider", dont_log=CloseSpider))
    assert (found[plain], found[awaited]) == ("item", "spider")
    assert (type(found[failing]), type(found[closing])) == (ValueError, CloseSpider)
    assert [record.levelname for record in caplog.records] == ["ERROR"]
    assert "Error caught on signal handler" in caplog.text


class Listener:
    """Is called like a function, and takes what it likes."""

    def __call__(self, item: str, **named: Any) -> tuple[str, list[str]]:
        return item, sorted(named)


class Stopping(Exception):
    """Expected of a receiver."""


@pytest.mark.parametrize("anywhere", [False, True])
def test_signals_are_answered_as_with_scrapys_own(anywhere: bool, caplog: pytest.LogCaptureFixture) -> None:
    sender, signal = SimpleNamespace(), object()

    class Owner:
        def method(self, item: str, nothing: str = "default") -> tuple[str, str]:
            return item, nothing

    def taking_all(**named: Any) -> list[str]:
        return sorted(named)

    def stopping() -> None:
        raise Stopping

    def failing(item: str) -> None:
        raise ValueError(item)

    owner, listener = Owner(), Listener()
    for receiver in (owner.method, taking_all, stopping, failing, listener):
        SignalManager(sender).connect(receiver, signal)
    if anywhere:  # heard twice, called once
        SignalManager(dispatcher.Any).connect(taking_all, signal)
    gone = Owner()
    SignalManager(sender).connect(gone.method, signal)
    del gone

    def answers(manager: SignalManager) -> list[Any]:
        caplog.clear()
        found = manager.send_catch_log(signal, item="item", spider="spider", dont_log=Stopping)
        told = [record.getMessage() for record in caplog.records]
        return [(one, getattr(answer, "value", answer).__class__, str(answer)[:40]) for one, answer in found] + told

    assert answers(QuickSignals(sender)) == answers(SignalManager(sender))
    assert QuickSignals(sender).send_catch_log(object()) == []


async def test_items_of_a_page_come_to_the_store_by_the_hundred() -> None:
    """It writes batches, for each of which a page waits: by fours, a feed of 60,000 items outlasted its lease."""
    stored: list[str] = []
    may_end = asyncio.Event()

    class Batching:
        async def process_item(self, item: str) -> str:
            stored.append(item)
            await may_end.wait()
            return item

    scraper = scraper_of(ItemProcessor, [], shipped().getint("CONCURRENT_ITEMS"))
    scraper.itemproc = ItemProcessor(Batching(), crawler=scraper.crawler)
    page = asyncio.create_task(handle_output(scraper, outputs(*map(str, range(250))), Request(URL), RESPONSE))
    for _ in range(300):
        await asyncio.sleep(0)
    assert len(stored) == 100
    may_end.set()
    await page
    assert len(stored) == 250


class Cancelled:
    async def process_item(self, item: Any) -> Any:
        raise asyncio.CancelledError


async def test_an_item_that_is_neither_stored_nor_refused_is_not_passed_over() -> None:
    """Its task would end in silence, and its page count as done."""
    noted: list[Any] = []
    scraper = scraper_of(ItemProcessor, noted)
    scraper.itemproc = ItemProcessor(Cancelled(), crawler=scraper.crawler)
    await handle_output(scraper, outputs("one"), Request(URL), RESPONSE)
    assert len(noted) == 1
    assert "CancelledError() was raised, which is no Exception" in noted[0]

    def cancelling(item: Any) -> None:
        raise asyncio.CancelledError

    scraper.crawler.signals.connect(cancelling, signals.item_error)
    scraper.signals = Signals(scraper.signals.sender)
    with pytest.raises(asyncio.CancelledError):
        await handle_output(scraper, outputs("one"), Request(URL), RESPONSE)


@pytest.mark.parametrize("kind", [asyncio.CancelledError, BaseException, GeneratorExit])
async def test_what_is_no_exception_is_an_error_of_the_page(kind: type[BaseException]) -> None:
    with pytest.raises(InterruptedPageError, match=f"{kind.__name__}\\(why\\) was raised") as caught, UNINTERRUPTED:
        raise kind("why")
    assert isinstance(caught.value.__cause__, kind)


@pytest.mark.parametrize("kind", [SystemExit, KeyboardInterrupt, ValueError])
def test_what_ends_the_process_and_exceptions_pass(kind: type[BaseException]) -> None:
    with pytest.raises(kind, match="why"), UNINTERRUPTED:
        raise kind("why")


def test_a_coroutine_that_is_never_resumed_is_closed_in_silence() -> None:
    closed: list[type[BaseException]] = []

    async def waiting() -> None:
        try:
            with UNINTERRUPTED:
                await asyncio.sleep(60)
        except BaseException as error:
            closed.append(type(error))
            raise

    loop = asyncio.new_event_loop()
    task = waiting()
    loop.call_soon(task.send, None)
    loop.call_soon(loop.stop)
    loop.run_forever()
    task.close()
    loop.close()
    assert closed == [GeneratorExit]


async def test_nobody_waits_for_items_that_ended_before_the_callback_did(monkeypatch: pytest.MonkeyPatch) -> None:
    scraper: Any = SimpleNamespace(concurrent_items=2, handle_spider_error=None)
    ended: list[str] = []

    async def start_itemproc_async(item: str, *, response: Any) -> None:
        await asyncio.sleep(0)
        if item == "bad":
            raise ValueError(item)
        ended.append(item)

    async def output(*items: str) -> AsyncIterator[str]:
        for item in items:
            yield item
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            await asyncio.sleep(0)

    async def at_once(*items: str) -> AsyncIterator[str]:
        for item in items:
            yield item

    scraper.start_itemproc_async = start_itemproc_async
    await handle_output(scraper, output("a", "b"), Request(URL), RESPONSE)
    await handle_output(scraper, at_once("c", "d", "e"), Request(URL), RESPONSE)
    assert ended == ["a", "b", "c", "d", "e"]
    for way in (output, at_once):
        with pytest.raises(ValueError, match="bad"):
            await handle_output(scraper, way("bad", "f"), Request(URL), RESPONSE)
    assert ended[5:] == ["f", "f"]


class Selecting(Spider):
    """Reads a page as spiders do; other callbacks raise, each in its own way."""

    name = "selecting"

    def parse(self, response: Any, **_: Any) -> Any:
        yield {"title": response.css("title::text").get()}

    def at_once(self, response: Any) -> Any:
        raise ValueError(response.css("title::text").get())

    def midway(self, response: Any) -> Any:
        yield Request("http://a.example/next")
        raise ValueError(response.css("title::text").get())

    async def in_turn(self, response: Any) -> Any:
        yield Request("http://a.example/next")
        raise ValueError(response.css("title::text").get())

    async def awaited(self, response: Any) -> Any:
        await asyncio.sleep(0)
        raise ValueError(response.css("title::text").get())

    def by_another(self, response: Any) -> Any:
        try:
            self.at_once(response)
        except ValueError as error:
            raise KeyError("no title") from error


@pytest.mark.parametrize("callback", ["parse", "at_once", "midway", "in_turn", "awaited", "by_another"])
async def test_a_page_is_freed_at_once_however_its_callback_ends(
    monkeypatch: pytest.MonkeyPatch, callback: str
) -> None:
    monkeypatch.setattr(safe_urls, "install", lambda: None)  # for the whole process
    monkeypatch.setattr(logging.getLogger("scrapy.core.scraper"), "disabled", True)  # pytest keeps tracebacks
    crawler = get_crawler(Selecting)
    crawler.spider = spider = Selecting.from_crawler(crawler)
    scraper = Scraper(crawler)
    scraper.slot = Slot()
    scraper.itemproc = ItemProcessor(crawler=crawler)
    crawler.engine = cast("Any", Engine([], scraper))
    await scraper.itemproc.open_spider_async()

    async def scraped() -> ReferenceType[Response]:
        request = Request(URL, callback=getattr(spider, callback))
        response = HtmlResponse(URL, body=b"<title>Lamp</title>", encoding="utf-8", request=request)
        await scraper._scrape(response, request)
        return ref(response)

    await scraped()  # what is remembered of the first one only
    assert crawler.stats is not None
    gc.disable()
    try:
        assert (await scraped())() is None
    finally:
        gc.enable()
    assert crawler.stats.get_value("spider_exceptions/count", 0) == 2 * (callback != "parse")


class Failing:
    """Cannot be closed."""

    def __init__(self, error: BaseException) -> None:
        self.error = error

    def close_spider(self) -> None:
        raise self.error


class Closing:
    """Has work left when it is closed."""

    closed = False

    async def close_spider(self) -> None:
        await asyncio.sleep(0)
        self.closed = True


@pytest.mark.parametrize("error", [ValueError("no file"), asyncio.CancelledError()])
async def test_a_pipeline_that_cannot_be_closed_keeps_no_other_open(
    error: BaseException, caplog: pytest.LogCaptureFixture
) -> None:
    store = Closing()
    crawler = scraper_of(ItemProcessor, []).crawler
    await ItemProcessor(store, Failing(error), crawler=crawler).close_spider_async()
    assert store.closed
    assert [one.getMessage() for one in caplog.records] == [f"{__name__}.Failing.close_spider failed"]
    assert f"{type(error).__name__}" in caplog.text
