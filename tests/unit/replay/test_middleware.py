"""What becomes of a callback's output in a re-parse."""

from __future__ import annotations

from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import Any, cast

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import Response

from crawler.items import ProductItem
from crawler.replay import counts
from crawler.replay.middleware import ReplayMiddleware


class Stats(dict[str, int]):
    """As much of a collector as is asked."""

    def inc_value(self, name: str) -> None:
        self[name] = self.get(name, 0) + 1


async def _output(*outputs: Any) -> AsyncIterator[Any]:
    for output in outputs:
        yield output


async def test_requests_are_counted_and_discarded() -> None:
    stats = Stats()
    middleware = ReplayMiddleware(cast("Crawler", SimpleNamespace(engine=SimpleNamespace(scheduler=None), stats=stats)))
    item, url = ProductItem(url="http://shop.example/p/1"), "http://shop.example/"
    result = middleware.process_spider_output(Response(url), _output(Request(url), item, {"a": 1}, Request(url)))
    assert [one async for one in result] == [item, {"a": 1}]
    assert stats == {counts.DISCARDED: 2}
