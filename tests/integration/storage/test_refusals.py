"""What an operator has put in the way of one collection stops no other, and nobody waits for it."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from typing import Any, ClassVar

import pytest
from scrapy import signals
from scrapy.exceptions import DropItem
from scrapy.http import Response
from scrapy.utils.test import get_crawler

from crawler.errors import ServiceError
from crawler.items import Item
from crawler.pipelines.drops import RejectedItem
from crawler.pipelines.mongodb import MongoPipeline
from crawler.storage import foreign_collections
from crawler.storage.collection_names import DUPLICATES, RUN_ITEMS
from crawler.storage.connection import Database
from crawler.storage.items.repository import StoreResult
from crawler.storage.items.values import UnstorableError
from crawler.storage.writer import Writer
from tests.integration.storage.observing import RecordedStats, a_writer, seen, until

OURS: dict[str, Any] = {"source": {"run": "20260301-1"}}
SHOP = "http://shop.example/"


@dataclass(kw_only=True)
class Offer(Item):
    """Of a spider's own class: nobody knows of its collection before the first one."""

    collection: ClassVar[str] = "offers"

    price: int = 0


LOSSY: dict[str, tuple[dict[str, Any], str]] = {
    "capped": ({"capped": True, "size": 4096}, "deletes its oldest documents"),
    "collation": ({"collation": {"locale": "en", "strength": 2}}, "different URLs can be equal"),
    "timeseries": ({"timeseries": {"timeField": "fetched_at"}}, "is a timeseries"),
    "view": ({"viewOn": "elsewhere", "pipeline": []}, "is a view"),
}


async def no_more(database: Database, collection: str) -> None:
    """Whatever is to be written there now is refused."""
    await database[collection].insert_one({"of": "the operator"})
    await database.command("collMod", collection, validator={"nothing": "like this"}, validationLevel="strict")


async def test_items_are_stored_though_their_run_is_not_recorded(
    writer: Writer, database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    await no_more(database, RUN_ITEMS)
    async with asyncio.timeout(60):
        for second in (1, 2):
            assert await writer.store(seen(second, url=f"{SHOP}{second}", **OURS)) is StoreResult.NEW
    (line,) = [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR]
    assert "`scrapy runs diff` lacks items: Document failed validation" in line


async def test_an_item_is_stored_where_its_link_is_not(writer: Writer, database: Database) -> None:
    await no_more(database, DUPLICATES)
    async with asyncio.timeout(60):
        for name in ("one", "two"):
            assert await writer.store(seen(1, url=SHOP + name, gtin="4006381333931")) is StoreResult.NEW


async def test_a_key_that_another_index_takes_is_a_refusal(writer: Writer, database: Database) -> None:
    await database.products.create_index("title", unique=True)
    await writer.store(seen(1, url=SHOP + "one"))
    async with asyncio.timeout(60):
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
    async with asyncio.timeout(60):
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


@pytest.mark.parametrize("form", sorted(LOSSY))
async def test_a_collection_that_loses_or_merges_documents_is_named(
    form: str, database: Database, stats: RecordedStats
) -> None:
    options, why = LOSSY[form]
    await database.create_collection("offers", **options)
    writer = a_writer(database, stats, batch_ms=5)
    await writer.open()
    async with asyncio.timeout(60):
        with pytest.raises(UnstorableError, match=rf"collection offers of .+ {why}.+MONGODB_DATABASE"):
            await writer.store(Offer(url=SHOP + "A"))
        await writer.close()
    await database.create_collection("pages", **options)
    with pytest.raises(ServiceError, match=rf"cannot be prepared for storing: collection pages of .+{why}"):
        await a_writer(database, stats).open()


@pytest.mark.parametrize(
    ("form", "collection", "look_seconds"),
    [
        *((form, "products", 0.0) for form in sorted(LOSSY)),
        *((form, name, 0.0) for form in sorted(LOSSY) for name in ("product_changes", DUPLICATES, RUN_ITEMS)),
        ("view", "products", 60),
    ],
)
async def test_items_wait_while_a_collection_that_loses_documents_is_in_the_place_of_theirs(
    form: str,
    collection: str,
    look_seconds: float,
    writer: Writer,
    database: Database,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """A view is noticed at once, as MongoDB refuses writes to it."""
    monkeypatch.setattr(foreign_collections, "LOOK_SECONDS", look_seconds)
    options, why = LOSSY[form]
    for name in {collection, "product_changes"} - set(await database.list_collection_names()):
        await database.create_collection(name)
    await writer.store(seen(1, **OURS))
    await database[collection].rename("moved")
    await database.create_collection(collection, **options)
    waiting = asyncio.create_task(writer.store(seen(2, "11.00", **OURS)))
    await until(lambda: "does not store" in caplog.text)
    assert why in caplog.text
    await database[collection].drop()
    await database.moved.rename(collection)
    async with asyncio.timeout(60):
        assert await waiting is StoreResult.CHANGED


@pytest.mark.parametrize("form", sorted(LOSSY))
async def test_rejected_items_wait_while_another_collection_is_in_the_place_of_theirs(
    form: str, writer: Writer, database: Database, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(foreign_collections, "LOOK_SECONDS", 0.0)
    options, why = LOSSY[form]
    await database.rejected_items.drop()
    await database.create_collection("rejected_items", **options)
    waiting = asyncio.create_task(writer.reject({"a": 1}, ["missing_title: title = None"]))
    await until(lambda: "does not store" in caplog.text)
    assert why in caplog.text
    await database.rejected_items.drop()
    async with asyncio.timeout(60):
        await waiting
    assert await database.rejected_items.count_documents({}) == 1


async def test_a_collection_that_was_put_right_is_written_to_again(
    database: Database, stats: RecordedStats, monkeypatch: pytest.MonkeyPatch
) -> None:
    await database.create_collection("offers", capped=True, size=4096)
    writer = a_writer(database, stats, batch_ms=5)
    await writer.open()
    with pytest.raises(UnstorableError, match="is capped"):
        await writer.store(Offer(url=SHOP))
    await database.offers.drop()
    monkeypatch.setattr(foreign_collections, "LOOK_SECONDS", 0.0)
    async with asyncio.timeout(60):
        assert await writer.store(Offer(url=SHOP)) is StoreResult.NEW
        await writer.close()
    assert "pending_changes" in await database.offers.index_information(), "made as at a start"


async def test_documents_that_expire_by_anothers_index_are_named(
    database: Database, stats: RecordedStats, caplog: pytest.LogCaptureFixture
) -> None:
    await database.products.create_index("fetched_at", expireAfterSeconds=60)
    for _ in range(2):  # ours of rejected_items is none to be named
        await a_writer(database, stats).open()
    lines = [record.getMessage() for record in caplog.records]
    named = "MongoDB deletes documents of products 60 s after their fetched_at, by the index 'fetched_at_1'"
    assert [line.partition(" that somebody")[0] for line in lines] == [named, named]
