"""What one observation does to the stored state, on the real mongod."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, ClassVar

import pytest
from bson.decimal128 import Decimal128

from crawler.items import Item, PageItem
from crawler.storage.config import StorageConfig
from crawler.storage.connection import Database
from crawler.storage.items import bulk, repository
from crawler.storage.items.documents import StoredDocument
from crawler.storage.items.origin import Origin
from crawler.storage.items.repository import Repository, States, StoreResult
from crawler.storage.items.values import UnstorableError
from crawler.storage.outage import MongoOutage
from crawler.storage.writer import Writer
from tests.integration.storage.observing import URL, RecordedStats, a_writer, at, seen


@dataclass(slots=True, kw_only=True)
class Offer(Item):
    """A site's own item class."""

    collection: ClassVar[str] = "offers"

    title: str | None = None
    extra: Any = None


async def test_new_item_is_stored_with_its_bookkeeping(writer: Writer, database: Database) -> None:
    assert await writer.store(seen(1, "19.90", source={"spider": "products"})) is StoreResult.NEW

    stored = await database.products.find_one({"_id": URL})
    assert stored is not None
    assert stored["price"] == Decimal128("19.90")
    assert stored["gtin"] is None
    assert stored["source"] == {"spider": "products"}
    assert stored["version"] == 1
    assert {stored[name] for name in ("fetched_at", "first_seen_at", "last_seen_at", "last_changed_at")} == {at(1)}
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


async def test_field_that_vanishes_or_appears_is_a_change(writer: Writer, database: Database) -> None:
    await writer.store(seen(1, "10.00"))
    await writer.store(seen(2, None, brand="Acme"))
    record = await database.product_changes.find_one({})
    assert record is not None
    assert record["changes"] == {
        "price": {"old": Decimal128("10.00"), "new": None},
        "brand": {"old": None, "new": "Acme"},
    }


async def test_older_observation_is_ignored(writer: Writer, database: Database) -> None:
    await writer.store(seen(5, "10.00"))
    before = await database.products.find_one({"_id": URL})
    assert await writer.store(seen(4, "9.00")) is StoreResult.STALE
    assert await database.products.find_one({"_id": URL}) == before


