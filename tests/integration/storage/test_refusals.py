"""What an operator has put in the way of one collection stops no other, and nobody waits for it."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import pytest
from scrapy import signals
from scrapy.exceptions import DropItem
from scrapy.http import Response
from scrapy.utils.test import get_crawler

from crawler.pipelines.drops import RejectedItem
from crawler.pipelines.mongodb import MongoPipeline
from crawler.storage.connection import Database
from crawler.storage.duplicates import LINKS
from crawler.storage.repository import StoreResult
from crawler.storage.run_items import COLLECTION
from crawler.storage.values import UnstorableError
from crawler.storage.writer import Writer
from tests.integration.storage.observing import RecordedStats, a_writer, seen

OURS: dict[str, Any] = {"source": {"run": "20260301-1"}}
SHOP = "http://shop.example/"


async def no_more(database: Database, collection: str) -> None:
    """Whatever is to be written there now is refused."""
    await database[collection].insert_one({"of": "the operator"})
    await database.command("collMod", collection, validator={"nothing": "like this"}, validationLevel="strict")


async def test_items_are_stored_though_their_run_is_not_recorded(
    writer: Writer, database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    await no_more(database, COLLECTION)
    async with asyncio.timeout(20):
        for second in (1, 2):
            assert await writer.store(seen(second, url=f"{SHOP}{second}", **OURS)) is StoreResult.NEW
    (line,) = [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR]
    assert "`scrapy runs diff` lacks items: Document failed validation" in line


async def test_an_item_is_stored_where_its_link_is_not(writer: Writer, database: Database) -> None:
    await no_more(database, LINKS)
    async with asyncio.timeout(20):
        for name in ("one", "two"):
            assert await writer.store(seen(1, url=SHOP + name, gtin="4006381333931")) is StoreResult.NEW


async def test_a_key_that_another_index_takes_is_a_refusal(writer: Writer, database: Database) -> None:
    await database.products.create_index("title", unique=True)
    await writer.store(seen(1, url=SHOP + "one"))
    async with asyncio.timeout(20):
        with pytest.raises(UnstorableError, match=r"E11000.*title"):
            await writer.store(seen(1, url=SHOP + "two"))
        await writer.store(seen(2, "11", url=SHOP + "two", title="Fork"))
        with pytest.raises(UnstorableError, match=r"E11000.*title"):
            await writer.store(seen(3, "12", url=SHOP + "two"))


async def test_an_index_in_the_way_is_named_and_nobody_waits(
    database: Database, stats: RecordedStats, caplog: pytest.LogCaptureFixture
) -> None:
    await database["items"].create_index("elsewhere", name="url")
    writer = a_writer(database, stats, batch_ms=5)
    await writer.open()
    async with asyncio.timeout(20):
        assert await writer.store({"a": 1}) is StoreResult.NEW
        await writer.close()
    assert any("refuses indexes of items" in record.getMessage() for record in caplog.records)


async def test_a_rejected_item_that_is_not_kept_makes_its_page_a_dead_letter(
    writer: Writer, database: Database
) -> None:
    await no_more(database, "rejected_items")
    crawler = get_crawler()
    pipeline = MongoPipeline.__new__(MongoPipeline)
    pipeline._writer, pipeline._crawler = writer, crawler
    heard: list[Any] = []

    def failed(item: Any, response: Response, failure: Any) -> None:
        heard.append((item, response.url, type(failure.value)))

    crawler.signals.connect(failed, signals.item_error)
    dropped: DropItem = RejectedItem(["missing_title: title = None"])
    await pipeline.item_dropped({"a": 1}, Response(SHOP), dropped)
    assert heard == [({"a": 1}, SHOP, UnstorableError)]
