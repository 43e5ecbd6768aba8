"""Changes reach the history exactly once, whoever dies on the way."""

from __future__ import annotations

import asyncio
import os
import signal
from contextlib import closing
from decimal import Decimal

import pytest
from bson.decimal128 import Decimal128

from crawler.storage.connection import Database
from crawler.storage.items import history, refused_changes
from crawler.storage.items.repository import StoreResult
from crawler.storage.reading import reader
from crawler.storage.writer import Writer
from tests.effort import PATIENCE
from tests.integration.storage.observing import URL, RecordedStats, a_writer, at, seen
from tests.zygote import PROJECT_DIR, Zygote


@pytest.fixture
def killed_between(database: Database, mongodb_uri: str, zygote: Zygote) -> None:
    """A worker was killed between its write and the record of it."""
    module = "tests.integration.storage.dying"
    with closing(zygote.fork([mongodb_uri, database.name], os.environ, PROJECT_DIR, module=module)) as worker:
        assert worker.wait(PATIENCE) == -signal.SIGKILL, worker.log


@pytest.mark.usefixtures("killed_between")
async def test_change_of_a_killed_worker_is_pending(database: Database) -> None:
    stored = await database.products.find_one({"_id": URL})
    assert stored is not None
    assert stored["version"] == 2
    assert len(stored["pending_changes"]) == 1
    assert await database.product_changes.count_documents({}) == 0


@pytest.mark.usefixtures("killed_between")
async def test_next_start_puts_it_on_record(database: Database, stats: RecordedStats) -> None:
    writer = a_writer(database, stats)
    await writer.open()
    await assert_on_record(database)
    assert stats.values["storage/changes"] == 1


@pytest.mark.usefixtures("killed_between")
async def test_next_write_of_the_item_puts_it_on_record(database: Database, stats: RecordedStats) -> None:
    writer = a_writer(database, stats, batch_ms=1)
    assert await writer.store(seen(3, "9.00")) is StoreResult.UNCHANGED
    await writer.close()
    await assert_on_record(database)


async def assert_on_record(database: Database) -> None:
    records = await database.product_changes.find().to_list()
    assert [(record["_id"], record["at"]) for record in records] == [(f"{URL}#2", at(2))]
    assert records[0]["changes"] == {"price": {"old": Decimal128("10.00"), "new": Decimal128("9.00")}}
    stored = await database.products.find_one({"_id": URL})
    assert stored is not None
    assert "pending_changes" not in stored


