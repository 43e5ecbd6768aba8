"""Fields are graded for the worker's figures, and for those of the run that their page belongs to."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from scrapy.crawler import Crawler
from scrapy.spiders import Spider
from scrapy.statscollectors import MemoryStatsCollector

from crawler.counting.tallies import Tallies
from crawler.items import PageItem
from crawler.pipelines.validate import ValidatePipeline
from crawler.storage.items import origin
from crawler.storage.items.origin import Origin

RUN = "20260101000001"


@pytest.mark.parametrize(("generation", "counted"), [(RUN, True), ("0", False), ("", False)])
async def test_only_a_run_of_its_own_is_counted_apart(generation: str, counted: bool) -> None:
    tallies = Tallies()
    stats = MemoryStatsCollector(Crawler(Spider))
    pipeline = ValidatePipeline((), stats, tallies)
    page = Origin("https://a.example/", datetime(2026, 1, 1, tzinfo=UTC), {"generation": generation})
    with origin.being(page):
        await pipeline.process_item(PageItem(url="https://a.example/", title="A page"))
    await pipeline.process_item(PageItem(url="https://a.example/", title="A page of nobody"))
    assert stats.get_value("items/present/title") == 2
    fields = tallies.fields.take()
    assert fields[generation, "present", "title"] == int(counted)
    assert bool(fields) is counted