async def test_items_of_a_page_that_share_a_key_are_told_once(
    writer: Writer, database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    await writer.store(seen(0, "9.00"))
    await writer.store(seen(0, "9.00"))
    await writer.store(seen(-1, "8.00"))
    assert not caplog.records
    for visit in (1, 2):
        for size, price in (("S", "10.00"), ("M", "11.00"), ("L", "12.00")):
            await writer.store(seen(visit, price, title=f"Shirt {size}"))
    (line,) = [record.getMessage() for record in caplog.records]
    assert line.startswith(f"{URL} of products was seen with different content at one time, and only the first")
    stored = await database.products.find_one({"_id": URL})
    assert stored is not None
    assert (stored["title"], stored["version"]) == ("Shirt S", 2)


async def test_times_are_compared_as_they_are_stored(writer: Writer) -> None:
    """MongoDB keeps milliseconds."""
    assert await writer.store(seen(1.000_4, "10.00")) is StoreResult.NEW
    assert await writer.store(seen(2.000_4, "11.00")) is StoreResult.CHANGED


async def test_storing_the_same_observation_again_changes_nothing(writer: Writer, database: Database) -> None:
    await writer.store(seen(1, "10.00"))
    await writer.store(seen(2, "11.00"))
    before = await database.products.find_one({"_id": URL})
    await writer.store(seen(2, "11.00"))
    assert await database.products.find_one({"_id": URL}) == before
    assert await database.product_changes.count_documents({}) == 1


async def test_same_price_with_other_digits_is_no_change(writer: Writer, database: Database) -> None:
    await writer.store(seen(1, "10.0"))
    assert await writer.store(seen(2, "10.00")) is StoreResult.UNCHANGED
    stored = await database.products.find_one({"_id": URL})
    assert stored is not None
    assert stored["price"] == Decimal128("10.0")


async def test_equal_keys_of_one_batch_apply_in_their_order(writer: Writer, database: Database) -> None:
    prices = [str(price) for price in range(1, 8)]
    results = await asyncio.gather(*(writer.store(seen(i, price)) for i, price in enumerate(prices)))

    assert results == [StoreResult.NEW] + [StoreResult.CHANGED] * 6
    records = await database.product_changes.find({}).sort("version", 1).to_list()
    assert [record["changes"]["price"]["new"].to_decimal() for record in records] == [*map(Decimal, prices[1:])]


async def test_items_of_one_page_are_told_apart_by_their_key(writer: Writer, database: Database) -> None:
    await asyncio.gather(*(writer.store(seen(1, str(n), key=f"size-{n}")) for n in (1, 2)))
    assert {stored["_id"] async for stored in database.products.find()} == {f"{URL}#size-1", f"{URL}#size-2"}


async def test_pages_have_versions_but_no_history(writer: Writer, database: Database) -> None:
    for second, text in enumerate(("one", "two")):
        await writer.store(PageItem(url=URL, fetched_at=at(second), text=text, metadata={"og:type": "article"}))
    stored = await database.pages.find_one({"_id": URL})
    assert stored is not None
    assert (stored["text"], stored["version"], stored["metadata"]) == ("two", 2, {"og:type": "article"})
    assert "pending_changes" not in stored
    assert "page_changes" not in await database.list_collection_names()


async def test_untyped_items_are_known_by_their_content(writer: Writer, database: Database) -> None:
    for quote in ("a", "b", "a"):
        await writer.store({"url": URL, "quote": quote, "price": Decimal("1.5"), "version": 7})
    stored = await database.items.find().to_list()
    assert sorted(each["item"]["quote"] for each in stored) == ["a", "b"]
    assert {each["item"]["version"] for each in stored} == {7}
    assert [each["item"]["price"] for each in stored] == [Decimal128("1.5")] * 2


async def test_a_document_that_mongodb_refuses_fails_alone(writer: Writer, database: Database) -> None:
    await database.create_collection("offers", validator={"title": {"$ne": "bad"}})
    offers = [Offer(url=f"{URL}/{title}", fetched_at=at(1), title=title) for title in ("a", "bad", "b")]
    results = await asyncio.gather(*map(writer.store, offers), return_exceptions=True)

    assert results[0] is results[2] is StoreResult.NEW
    assert isinstance(results[1], UnstorableError)
    assert "validation (code 121): {'operatorName': '$ne', 'specifiedAs': {'title':" in str(results[1])
    assert await database.offers.count_documents({}) == 2


async def test_an_item_that_cannot_be_encoded_fails_before_the_batch(writer: Writer, database: Database) -> None:
    good = writer.store(Offer(url=URL, fetched_at=at(1), title="good"))
    bad = writer.store(Offer(url=URL + "2", fetched_at=at(1), extra={"a.b": 1}))
    result, error = await asyncio.gather(good, bad, return_exceptions=True)
    assert result is StoreResult.NEW
    assert isinstance(error, UnstorableError)
    assert error.issue == "field_name"


async def test_cancelled_caller_does_not_disturb_its_batch(writer: Writer, database: Database) -> None:
    first = asyncio.create_task(writer.store(seen(1, url=URL + "1")))
    second = asyncio.create_task(writer.store(seen(1, url=URL + "2")))
    await asyncio.sleep(0)
    first.cancel()
    assert await second is StoreResult.NEW
    assert await database.products.count_documents({}) == 2


async def test_close_writes_what_waits(database: Database, stats: RecordedStats) -> None:
    writer = a_writer(database, stats, batch_ms=10_000)
    await writer.open()
    waiting = asyncio.create_task(writer.store(seen(1)))
    await asyncio.sleep(0.05)
    assert await database.products.count_documents({}) == 0
    await writer.close()
    assert await waiting is StoreResult.NEW
    with pytest.raises(RuntimeError):
        await writer.store(seen(2))


async def test_rejected_items_are_kept_with_their_reasons(writer: Writer, database: Database) -> None:
    item = seen(1, "-3", source={"request_id": "r"})
    await writer.reject(item, ["negative_price: price = -3"])
    await writer.reject(item, ["negative_price: price = -3"])
    kept = await database.rejected_items.find().to_list()
    assert len(kept) == 1
    assert (kept[0]["collection"], kept[0]["url"], kept[0]["times"]) == ("products", URL, 2)
    assert (kept[0]["issues"], kept[0]["reasons"]) == (["negative_price"], ["negative_price: price = -3"])
    assert kept[0]["item"]["price"] == Decimal128("-3")
    assert kept[0]["item"]["source"] == {"request_id": "r"}


async def test_rejected_items_that_cannot_be_stored_are_kept_as_text(writer: Writer, database: Database) -> None:
    for bad in ({"a\x00b": 1}, {"text": "\ud800"}, {"n": 2**70}, {"n": float("nan")}, {"deep": deep(200)}, object()):
        with pytest.raises(UnstorableError) as refusal:
            await writer.store(bad)
        await writer.reject(bad, [f"{refusal.value.issue}: {refusal.value}"])
    kept = await database.rejected_items.find().to_list()
    assert {each["reasons"][0].partition(":")[0] for each in kept} == {
        "field_name",
        "lone_surrogate",
        "integer_too_large",
        "not_finite",
        "too_deep",
        "not_an_item",
    }
    assert all(each["item"]["text"] for each in kept)


async def test_large_rejected_items_are_sent_in_parts(
    database: Database, stats: RecordedStats, monkeypatch: pytest.MonkeyPatch
) -> None:
    """PyMongo copies what it sends at once, while nothing else goes on."""
    writer, write, sent = a_writer(database, stats, batch_ms=100), bulk.write, list[int]()

    async def written(collection: Any, operations: Sequence[Any]) -> bulk.BulkResult:
        sent.append(len(operations))
        return await write(collection, operations)

    await writer.open()
    monkeypatch.setattr(bulk, "write", written)
    monkeypatch.setattr(repository, "BATCH_BYTES", 10_000)
    await asyncio.gather(*(writer.reject({"a": "x" * 4_000, "n": number}, ["lacks: b"]) for number in range(5)))
    assert sent == [2, 2, 1]
    assert await database.rejected_items.count_documents({}) == 5
    await writer.close()


async def test_items_of_two_pages_are_rejected_apart(writer: Writer, database: Database) -> None:
    for page in (URL, f"{URL}2", URL):
        await writer.reject({"a": 1}, ["lacks: b"], Origin(page, at(1)))
    kept = await database.rejected_items.find().sort("url").to_list()
    assert [(each["url"], each["page"], each["times"]) for each in kept] == [(URL, URL, 2), (f"{URL}2", f"{URL}2", 1)]


async def test_a_reason_of_any_text_is_kept(writer: Writer, database: Database) -> None:
    await writer.reject({"a": 1}, ["not \ud800 ours"])
    (kept,) = await database.rejected_items.find().to_list()
    assert kept["reasons"] == kept["issues"] == ["not \\ud800 ours"]


def deep(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


class Slow(Repository):
    """Lets another worker write between the look at what is stored and the writing."""

    other: Callable[[], Awaitable[object]] | None = None

    async def _read(self, name: str, entries: Sequence[StoredDocument], fields: Mapping[str, int]) -> States:
        found = await super()._read(name, entries, fields)
        other, self.other = self.other, None
        if other is not None:
            await other()
        return found


async def test_what_another_worker_writes_meanwhile_counts(
    writer: Writer, database: Database, stats: RecordedStats
) -> None:
    config = StorageConfig(batch_ms=20)
    repository = Slow(database, config, stats)
    slow = Writer(repository, config, MongoOutage(stats, "here", 1))
    new, changed, unchanged = "http://a.example/new", "http://a.example/changed", "http://a.example/unchanged"
    for url in (changed, unchanged):
        await writer.store(seen(0, url=url))

    async def other() -> None:
        await writer.store(seen(2, "9.00", url=new))
        await writer.store(seen(1, "8.00", url=changed))

    repository.other = other
    results = await asyncio.gather(*(slow.store(seen(3, url=url)) for url in (new, changed, unchanged)))
    assert results == [StoreResult.CHANGED, StoreResult.CHANGED, StoreResult.UNCHANGED]
    assert stats.values["storage/errors"] == 0

    repository.other = lambda: writer.store(seen(9, "7.00", url=changed))
    assert await slow.store(seen(5, url=changed)) is StoreResult.STALE
    found = {each["_id"]: each async for each in database.products.find()}
    assert [(found[url]["version"], str(found[url]["price"])) for url in (new, changed, unchanged)] == [
        (2, "10.00"),
        (4, "7.00"),
        (1, "10.00"),
    ]
    assert all(each["last_seen_at"] == at(9 if each["_id"] == changed else 3) for each in found.values())
    records = [each["_id"] async for each in database.product_changes.find().sort("_id", 1)]
    assert records == [f"{changed}#2", f"{changed}#3", f"{changed}#4", f"{new}#2"]
    await slow.close()


async def test_a_change_that_was_left_pending_goes_on_record_with_the_next_visit(
    writer: Writer, database: Database
) -> None:
    await writer.store(seen(0))
    change = {"version": 2, "at": at(0), "url": URL, "source": {}, "old": {"price": 1}, "new": {"price": 2}}
    await database.products.update_one({"_id": URL}, {"$set": {"version": 2, "pending_changes": [change]}})
    assert await writer.store(seen(1)) is StoreResult.UNCHANGED
    assert await database.product_changes.distinct("_id") == [f"{URL}#2"]
    assert await database.products.count_documents({"pending_changes": {"$exists": True}}) == 0
