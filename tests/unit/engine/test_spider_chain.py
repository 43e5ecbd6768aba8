"""Folded spider middlewares beside Scrapy's own chain: the same output, errors, order and stats."""

from __future__ import annotations

import asyncio
import gc
import random
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any
from weakref import ReferenceType, ref

import pytest
from scrapy import Request, Spider
from scrapy.core.scraper import Scraper
from scrapy.core.spidermw import SpiderMiddlewareManager
from scrapy.http import Response
from scrapy.spidermiddlewares.base import BaseSpiderMiddleware
from scrapy.spidermiddlewares.depth import DepthMiddleware
from scrapy.spidermiddlewares.httperror import HttpErrorMiddleware
from scrapy.spidermiddlewares.referer import RefererMiddleware
from scrapy.spidermiddlewares.start import StartSpiderMiddleware
from scrapy.spidermiddlewares.urllength import UrlLengthMiddleware
from scrapy.utils.test import get_crawler

from crawler.engine.spider_chain import SpiderChain, fold
from crawler.middlewares.outputs import OutputMiddleware

URL = "http://a.example/"
Callback = Callable[[], Iterable[Any]]
ENDED: list[Any] = []


class Marks(BaseSpiderMiddleware):
    """Turns items into requests and back; raises for some."""

    def get_processed_request(self, request: Request, response: Response | None) -> Any:
        if "bad" in request.url:
            raise ValueError(request.url)
        return request.url if "item" in request.url else request

    def get_processed_item(self, item: Any, response: Response | None) -> Any:
        return Request(URL + "made") if item == "link" else f"{item} marked"


class Counted(OutputMiddleware[list[Any]]):
    """Of our kind: leaves other pages alone, drops, replaces, and ends after the last output."""

    def begin(self, response: Response) -> list[Any] | None:
        return None if "other" in response.url else []

    def each(self, output: Any, page: list[Any]) -> Any:
        page.append(output)
        return None if output == "link" else f"{output}!" if isinstance(output, str) else output

    def end(self, page: list[Any]) -> None:
        page.clear()
        ENDED.append(self)


class Changed(Counted):
    """Handles output in its own way, so it stands alone."""

    async def process_spider_output(self, response: Response, result: AsyncIterator[Any]) -> AsyncIterator[Any]:
        async for output in super().process_spider_output(response, result):
            yield output
        yield "changed"


class Fails(Counted):
    """Raises at the start or the end of a page, rescued or not."""

    def __init__(self, when: str, words: str = "failed") -> None:
        self.when = when
        self.words = words

    def begin(self, response: Response) -> list[Any] | None:
        if self.when == "begin":
            raise RuntimeError(self.words)
        return super().begin(response)

    def end(self, page: list[Any]) -> None:
        super().end(page)
        if self.when == "end":
            raise RuntimeError(self.words)


class Waits(OutputMiddleware[Response]):
    """Is waited for at the end of a page, and fails then if it was told to."""

    def __init__(self, words: str = "") -> None:
        self.words = words

    def begin(self, response: Response) -> Response:
        return response

    async def end(self, page: Response) -> None:
        await asyncio.sleep(0)
        ENDED.append(self)
        if self.words:
            raise RuntimeError(self.words)


class AsksForSpider(OutputMiddleware[Response]):
    """In its own way, and with the argument that Scrapy has given up."""

    async def process_spider_output(self, response: Any, result: Any, spider: Any = None) -> Any:
        async for output in result:
            yield output
        yield spider.name


class Own(Marks):
    """Has another way to handle output, so it stands alone."""

    async def process_spider_output_async(self, response: Any, result: Any, spider: Any = None) -> Any:
        async for output in result:
            yield output
        yield "the end"


class Rescuer:
    """Yields something in the place of an exception."""

    def process_spider_exception(self, response: Response, exception: Exception) -> list[str] | None:
        return [f"instead of {exception}"] if "rescue" in str(exception) else None


def middle() -> Iterator[Any]:
    yield {"title": "Lamp"}
    yield Request(URL + "a")
    raise RuntimeError("midway, rescue")


CALLBACKS: dict[str, Callback] = {
    "all kinds": lambda: [Request(URL + "1"), "item", "link", None, Request(URL + "item"), Request(URL + "x" * 3_000)],
    "nothing": list,
    "an error in a middleware": lambda: [Request(URL + "1"), Request(URL + "bad"), Request(URL + "2")],
    "one that is rescued": lambda: [Request(URL + "1"), Request(URL + "bad/rescue"), Request(URL + "2")],
    "an error midway": middle,
    "deep": lambda: [Request(URL, meta={"depth_reset": True}), Request(URL + "2")],
}
Chain = Sequence[Callable[..., Any]]
CHAINS: dict[str, Chain] = {
    "as shipped": [HttpErrorMiddleware, StartSpiderMiddleware, RefererMiddleware, UrlLengthMiddleware, DepthMiddleware],
    "one": [Marks],
    "a rescuer between": [Marks, Rescuer, RefererMiddleware, Marks, DepthMiddleware],
    "a rescuer outside": [Rescuer, Marks, DepthMiddleware, UrlLengthMiddleware],
    "one of another kind between": [Marks, RefererMiddleware, Own, Marks, DepthMiddleware],
    "one of another kind inside": [Rescuer, UrlLengthMiddleware, Own],
    "ours between Scrapy's": [Rescuer, Marks, Counted, RefererMiddleware, Counted, DepthMiddleware, Counted],
    "ours around one that handles exceptions": [Counted, Rescuer, Counted],
    "ours, changed": [Counted, Changed, Counted],
    "one that asks for the spider": [Counted, AsksForSpider, Counted],
    "one that fails at first": [Rescuer, Counted, partial(Fails, "begin"), Counted],
    "one that fails at last": [Rescuer, Counted, partial(Fails, "end"), Counted],
    "one that is rescued at first": [Counted, Rescuer, partial(Fails, "begin", "rescue"), Counted],
    "one that is waited for": [Counted, Waits, Counted],
    "one that is rescued at last": [Counted, Rescuer, partial(Fails, "end", "rescue"), Counted],
}
RANDOM: tuple[Callable[..., Any], ...] = (
    *(Counted, Changed, Rescuer, HttpErrorMiddleware, AsksForSpider),
    *(Waits, partial(Waits, "failed"), partial(Waits, "rescue")),
    *(partial(Fails, when, words) for when in ("begin", "end") for words in ("failed", "rescue")),
)


