"""Spider middlewares of older releases: what they get, and what comes of it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from scrapy import Spider
from scrapy.core.spidermw import SpiderMiddlewareManager
from scrapy.http import Response
from scrapy.utils.test import get_crawler

from crawler.engine import old_output
from crawler.engine.spider_chain import SpiderChain

pytestmark = pytest.mark.filterwarnings("ignore:.*requires a spider argument")
PAGE = Response("http://a.example/")


class Marks:
    """As Scrapy's template had it."""

    def process_spider_output(self, response: Response, result: Any, spider: Spider) -> Iterator[Any]:
        for one in result:
            yield f"{one} of {spider.name}"


class Listed:
    """Returns a list; nearer to the spider."""

    def process_spider_output(self, response: Response, result: Any) -> list[Any]:
        return [one.upper() for one in result if one != "b"]


class Rescues:
    """Sees an exception of the callback while it reads the output."""

    def process_spider_output(self, response: Response, result: Any) -> Iterator[Any]:
        try:
            yield from result
        except ValueError as error:
            yield f"after {error}"


class New:
    """Of today."""

    async def process_spider_output(self, response: Response, result: AsyncIterator[Any]) -> AsyncIterator[Any]:
        async for one in result:
            yield f"new {one}"


@pytest.fixture(autouse=True)
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        SpiderMiddlewareManager, "_get_process_spider_output", SpiderMiddlewareManager._get_process_spider_output
    )
    old_output.install()


async def passed(*middlewares: Any, fails: bool = False) -> list[Any]:
    """What is left of the output of a page, and the exception that it ends with; the first of *middlewares* is nearest
    to the engine."""
    crawler = get_crawler()
    crawler.spider = Spider("s")
    chain = SpiderChain(SpiderMiddlewareManager(*middlewares, crawler=crawler))

    async def callback() -> AsyncIterator[Any]:
        for one in "abc":
            yield one
        if fails:
            raise ValueError("oops")

    found: list[Any] = []
    try:
        async for one in await chain.process(PAGE, callback()):
            found.append(one)  # noqa: PERF401 - those before an exception, too
    except ValueError as error:
        found.append(error.args[0])
    return found


async def test_old_and_new_ones_stand_beside_each_other() -> None:
    assert await passed(Marks(), New(), Listed()) == ["new A of s", "new C of s"]


@pytest.mark.parametrize(
    ("middleware", "found"),
    [(Rescues(), ["a", "b", "c", "after oops"]), (Marks(), ["a of s", "b of s", "c of s", "oops"])],
)
async def test_what_comes_before_an_exception_passes_and_then_it_is_seen(middleware: Any, found: list[str]) -> None:
    assert await passed(middleware, fails=True) == found


class Forgets:
    """Its author forgot the `yield`."""

    def process_spider_output(self, response: Response, result: Any) -> None:
        for _ in result:
            pass


class Coroutine:
    """No release of Scrapy takes that."""

    async def process_spider_output(self, response: Response, result: Any) -> list[Any]:
        return [one async for one in result]


async def test_one_that_returns_no_iterable_is_named() -> None:
    with pytest.raises(TypeError, match=r"Forgets\.process_spider_output returned None: expected an iterable"):
        await passed(Forgets())


async def test_a_coroutine_is_refused_at_the_start_as_by_scrapy() -> None:
    with pytest.raises(TypeError, match="Coroutine doesn't support asynchronous spider output"):
        await passed(Coroutine())
