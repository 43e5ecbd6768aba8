"""A writer that may wait no longer: its items are not stored, and nobody takes them for stored."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from pymongo.errors import AutoReconnect
from scrapy import Request, signals
from scrapy.exceptions import DropItem
from scrapy.http import Response
from scrapy.utils.test import get_crawler

from crawler.errors import UnstoredItem
from crawler.items import PageItem
from crawler.pipelines.drops import RejectedItem
from crawler.pipelines.mongodb import MongoPipeline
from crawler.policy.outcome import Evidence, Verdict, conclude
from crawler.storage.config import StorageConfig
from crawler.storage.outage import AwayError, MongoOutage
from crawler.storage.writer import Writer
from tests.integration.storage.observing import RecordedStats

ITEM = PageItem(url="http://a.example/", title="a page")
LONG_SECONDS = 0.05


class Away:
    """A repository whose server is away."""

    async def store(self, *_: Any) -> Any:
        raise AutoReconnect("away")

    reject = store


class FullSpool:
    """A spool without room."""

    taken = False

    async def take(self, entries: Sequence[Any]) -> bool:
        return False


def writer(spool: Any = None) -> tuple[Writer, list[float]]:
    """One that gives up after LONG_SECONDS, and for how long MongoDB was away each time that it asked."""
    asked: list[float] = []

    def gives_up(seconds: float) -> bool:
        asked.append(seconds)
        return seconds > LONG_SECONDS

    outage = MongoOutage(RecordedStats(), "here", 0.05)
    return Writer(Away(), StorageConfig(batch_ms=1), outage, spool, gives_up=gives_up), asked  # type: ignore[arg-type]


@pytest.mark.parametrize("spool", [None, FullSpool()])
async def test_items_and_rejections_wait_only_so_long(spool: Any) -> None:
    made, asked = writer(spool)
    with pytest.raises(AwayError):
        await made.store(ITEM)
    with pytest.raises(AwayError):
        await made.reject(ITEM, ["no price"])
    assert asked[0] <= LONG_SECONDS < asked[-1]


async def test_whoever_ends_the_page_hears_of_it() -> None:
    crawler = get_crawler()
    pipeline = MongoPipeline.__new__(MongoPipeline)
    pipeline._writer, _ = writer()
    pipeline._crawler, pipeline._timings = crawler, None
    heard: list[tuple[str, DropItem]] = []

    def dropped(item: Any, response: Response, exception: DropItem) -> None:
        heard.append((response.url, exception))

    crawler.signals.connect(dropped, signals.item_dropped)
    with pytest.raises(UnstoredItem, match="MongoDB is away"):
        await pipeline.process_item(ITEM)
    page = Response(ITEM.url, request=Request(ITEM.url))
    await pipeline.item_dropped(ITEM, page, RejectedItem(["no price"]))
    assert [(url, type(error)) for url, error in heard] == [(page.url, UnstoredItem)]


def test_its_page_is_given_back_whatever_else_befell_it() -> None:
    assert conclude(Evidence(unstored=True, parsed=True, handed=True)).verdict is Verdict.GIVE_BACK
    assert conclude(Evidence(unstored=True, spider_error="ValueError")).verdict is Verdict.GIVE_BACK
