"""What a re-parse says about an item, and whether storing it would change anything."""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pymongo.errors import AutoReconnect
from scrapy import signals
from scrapy.exceptions import DropItem
from scrapy.utils.test import get_crawler

from crawler.commands.views.reparse_report import ReparseReport
from crawler.errors import UnstoredItem
from crawler.items import ProductItem
from crawler.replay import counts
from crawler.replay.__main__ import Reporter
from crawler.replay.differences import DifferencesPipeline, Judgement, _judged
from crawler.storage.outage import MongoOutage
from crawler.storage.reading import reader
from tests.integration.storage.observing import RecordedStats

AT = datetime(2026, 3, 1, 12, 30, tzinfo=UTC)
URL = "http://shop.example/p/1"
ITEM = ProductItem(url=URL, title="Knife", brand="Acme")


@pytest.mark.parametrize(
    ("stored", "expected"),
    [
        (None, Judgement("new", {})),
        ({"last_seen_at": AT, "content_hash": "now"}, Judgement("unchanged", {}, decided=True)),
        ({"last_seen_at": AT - timedelta(days=1), "content_hash": "now"}, Judgement("unchanged", {}, decided=False)),
        ({"last_seen_at": AT + timedelta(days=1), "content_hash": "now"}, Judgement("older", {})),
        (
            {"last_seen_at": AT, "content_hash": "then"},
            Judgement("changed", {"brand": {"old": None, "new": "Acme"}}),
        ),
        ({"last_seen_at": "odd"}, Judgement("changed", {"brand": {"old": None, "new": "Acme"}})),
        ({}, Judgement("changed", {"brand": {"old": None, "new": "Acme"}})),
    ],
)
def test_only_what_is_stored_just_so_from_the_same_fetch_is_settled(
    stored: dict[str, Any] | None, expected: Judgement
) -> None:
    heads = {} if stored is None else {URL: stored}
    whole = {URL: {"_id": URL, "url": URL, "title": "Knife"}}
    assert _judged(ITEM, URL, "now", AT, heads, whole) == expected


def test_an_item_that_cannot_be_stored_is_left_to_the_store_to_refuse() -> None:
    assert _judged(ITEM, "", "", None, {}, {}) == Judgement("refused", {})


def pipeline(monkeypatch: pytest.MonkeyPatch, times: int) -> tuple[DifferencesPipeline, RecordedStats]:
    """One that waits no longer than a minute for a MongoDB which does not answer the first *times* times."""
    answers = iter(range(times))

    async def heads(*_: Any) -> AsyncIterator[dict[str, Any]]:
        if next(answers, None) is not None:
            raise AutoReconnect("away")
        for one in list[dict[str, Any]]():
            yield one

    monkeypatch.setattr(reader, "heads", heads)
    monkeypatch.setattr(reader, "documents", heads)
    stats, nothing = RecordedStats(), Any
    outage = MongoOutage(stats, "here", 0.001, clock=itertools.count(step=10).__next__)
    return DifferencesPipeline(nothing, nothing, 2**20, stats, outage, lambda seconds: seconds > 60), stats  # type: ignore[arg-type]


async def test_items_wait_while_mongodb_is_away(monkeypatch: pytest.MonkeyPatch) -> None:
    made, stats = pipeline(monkeypatch, times=2)
    item = replace(ITEM, fetched_at=AT)
    assert await made.process_item(item) is item
    assert stats.values[counts.ITEMS.format("new")] == 1


async def test_an_item_that_is_too_large_to_be_stored_is_no_change(monkeypatch: pytest.MonkeyPatch) -> None:
    made, stats = pipeline(monkeypatch, times=0)
    await made.process_item(replace(ITEM, fetched_at=AT, description="x" * 2**20))
    assert stats.values == {counts.ITEMS.format("refused"): 1}


async def test_they_wait_no_longer_than_a_worker_that_has_to_end(monkeypatch: pytest.MonkeyPatch) -> None:
    made, stats = pipeline(monkeypatch, times=1_000)
    with pytest.raises(UnstoredItem):
        await made.process_item(replace(ITEM, fetched_at=AT))
    assert counts.ITEMS.format("new") not in stats.values


@pytest.mark.parametrize(
    ("signal", "exception", "failed"),
    [
        (signals.item_error, ValueError(), 1),
        (signals.item_dropped, UnstoredItem(), 1),
        (signals.item_dropped, DropItem("too cheap"), 0),
    ],
)
def test_failed_items_are_counted_and_the_exit_status_tells(signal: Any, exception: Exception, failed: int) -> None:
    crawler = get_crawler()
    reporter = Reporter(crawler)
    crawler.signals.send_catch_log(signal, item=ITEM, response=None, exception=exception, spider=None)
    assert crawler.stats is not None
    report = ReparseReport()
    report.add({"stats": crawler.stats.get_stats(), "examples": reporter._examples})
    assert (report.lost, report.stats[counts.FAILED]) == (failed, failed)
