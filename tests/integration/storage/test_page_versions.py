"""What pages said of their version, in a real MongoDB."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pymongo import AsyncMongoClient
from pymongo.asynchronous.database import AsyncDatabase

from crawler.errors import ServiceError
from crawler.storage.page_versions import PageVersions, StoredVersion

Database = AsyncDatabase[dict[str, Any]]
THEN = datetime.now(UTC).replace(microsecond=0) - timedelta(days=10)  # MongoDB drops what is older than its days
LATER = THEN + timedelta(days=1)
MISSING = object()


def page(number: int, *items: str) -> StoredVersion:
    pairs = tuple(("pages", i) for i in items)
    return StoredVersion(f"shop http://a.example/{number}", f'"{number}"', "", pairs, b"\0l", THEN)


async def test_what_is_remembered_is_found_and_the_rest_is_not(mongo_database: Database) -> None:
    versions = PageVersions(mongo_database, 90)
    pages = [page(number, f"i{number}") for number in range(50)]
    assert all(await asyncio.gather(*map(versions.store, pages)))
    names = [*(each.id for each in pages), "shop http://a.example/unknown"]
    assert await asyncio.gather(*map(versions.find, names)) == [*pages, None]
    await versions.store(page(0, "other"))
    assert await versions.find(pages[0].id) == page(0, "other")
    await versions.close()


async def test_seen_moves_the_items_forward_only_and_tells_when_one_is_gone(mongo_database: Database) -> None:
    versions = PageVersions(mongo_database, 90)
    rows = [
        {"_id": "old", "last_seen_at": THEN, "last_changed_at": THEN},
        {"_id": "new", "last_seen_at": LATER + timedelta(days=1)},
    ]
    await mongo_database["pages"].insert_many(rows)
    whole, partly, empty = page(1, "old", "new"), page(2, "old", "gone"), page(3)
    await versions.store(whole)
    before = await mongo_database["validators"].find_one({"_id": whole.id})
    found = await asyncio.gather(*(versions.seen(each, LATER) for each in (whole, partly, empty)))
    assert found == [True, False, True]
    seen = {row["_id"]: row["last_seen_at"] async for row in mongo_database["pages"].find()}
    assert seen == {"old": LATER, "new": LATER + timedelta(days=1)}, "and nothing is made up"
    after = await mongo_database["validators"].find_one({"_id": whole.id})
    assert before is not None
    assert after is not None
    assert after == before, "no longer kept: a server that says so for ever is not believed for ever"
    await versions.close()


async def test_an_item_of_two_pages_was_seen_when_the_later_one_was(mongo_database: Database) -> None:
    versions = PageVersions(mongo_database, 90)
    await mongo_database["pages"].insert_one({"_id": "i", "last_seen_at": THEN})
    times = (LATER, LATER - timedelta(seconds=1))
    await asyncio.gather(*(versions.seen(page(n, "i"), time) for n, time in enumerate(times)))
    assert (await mongo_database["pages"].find_one({}) or {})["last_seen_at"] == LATER
    await versions.close()


async def test_seen_is_none_whose_item_has_changed_since(mongo_database: Database) -> None:
    versions = PageVersions(mongo_database, 90, runs_kept=5)
    await mongo_database["pages"].insert_one({"_id": "i", "last_changed_at": THEN + timedelta(milliseconds=1)})
    assert not await versions.seen(page(1, "i"), LATER, "20260101-1")
    row = await mongo_database["pages"].find_one()
    assert row is not None
    assert "last_seen_at" not in row, "what the whole page says, fetched in the same turn, is not older than that"
    await versions.close()


async def test_a_record_of_an_earlier_release_was_fetched_when_it_was_written(mongo_database: Database) -> None:
    versions = PageVersions(mongo_database, 90)
    await versions.store(page(1, "i"))
    await mongo_database["validators"].update_one({}, {"$unset": {"fetched_at": 1}, "$set": {"at": LATER}})
    assert await versions.find(page(1).id) == replace(page(1, "i"), fetched_at=LATER)
    await versions.close()


async def test_another_number_of_days_replaces_the_earlier_one(mongo_database: Database) -> None:
    for days in (90, 7):
        versions = PageVersions(mongo_database, days)
        await versions.store(page(1, "i"))
        await versions.close()
    index = (await mongo_database["validators"].index_information())["at"]
    assert index["expireAfterSeconds"] == 7 * 86_400


async def test_a_mongodb_that_is_away_is_a_service_error() -> None:
    async with AsyncMongoClient[dict[str, Any]]("mongodb://127.0.0.1:1", serverSelectionTimeoutMS=50) as client:
        versions = PageVersions(client["nowhere"], 90)
        for call in (versions.find("x"), versions.store(page(1)), versions.seen(page(1, "i"), THEN)):
            with pytest.raises(ServiceError, match="validators"):
                await call
        await versions.close()


@pytest.mark.parametrize(
    ("field", "odd"),
    [
        *(("etag", odd) for odd in (MISSING, None, 7, "\u20ac", '"a"\r\nX: b', "\0", "")),
        *(("modified", odd) for odd in (MISSING, 7, ["a"], "\u20ac")),
        *(
            ("items", odd)
            for odd in (MISSING, "text", 7, [["pages"]], [["pages", 7]], [None], [["", "i"]], [["a$", "i"]])
        ),
        *(("links", odd) for odd in (MISSING, None, "text", ["a"])),
        *(("fetched_at", odd) for odd in (None, "text", 7)),
    ],
)
async def test_a_record_of_another_form_is_none_and_is_replaced(
    mongo_database: Database, field: str, odd: object
) -> None:
    versions = PageVersions(mongo_database, 90)
    whole, spoilt = page(1, "i"), page(2, "i")
    await versions.store(whole)
    await versions.store(spoilt)
    change = {"$unset": {field: 1}} if odd is MISSING else {"$set": {field: odd}}
    await mongo_database["validators"].update_one({"_id": spoilt.id}, change)
    found = await asyncio.gather(*(versions.find(one.id) for one in (whole, spoilt)))
    assert found == [whole, None], "and its neighbour of the same batch is none the worse"
    await versions.store(spoilt)
    assert await versions.find(spoilt.id) == spoilt
    await versions.close()


async def test_a_version_that_is_no_number_counts_as_the_first(mongo_database: Database) -> None:
    versions = PageVersions(mongo_database, 90, runs_kept=5)
    await mongo_database["pages"].insert_one({"_id": "i", "version": "text"})
    assert await versions.seen(page(1, "i"), LATER, "20260101-1")
    recorded = await mongo_database["run_items"].find_one({"run": "20260101-1"})
    assert recorded is not None
    assert recorded["versions"] == [1]
    await versions.close()
