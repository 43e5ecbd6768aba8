"""What one observation does to the stored state, on the real mongod."""

from __future__ import annotations

import asyncio
from decimal import Decimal

from bson.decimal128 import Decimal128

from crawler.items import PageItem
from crawler.storage.connection import Database
from crawler.storage.writer import StoreResult, Writer
from tests.integration.storage.observing import URL, at, seen


async def test_new_item_is_stored_with_its_bookkeeping(writer: Writer, database: Database) -> None:
    assert await writer.store(seen(1, "19.90", source={"spider": "products"})) is StoreResult.NEW

    stored = await database.products.find_one({"_id": URL})
    assert stored is not None
    assert stored["price"] == Decimal128("19.90")
    assert stored["gtin"] is None
    assert stored["source"] == {"spider": "products"}
    assert stored["version"] == 1
    assert {stored[name] for name in ("fetched_at", "first_seen_at", "last_seen_at", "last_changed_at")} == {
        at(1)
    }
    assert "pending_changes" not in stored


async def test_unchanged_page_moves_last_seen_at_only(writer: Writer, database: Database) -> None:
    await writer.store(seen(1, source={"request_id": "a"}))
    before = await database.products.find_one({"_id": URL})
    assert await writer.store(seen(2, source={"request_id": "b"})) is StoreResult.UNCHANGED

    after = await database.products.find_one({"_id": URL})
    assert before is not None
    assert after == before | {"last_seen_at": at(2)}
    assert await database.product_changes.count_documents({}) == 0


async def test_changed_price_raises_the_version_and_is_on_record(writer: Writer, database: Database) -> None:
    await writer.store(seen(1, "10.00"))
    assert await writer.store(seen(2, "8.50", source={"worker": "w"})) is StoreResult.CHANGED

    stored = await database.products.find_one({"_id": URL})
    assert stored is not None
    assert (stored["version"], stored["first_seen_at"], stored["last_changed_at"]) == (2, at(1), at(2))
    assert "pending_changes" not in stored
    assert await database.product_changes.find({}).to_list() == [
        {
            "_id": f"{URL}#2",
            "item": URL,
            "url": URL,
            "version": 2,
            "at": at(2),
            "changes": {"price": {"old": Decimal128("10.00"), "new": Decimal128("8.50")}},
            "source": {"worker": "w"},
        }
    ]


async def test_older_observation_is_ignored(writer: Writer, database: Database) -> None:
    await writer.store(seen(5, "10.00"))
    before = await database.products.find_one({"_id": URL})
    assert await writer.store(seen(4, "9.00")) is StoreResult.STALE
    assert await database.products.find_one({"_id": URL}) == before


async def test_storing_the_same_observation_again_changes_nothing(writer: Writer, database: Database) -> None:
    await writer.store(seen(1, "10.00"))
    await writer.store(seen(2, "11.00"))
    before = await database.products.find_one({"_id": URL})
    await writer.store(seen(2, "11.00"))
    assert await database.products.find_one({"_id": URL}) == before
    assert await database.product_changes.count_documents({}) == 1


async def test_equal_keys_of_one_batch_apply_in_their_order(writer: Writer, database: Database) -> None:
    prices = [str(price) for price in range(1, 8)]
    results = await asyncio.gather(*(writer.store(seen(i, price)) for i, price in enumerate(prices)))

    assert results == [StoreResult.NEW] + [StoreResult.CHANGED] * 6
    records = await database.product_changes.find({}).sort("version", 1).to_list()
    assert [record["changes"]["price"]["new"].to_decimal() for record in records] == [
        *map(Decimal, prices[1:])
    ]