async def test_recording_twice_records_once(
    writer: Writer, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    await writer.store(seen(1, "1"))
    document = {
        "_id": URL,
        "version": 3,
        "pending_changes": [
            {"version": v, "at": at(v), "url": URL, "source": {}, "old": {"price": v - 1}, "new": {"price": v}}
            for v in (2, 3)
        ],
    }
    for _ in range(2):
        assert await history.record(database.products, database.product_changes, [document]) == (2, 0, "")
    records = await database.product_changes.find().sort("version", 1).to_list()
    assert [record["changes"]["price"] for record in records] == [{"old": 1, "new": 2}, {"old": 2, "new": 3}]


async def test_changes_that_come_while_others_are_recorded_stay_pending(writer: Writer, database: Database) -> None:
    change = {"version": 2, "at": at(2), "url": URL, "source": {}, "old": {"price": 1}, "new": {"price": 2}}
    later = change | {"version": 3}
    await database.products.insert_one({"_id": URL, "version": 3, "pending_changes": [change, later]})

    await history.record(
        database.products, database.product_changes, [{"_id": URL, "version": 2, "pending_changes": [change]}]
    )
    stored = await database.products.find_one({"_id": URL})
    assert stored is not None
    assert [each["version"] for each in stored["pending_changes"]] == [2, 3]

    assert await history.drain(database.products, database.product_changes) == (2, 0, "")
    assert await database.product_changes.count_documents({}) == 2


async def test_change_that_the_history_refuses_stays_pending(
    writer: Writer, database: Database, stats: RecordedStats, caplog: pytest.LogCaptureFixture
) -> None:
    await database.command("collMod", "product_changes", validator={"changes.price": {"$exists": True}})
    await writer.store(seen(1, "1"))
    await writer.store(seen(1, "1", url=URL + "0"))
    results = await asyncio.gather(writer.store(seen(2, "1", title="b")), writer.store(seen(2, "2", url=URL + "0")))

    assert [*results] == [StoreResult.CHANGED] * 2
    assert [each["_id"] async for each in database.product_changes.find()] == [f"{URL}0#2"]
    assert [each["_id"] async for each in database.products.find({"pending_changes": {"$exists": True}})] == [URL]
    assert stats.values["storage/changes"] == 1
    assert stats.values["storage/changes_refused"] == 1
    assert f"product_changes refuses them, such as one of {URL}: " in caplog.text


async def test_a_change_that_is_refused_keeps_no_other_of_its_item_waiting(writer: Writer, database: Database) -> None:
    await database.command("collMod", "product_changes", validator={"changes.price": {"$exists": True}})
    for second, fields in enumerate(({"title": "a"}, {"title": "b"}, {"price": "2"}, {"price": "3"}), 1):
        await writer.store(seen(second, **{"price": "1", "title": "b", **fields}))
    stored = await database.products.find_one({"_id": URL})
    assert stored is not None
    assert [each["version"] for each in stored["pending_changes"]] == [2]
    assert await database.product_changes.distinct("version") == [3, 4]


async def test_what_a_history_refuses_for_long_is_kept_whole_and_lets_items_change(
    writer: Writer, database: Database, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Until an item had 16 MB of them, and every later visit was refused."""
    monkeypatch.setattr(refused_changes, "WAITING_BYTES", 1_000)
    await database.command("collMod", "product_changes", validator={"nothing": "like this"})
    for second in range(1, 21):
        assert await writer.store(seen(second, str(second))) is not StoreResult.STALE
    stored = await database.products.find_one({"_id": URL})
    assert stored is not None
    waiting = [each["version"] for each in stored["pending_changes"]]
    apart = [each["item"]["version"] async for each in database.rejected_items.find().sort("at", 1)]
    assert 0 < len(waiting) < 6
    assert apart + waiting == [*range(2, 21)]
    assert caplog.text.count("Changes of items stay pending") == 1

    await database.command("collMod", "product_changes", validator={})
    await writer.store(seen(30, "30"))
    assert await database.product_changes.distinct("version") == [*waiting, 21]


async def test_a_large_item_changes_though_a_killed_worker_has_left_it_with_changes(
    writer: Writer, database: Database
) -> None:
    """All together have no room in a document."""
    text = "x" * (4 * 2**20 - 4_096)
    await writer.store(seen(1, description=text + "1"))
    change = {"url": "", "source": {}, "old": {"description": text + "0"}, "new": {"description": text + "1"}}
    await database.products.update_one({}, {"$set": {"pending_changes": [{"version": 1, "at": at(1), **change}]}})
    small = seen(2, url="http://shop.example/p/2")
    results = await asyncio.gather(writer.store(seen(2, description=text + "2")), writer.store(small))
    assert [*results] == [StoreResult.CHANGED, StoreResult.NEW]
    assert [one["version"] async for one in database.product_changes.find(sort=[("version", 1)])] == [1, 2]
    assert await database.products.count_documents({"pending_changes": {"$exists": True}}) == 0


async def test_draining_takes_any_number(writer: Writer, database: Database) -> None:
    total = 1_203
    change = {"version": 2, "at": at(2), "url": URL, "source": {}, "old": {"price": 1}, "new": {"price": 2}}
    await database.products.insert_many(
        [{"_id": str(n), "version": 2, "pending_changes": [change]} for n in range(total)]
    )
    counts = await asyncio.gather(*(history.drain(database.products, database.product_changes) for _ in range(3)))
    assert sum(one.done for one in counts) >= total  # each may take what another one is about to forget
    assert await database.product_changes.count_documents({}) == total
    assert await database.products.count_documents({"pending_changes": {"$exists": True}}) == 0


async def test_an_item_that_was_deleted_and_comes_back_keeps_both_histories(writer: Writer, database: Database) -> None:
    for second, price in ((1, "1"), (2, "2")):
        await writer.store(seen(second, price))
    await database.products.delete_one({"_id": URL})  # by somebody, or an index of theirs that lets it expire
    for second, price in ((3, "3"), (4, "4"), (5, "5")):
        await writer.store(seen(second, price))
    kept = [record async for record in reader.changes(database, "product_changes", URL)]
    assert [(each["version"], each["at"], each["changes"]["price"]["new"]) for each in kept] == [
        (2, at(2), Decimal(2)),
        (2, at(4), Decimal(4)),
        (3, at(5), Decimal(5)),
    ]
    left = [{"version": 2, "old": {}, "new": {}, "url": URL, "source": {}, "at": at(second)} for second in (2, 4)]
    documents = [{"_id": URL, "version": 3, "pending_changes": left}]
    assert await history.record(database.products, database.product_changes, documents) == (2, 0, "")
    assert await database.product_changes.count_documents({}) == 3  # whoever repeats it


async def test_two_spiders_that_change_each_others_items_are_named_once(
    writer: Writer, database: Database, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(history, "_told", set())
    for second, spider in enumerate(("lamps", "lamps", "offers", "lamps", "offers")):
        await writer.store(seen(second, str(second), source={"spider": spider}))
    (line,) = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert line.startswith(f"Spiders 'lamps' and 'offers' both store {URL}: ")
    stored = await database.products.find_one({"_id": URL})
    assert stored is not None
    assert stored["version"] == 5
    assert not await database.product_changes.count_documents({"by": {"$exists": True}})
