"""Documents in which another program, an operator or a restored backup has left values of other types."""

from __future__ import annotations

import asyncio
import datetime as dt
from collections.abc import Sequence
from typing import Any

import bson
import pytest
from bson import Binary, DatetimeMS, Decimal128, Int64, MaxKey, MinKey, ObjectId, Regex, Timestamp
from bson.raw_bson import RawBSONDocument

from crawler.storage.connection import Database
from crawler.storage.items.documents import StoredDocument
from crawler.storage.items.repository import Repository, Result, StoreResult
from crawler.storage.items.values import UnstorableError
from crawler.storage.reading import reader
from crawler.storage.writer import Writer
from tests.integration.storage.observing import RecordedStats, a_writer, at, seen

BEFORE = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
FIELDS = ("version", "pending_changes", "last_seen_at", "first_seen_at", "last_changed_at", "content_hash", "source")
FAR = DatetimeMS(10**15)  # the year 33658
ODD: tuple[Any, ...] = (
    *("text", None, 5, 3.0, float("nan"), {"a": 1}, [1, "a"], [{"a": 1}], [{"version": {}}], True, BEFORE),
    *(DatetimeMS(-(10**15)), Timestamp(1, 1), Regex("a"), MinKey(), MaxKey(), Binary(b"x"), ObjectId()),
    *(Decimal128("3"), Int64(2**40)),
)


async def test_they_disturb_nobody_and_are_put_right(clamped: Database, stats: RecordedStats) -> None:
    database = clamped
    times = dict.fromkeys(("fetched_at", "first_seen_at", "last_seen_at", "last_changed_at"), BEFORE)
    whole = {"content_hash": "x", "version": 3, "title": "Old", **times, "source": {}, "issues": []}
    values = [(f"http://shop.example/{field}/{n}", field, value) for field in FIELDS for n, value in enumerate(ODD)]
    await database.products.insert_many([{"_id": url, "url": url, **whole, field: odd} for url, field, odd in values])
    missing = f"http://shop.example/{len(ODD)}"
    await database.products.insert_one({"_id": missing})

    writer = a_writer(database, stats, batch_ms=50)
    await writer.open()
    urls = [missing, "http://shop.example/new", *(url for url, _, _ in values)]
    for visit in (1, 2):
        results = await asyncio.gather(*(writer.store(seen(visit, str(visit), url=url)) for url in urls))
        assert set(results) <= {StoreResult.NEW, StoreResult.CHANGED}
    await writer.close()
    stored = await database.products.find().to_list()
    assert len(stored) == len(urls)
    for one in stored:
        assert (str(one["price"]), type(one["version"]), "pending_changes" in one) in {
            ("2", int, False),
            ("2", Int64, False),
        }
        assert all(isinstance(one[name], dt.datetime) for name in ("last_seen_at", "fetched_at", "last_changed_at"))


@pytest.mark.parametrize("field", ["times", "at", "reasons"])
async def test_a_rejection_of_another_form_is_put_right(writer: Writer, database: Database, field: str) -> None:
    for odd in ODD:
        await writer.reject({"a": 1}, ["lacks: b"])
        await database.rejected_items.update_one({}, {"$set": {field: odd}})
        await writer.reject({"a": 1}, ["lacks: b"])
        (kept,) = await database.rejected_items.find().to_list()
        forms = {name: type(kept[name]) for name in ("times", "at", "reasons")}
        assert forms == {"times": int, "at": dt.datetime, "reasons": list}, odd
        await database.rejected_items.delete_many({})