def shown(output: Any) -> Any:
    if not isinstance(output, Request):
        return output
    return output.url, dict(output.meta), output.headers.get("Referer")


async def scraped(chain: Chain, callback: Callback, *, folded: bool, url: str = URL) -> tuple[list[Any], Any, int]:
    """What comes out, the stats and which of ours came to an end, and how many generators there are."""
    ENDED.clear()
    crawler = get_crawler(settings_dict={"DEPTH_STATS_VERBOSE": True, "DEPTH_LIMIT": 3})
    crawler.spider = Spider("s")
    made = [getattr(one, "from_crawler", lambda _, one=one: one())(crawler) for one in chain]
    manager = SpiderMiddlewareManager(*made, crawler=crawler)
    if folded:
        fold(manager)
    response = Response(url, request=Request(url, meta={"depth": 2}))
    assert response.request is not None

    async def found(*_: Any) -> Any:
        return callback()

    out: list[Any] = []
    try:
        async for each in await manager.scrape_response_async(found, response, response.request):
            out.append(shown(each))  # noqa: PERF401 - what came before an error counts
    except Exception as error:  # noqa: BLE001 - it is compared
        out.append(repr(error))
    assert crawler.stats is not None
    ended = [made.index(one) for one in ENDED]
    return out, (crawler.stats.get_stats(), ended), len(SpiderChain(manager).segments)


@pytest.mark.parametrize("callback", CALLBACKS.values(), ids=CALLBACKS)
@pytest.mark.parametrize("chain", CHAINS.values(), ids=CHAINS)
async def test_the_same_comes_out(chain: Chain, callback: Callback) -> None:
    assert await scraped(chain, callback, folded=True) == await scraped(chain, callback, folded=False)


@pytest.mark.parametrize("seed", range(4))
async def test_the_same_comes_out_of_any_chain(seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(25):
        chain = chance.choices(RANDOM, k=chance.randint(1, 6))
        callback = chance.choice(list(CALLBACKS.values()))
        assert await scraped(chain, callback, folded=True) == await scraped(chain, callback, folded=False), chain


@pytest.mark.parametrize("folded", [True, False])
async def test_ours_leaves_a_page_alone(folded: bool) -> None:
    out, (_, ended), _ = await scraped([Counted, Counted], CALLBACKS["all kinds"], folded=folded, url=f"{URL}other")
    assert [one for one in out if isinstance(one, str)] == ["item", "link"]
    assert ended == []


async def test_those_that_follow_each_other_are_one() -> None:
    assert (await scraped(CHAINS["as shipped"], list, folded=True))[2] == 1
    assert (await scraped(CHAINS["ours between Scrapy's"], list, folded=True))[2] == 1
    assert (await scraped(CHAINS["one of another kind between"], list, folded=True))[2] == 2
    assert (await scraped(CHAINS["ours, changed"], list, folded=True))[2] == 2


@pytest.mark.parametrize("output", [Request(URL), None, "item"], ids=["requests", "nothing", "items"])
async def test_a_callback_without_end_leaves_turns_to_others(output: Any) -> None:
    turns: list[int] = []

    def endless() -> Iterator[Any]:
        for number in range(100_000):
            if len(turns) == 3:
                return
            yield output if number % 2 else None

    async def others() -> None:
        while len(turns) < 3:
            turns.append(len(turns))
            await asyncio.sleep(0)

    other = asyncio.create_task(others())
    await scraped(CHAINS["as shipped"], endless, folded=True)
    assert turns == [0, 1, 2]
    await other


async def test_a_refused_page_is_freed_at_once() -> None:
    crawler = get_crawler()
    crawler.spider = Spider("s")
    scraper = Scraper(crawler)
    manager = SpiderMiddlewareManager(HttpErrorMiddleware.from_crawler(crawler), crawler=crawler)
    fold(manager)

    async def pages() -> list[ReferenceType[Response]]:
        found = []
        for _ in range(2):
            response = Response(URL, status=404, body=b"nothing here", request=Request(URL))
            assert response.request is not None
            outputs = await manager.scrape_response_async(scraper.call_spider_async, response, response.request)
            assert [output async for output in outputs] == []
            found.append(ref(response))
        return found

    gc.disable()
    try:
        assert [page() for page in await pages()] == [None, None]
    finally:
        gc.enable()
