"""Repetitions are dropped, news and recrawls are not."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from scrapy import Spider
from scrapy.crawler import Crawler
from scrapy.statscollectors import MemoryStatsCollector

from crawler.items import PageItem, ProductItem
from crawler.pipelines.dedupe import DedupePipeline
from crawler.pipelines.drops import DuplicateItem
from crawler.storage.items import origin
from crawler.storage.items.origin import Origin

START = datetime(2026, 3, 1, tzinfo=UTC)


def product(title: str = "Knife", seconds: float = 0, **fields: Any) -> ProductItem:
    values = {"url": "https://a.example/1"} | fields
    return ProductItem(title=title, fetched_at=START + timedelta(seconds=seconds), **values)


@pytest.fixture
def stats() -> MemoryStatsCollector:
    return MemoryStatsCollector(Crawler(Spider))


@pytest.fixture
def pipeline(stats: MemoryStatsCollector) -> DedupePipeline:
    return DedupePipeline(3, 60, stats, lambda: START)


async def passes(pipeline: DedupePipeline, item: Any) -> bool:
    try:
        return await pipeline.process_item(item) is item
    except DuplicateItem:
        return False


async def test_repetition_is_dropped_and_counted(pipeline: DedupePipeline, stats: MemoryStatsCollector) -> None:
    assert await passes(pipeline, product())
    assert not await passes(pipeline, product(seconds=59, source={"request_id": "other"}))
    assert stats.get_value("items/duplicate") == 1


async def test_recrawl_passes_after_the_window_or_in_another_generation(pipeline: DedupePipeline) -> None:
    assert await passes(pipeline, product())
    assert await passes(pipeline, product(seconds=60))
    assert await passes(pipeline, product(seconds=61, source={"generation": 2}))
    assert not await passes(pipeline, product(seconds=62, source={"generation": 2}))


async def test_change_and_change_back_pass(pipeline: DedupePipeline) -> None:
    assert [await passes(pipeline, product(title)) for title in ("a", "b", "a", "a")] == [True, True, True, False]


async def test_pages_that_state_one_url_and_differ_are_told_of(
    pipeline: DedupePipeline, stats: MemoryStatsCollector, caplog: pytest.LogCaptureFixture
) -> None:
    """As where a template names one URL on each page: of the whole site one document is left."""

    async def seen(page: str, title: str, run: str = "1") -> None:
        with origin.being(Origin(f"https://a.example/{page}", START)):
            assert await passes(pipeline, product(title, source={"generation": run}))

    await seen("1", "Knife")
    await seen("1?utm_source=mail", "Knife, sharpened")
    await seen("2", "Fork", run="2")
    assert stats.get_value("storage/contested") is None
    for page, title in (("3", "Spoon"), ("4", "Pan")):
        await seen(page, title, run="2")
    assert stats.get_value("storage/contested") == 2
    (told,) = [record.getMessage() for record in caplog.records]
    assert told.startswith("https://a.example/2 and https://a.example/3 differ, and both say that their URL is https")


async def test_other_items_do_not_count(pipeline: DedupePipeline) -> None:
    assert await passes(pipeline, product())
    assert await passes(pipeline, product(key="k"))
    assert await passes(pipeline, PageItem(url="https://a.example/1", title="Knife", fetched_at=START))
    assert await passes(pipeline, {"title": "Knife"})
    assert await passes(pipeline, {"title": "Knife"})


async def test_memory_is_bounded(pipeline: DedupePipeline) -> None:
    items = [product(url=f"https://a.example/{n}") for n in range(4)]
    assert [await passes(pipeline, item) for item in items] == [True] * 4
    assert await passes(pipeline, items[0])
    assert not await passes(pipeline, items[3])


async def test_item_whose_storing_failed_passes_again(pipeline: DedupePipeline) -> None:
    assert await passes(pipeline, product())
    pipeline.forget(product())
    assert await passes(pipeline, product())


async def test_what_has_no_content_hash_is_left_to_storage(pipeline: DedupePipeline) -> None:
    metadata: dict[str, Any] = {}
    metadata["self"] = metadata
    assert await passes(pipeline, PageItem(url="https://a.example/1", metadata=metadata))
    nested: Any = 1
    for _ in range(100_000):
        nested = [nested]
    assert await passes(pipeline, PageItem(url="https://a.example/1", metadata={"deep": nested}))