async def test_a_text_that_is_no_utf8_stops_nobody(clamped: Database, stats: RecordedStats) -> None:
    url = "http://shop.example/1"
    change = {"version": 1, "at": BEFORE, "url": url, "source": {}, "old": {"title": "a QQQ"}, "new": {"title": "b"}}
    times = dict.fromkeys(("fetched_at", "first_seen_at", "last_seen_at", "last_changed_at"), BEFORE)
    whole = {"_id": url, "url": url, "title": "a QQQ", **times, "version": 1, "pending_changes": [change]}
    spoilt = bson.encode(whole | {"content_hash": "QQQ"}).replace(b"QQQ", b"\xed\xa0\x80")
    await clamped.products.insert_one(RawBSONDocument(spoilt))
    writer = a_writer(clamped, stats)
    await writer.open()
    assert await writer.store(seen(1, url=url)) is StoreResult.CHANGED
    await writer.close()
    assert [one["version"] async for one in reader.documents(clamped, "products")] == [2]
    records = [one async for one in reader.changes(clamped, "product_changes", url)]
    assert records[0]["changes"]["title"] == {"old": "a \ufffd\ufffd\ufffd", "new": "b"}


async def test_a_time_of_a_clock_that_was_wrong_is_no_obstacle(
    writer: Writer, database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    ahead = dt.datetime.now(dt.UTC) + dt.timedelta(days=2)
    urls = [f"http://shop.example/{n}" for n in range(2)]
    for url in urls:
        await writer.store(seen(0, url=url))
    await database.products.update_many({}, {"$set": {"last_seen_at": ahead}})
    assert await writer.store(seen(1, url=urls[0])) is StoreResult.UNCHANGED
    assert await writer.store(seen(1, "99", url=urls[1])) is StoreResult.CHANGED
    stored = [await database.products.find_one({"_id": url}) for url in urls]
    assert [one and (one["last_seen_at"], one["version"]) for one in stored] == [(at(1), 1), (at(1), 2)]
    assert await writer.store(seen(0, "50", url=urls[0])) is StoreResult.STALE
    (told,) = [one.getMessage() for one in caplog.records if "a clock was wrong" in one.getMessage()]
    assert told.startswith(f"{urls[0]} of products was last seen at {ahead:%Y-%m-%d}")


async def test_an_observation_that_comes_days_late_is_no_wrong_clock(
    writer: Writer, caplog: pytest.LogCaptureFixture
) -> None:
    """From a spool, or of an archived page that is parsed again."""
    url, days = "http://shop.example/1", 3 * 86_400
    await writer.store(seen(days, url=url))
    assert await writer.store(seen(1, url=url)) is StoreResult.STALE
    assert await writer.store(seen(2, "99", url=url)) is StoreResult.STALE
    assert not [one for one in caplog.records if "clock" in one.getMessage()]


async def test_a_time_within_a_day_is_another_machines(writer: Writer, database: Database) -> None:
    url = "http://shop.example/1"
    await writer.store(seen(0, url=url))
    near = dt.datetime.now(dt.UTC) + dt.timedelta(hours=20)
    await database.products.update_many({}, {"$set": {"last_seen_at": near}})
    assert await writer.store(seen(1, "99", url=url)) is StoreResult.STALE


async def test_a_time_beyond_the_calendar_is_read_as_its_end(writer: Writer, database: Database) -> None:
    urls = [f"http://shop.example/{n}" for n in range(3)]
    await database.products.insert_one({"_id": urls[0], "url": urls[0], "content_hash": "x", "last_seen_at": FAR})
    results = await asyncio.gather(*(writer.store(seen(1, url=url)) for url in urls))
    assert results == [StoreResult.NEW, StoreResult.NEW, StoreResult.NEW]


async def test_an_item_that_storage_stumbles_over_is_refused_alone(
    writer: Writer, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Repository.store

    async def stumbling(self: Repository, name: str, entries: Sequence[StoredDocument]) -> list[Result]:
        if any(entry.id.endswith("/bad") for entry in entries):
            raise TypeError("no such thing")
        return await store(self, name, entries)

    monkeypatch.setattr(Repository, "store", stumbling)
    urls = [f"http://shop.example/{name}" for name in ("1", "bad", "2")]
    results = await asyncio.gather(*(writer.store(seen(1, url=url)) for url in urls), return_exceptions=True)
    assert results[::2] == [StoreResult.NEW, StoreResult.NEW]
    assert isinstance(results[1], UnstorableError)
    assert str(results[1]) == "http://shop.example/bad: TypeError: no such thing"
