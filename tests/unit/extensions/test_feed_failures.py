"""Feeds that cannot be written, beside others."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import pytest
from scrapy import Spider, signals
from scrapy.utils.test import get_crawler

FULL = Path("/dev/full")
EXTENSION = "crawler.extensions.feed_failures.FeedFailuresExtension"

pytestmark = pytest.mark.skipif(not FULL.exists(), reason="needs /dev/full")


async def exported(feeds: dict[str, Any], items: list[dict[str, Any]]) -> Any:
    """The stats after a crawl with these items."""
    crawler = get_crawler(Spider, {"FEEDS": feeds, "EXTENSIONS": {EXTENSION: 0}})
    crawler.spider = crawler._create_spider("quotes")
    await crawler.signals.send_catch_log_async(signals.spider_opened, spider=crawler.spider)
    for item in items:
        await crawler.signals.send_catch_log_async(signals.item_scraped, item=item, spider=crawler.spider)
    await crawler.signals.send_catch_log_async(signals.spider_closed, spider=crawler.spider, reason="finished")
    return crawler.stats


async def test_a_feed_on_a_full_disk_is_told_once_and_the_next_one_has_all_items(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    full, good = tmp_path / "full.jl", tmp_path / "good-%(batch_id)d.jl"
    full.symlink_to(FULL)
    lines = {"format": "jsonlines"}
    caplog.set_level(logging.ERROR)
    items = [{"n": n, "text": "x" * 1_000} for n in range(50)]
    stats = await exported({str(full): lines, str(good): lines | {"batch_item_count": 20}}, items)
    lost = stats.get_value("feeds/items_lost")
    told = [record.getMessage() for record in caplog.records if record.name.startswith(("crawler.", "scrapy.utils"))]
    assert lost > 40
    counted = "it lacks an item; further ones are counted (feeds/items_lost) and told at the end"
    assert told == [
        f"Feed {full} cannot be written (No space left on device): {counted}",
        f"Feed {full} lacks {lost} items that could not be written",
    ]
    written = [(tmp_path / f"good-{batch}.jl").read_text().splitlines() for batch in (1, 2, 3)]
    assert [len(lines) for lines in written] == [20, 20, 10]
    assert [json.loads(line) for lines in written for line in lines] == items


async def test_an_item_that_no_feed_can_write_is_still_an_error_of_its_own(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    first, second = ({"format": name} for name in ("jsonlines", "csv"))
    await exported(
        {str(tmp_path / "a.jl"): first, str(tmp_path / "b.csv"): second}, [{"n": object()}, {"n": 1}, {"n": 2}]
    )
    assert "is not JSON serializable" in caplog.text
    assert len((tmp_path / "a.jl").read_text().splitlines()) == 2
    assert (tmp_path / "b.csv").read_text().split() == ["n", "1", "2"]
