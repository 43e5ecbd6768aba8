"""Items whose values raise when they are looked at: rejected at once with the reason. A retry would bring the same."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any

import pytest
from scrapy import Spider
from scrapy.crawler import Crawler
from scrapy.statscollectors import MemoryStatsCollector

from crawler.items import PageItem, ProductItem
from crawler.pipelines.clean import CleanPipeline
from crawler.pipelines.dedupe import DedupePipeline
from crawler.pipelines.drops import RejectedItem, reject
from crawler.pipelines.validate import ValidatePipeline
from crawler.storage.items import origin
from crawler.storage.items.documents import document
from crawler.storage.items.origin import Origin
from crawler.storage.items.rejections import Rejection
from crawler.storage.items.values import UnstorableError

URL = "http://shop.example/p"
NOW = datetime(2026, 3, 1, tzinfo=UTC)
HERE = Origin(URL, NOW, {"spider": "s"})


class Mute:
    """Shows itself to nobody, not even in a message."""

    def __repr__(self) -> str:
        raise RuntimeError("mute")

    __str__ = __repr__


class Torn(Mute):
    """Is neither equal nor true."""

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("mute")

    def __bool__(self) -> bool:
        raise RuntimeError("mute")

    __hash__ = object.__hash__


class Nowhere(tzinfo):
    def utcoffset(self, when: datetime | None) -> timedelta | None:
        raise RuntimeError("no offset")

    def dst(self, when: datetime | None) -> None: ...

    def tzname(self, when: datetime | None) -> None: ...


class Word(str):
    """A text of another library."""

    __slots__ = ()

    def isascii(self) -> bool:
        raise RuntimeError("no text")


class Closed(dict[str, int]):
    def items(self) -> Any:
        raise RuntimeError("closed")


def without_title() -> ProductItem:
    item = ProductItem(url=URL)
    del item.title
    return item


ITEMS: dict[str, Callable[[], Any]] = {
    "a key without a text": lambda: {Mute(): 1},
    "a text that cannot be encoded": lambda: {"a": Word("x")},
    "a name that cannot be encoded": lambda: {"a": {Word("x y"): 1}},
    "a map that does not open": lambda: {"a": Closed(b=1)},
    "a field without a value": without_title,
    "a URL that is nothing": lambda: PageItem(url=Torn()),  # type: ignore[arg-type]
    "a key that is nothing": lambda: PageItem(url=URL, title="t", text="x", key=Torn()),  # type: ignore[arg-type]
    "a title that is nothing": lambda: ProductItem(url=URL, title=Torn()),  # type: ignore[arg-type]
    "a price of 5,000 digits": lambda: ProductItem(url=URL, title="t", price=10**5000),  # type: ignore[arg-type]
    "a source without a text": lambda: PageItem(url=URL, title="t", text="x", source=Mute()),  # type: ignore[arg-type]
    "a time in no zone": lambda: PageItem(url=URL, title="t", text="x", fetched_at=NOW.replace(tzinfo=Nowhere())),
    "a time without a text": lambda: PageItem(url=URL, title="t", text="x", fetched_at=Mute()),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("kind", sorted(ITEMS))
async def test_it_is_rejected_with_the_reason(kind: str) -> None:
    item, stats = ITEMS[kind](), MemoryStatsCollector(Crawler(Spider))
    pipelines = (
        CleanPipeline(1000, stats),
        ValidatePipeline((), stats),
        DedupePipeline(10, 60, stats, lambda: NOW),
    )
    reasons: list[str] = []
    with origin.being(HERE):
        try:
            for pipeline in pipelines:
                item = await pipeline.process_item(item)
            document(item, getattr(item, "fetched_at", NOW) or NOW, 2**20, HERE)
        except RejectedItem as rejected:
            reasons = rejected.reasons
        except UnstorableError as error:
            reasons = [f"{error.issue}: {error}"]
    assert reasons
    kept = Rejection.of(item, reasons, NOW, 2**20, HERE).body
    assert (kept["page"], kept["reasons"], bool(kept["item"])) == (URL, reasons, True)


def test_a_line_in_the_log_is_text_for_any_encoding(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING)
    with pytest.raises(RejectedItem):
        reject(PageItem(url="http://a.example/\ud800"), ["x: \udfff"], MemoryStatsCollector(Crawler(Spider)))
    assert caplog.messages == [r"Rejected http://a.example/\ud800, kept in rejected_items: x: \udfff"]
