"""Indexes: the same whoever creates them, and changed settings reach them."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

import pytest
from pymongo.errors import OperationFailure

from crawler.errors import ServiceError
from crawler.storage import foreign_collections, indexes
from crawler.storage.archive.index import Index
from crawler.storage.collection_names import ARCHIVE, DUPLICATES, PAGE_VERSIONS, REJECTED, RUN_ITEMS
from crawler.storage.connection import Database
from crawler.storage.indexes import PENDING
from crawler.storage.items.duplicates import DuplicateError
from crawler.storage.items.origin import Origin
from crawler.storage.page_versions import PageVersions, StoredVersion
from crawler.storage.reading import reader
from crawler.storage.writer import Writer
from tests.integration.storage.observing import RecordedStats, a_writer, at, seen

OURS: dict[str, Any] = {"source": {"run": "20260301-1"}}


async def test_workers_that_start_together_all_succeed(database: Database, stats: RecordedStats) -> None:
    writers = [a_writer(database, stats) for _ in range(8)]
    await asyncio.gather(*(writer.open() for writer in writers))
    await asyncio.gather(*(writer.store(seen(n, url=f"http://a.example/{n}")) for n, writer in enumerate(writers)))

    found = set(await database.products.index_information())
    assert found == {"_id_", "pending_changes", "last_changed_at", "content_hash_id"}
    assert set(await database.product_changes.index_information()) == {"_id_", "item_version", "at"}
    assert stats.values["storage/errors"] == 0
    for writer in writers:
        await writer.close()


async def test_another_expiry_of_rejected_items_replaces_the_earlier(database: Database, stats: RecordedStats) -> None:
    for days in (30, 7):
        await a_writer(database, stats, rejected_days=days).open()
    found = await database.rejected_items.index_information()
    assert found["at"]["expireAfterSeconds"] == 7 * 86_400
    await database.rejected_items.drop_index("at")
    await database.rejected_items.create_index("at", name="mine", expireAfterSeconds=60)
    await a_writer(database, stats, rejected_days=3).open()
    found = await database.rejected_items.index_information()
    assert found["mine"]["expireAfterSeconds"] == 3 * 86_400


async def test_an_index_that_is_the_same_but_for_its_name_will_do(database: Database, stats: RecordedStats) -> None:
    """As mongosh names it: who has made it before the first crawl must not be kept from crawling."""
    before = {}
    for name in ("products", "product_changes", DUPLICATES, RUN_ITEMS, ARCHIVE):
        await other_names(database, stats, name)
        before[name] = await database[name].index_information()
    writer = a_writer(database, stats)
    await writer.open()
    for second in (1, 2):
        await writer.store(seen(second, f"{second}.00", gtin="4006381333931", **OURS))
    await Index(database).ensure()
    assert {name: await database[name].index_information() for name in before} == before
    assert stats.values["storage/errors"] == 0
    await writer.close()


async def other_names(database: Database, stats: RecordedStats, name: str) -> None:
    """Give the indexes of a collection other names."""
    writer, archive = a_writer(database, stats, batch_ms=5), Index(database)
    await writer.open()
    await writer.store(seen(1, gtin="4006381333931", **OURS))
    await writer.close()
    await archive.ensure()
    made = [dict(index) async for index in await database[name].list_indexes()]
    await database[name].drop()
    for index in made[1:]:
        options = {key: value for key, value in index.items() if key not in {"v", "key", "name"}}
        await database[name].create_index([*index["key"].items()], name=f"my_{index['name']}", **options)
    await database.products.delete_many({})


@pytest.mark.parametrize(("collection", "name"), [("products", "last_changed_at"), ("product_changes", "at")])
async def test_an_index_in_the_way_is_named_with_its_collection(
    collection: str, name: str, database: Database, stats: RecordedStats
) -> None:
    await database[collection].create_index("title", name=name)
    with pytest.raises(ServiceError, match=f"cannot be prepared for storing: collection {collection}: .*{name}"):
        await a_writer(database, stats).open()


async def test_draining_uses_the_index_of_pending_changes(database: Database, stats: RecordedStats) -> None:
    await a_writer(database, stats).open()
    await database.products.insert_one({"_id": "a", "version": 2, "last_changed_at": at(1)})
    plan = await database.products.find({"pending_changes": {"$exists": True}}, hint=PENDING).explain()
    assert plan["executionStats"]["totalKeysExamined"] == 0


async def test_the_items_of_a_page_are_found_by_its_address(database: Database, stats: RecordedStats) -> None:
    writer, page = a_writer(database, stats), "http://a.example/1"
    await writer.open()
    for second, author in ((1, "Ada"), (2, "Bob"), (5, "Ada")):
        await writer.store({"author": author}, Origin(page, at(second), {"spider": "quotes"}))
    await writer.store({"author": "Ada"}, Origin(page, at(3), {"spider": "other"}))
    assert await reader.items_of(database, [page, f"{page}/"], "quotes") == {
        "documents": 2,
        "version": 1,
        "first_seen_at": at(1),
        "last_seen_at": at(5),
    }
    assert await reader.items_of(database, ["http://a.example/2"], "quotes") is None
    plan = await database.items.find({"url": {"$in": [page]}}).explain()
    assert plan["executionStats"]["totalDocsExamined"] == 3
    assert "url" in await database.items.index_information()
    await writer.close()


async def written(writer: Writer, versions: PageVersions, archive: Index, second: int) -> None:
    """Something to each collection that has indexes."""
    for url in (f"http://a.example/{second}", "http://a.example/0"):
        with suppress(DuplicateError):
            await writer.store(seen(second, f"{second}.00", url=url, gtin="4006381333931", **OURS))
    await writer.reject({"a": second}, ["missing_title: title = None"])
    await versions.store(StoredVersion("s http://a.example/", "e", "", (), b"", at(second)))
    await archive.write([])


@pytest.mark.parametrize(
    "collection", ["products", "product_changes", REJECTED, DUPLICATES, RUN_ITEMS, PAGE_VERSIONS, ARCHIVE]
)
@pytest.mark.parametrize("how", ["dropped", "renamed"])
async def test_a_collection_that_is_made_anew_under_a_crawl_gets_its_indexes(
    collection: str,
    how: str,
    writer: Writer,
    database: Database,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """MongoDB makes one by itself, without any: duplicates would be looked for in all documents, and none expire."""
    monkeypatch.setattr(foreign_collections, "LOOK_SECONDS", 0.0)
    versions, archive = PageVersions(database, 3650), Index(database)
    await archive.ensure()
    await written(writer, versions, archive, 1)
    await written(writer, versions, archive, 2)
    before = await database[collection].index_information()
    await (database[collection].drop() if how == "dropped" else database[collection].rename("moved"))
    await database[collection].insert_one({"_id": "of another worker"})
    assert not caplog.records
    for second in (3, 4):
        await asyncio.gather(*(written(writer, versions, archive, second) for _ in range(2)))
    assert await database[collection].index_information() == before
    (line,) = caplog.messages
    assert f"Collection {collection} of {database.name} is not the one that it was" in line
    assert "a renaming: it got its indexes. `scrapy migrate` sets its validator again, if that was one of ours" in line
    await versions.close()


async def test_no_collection_is_said_to_have_indexes_that_were_refused(
    writer: Writer, database: Database, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """As where the user has lost the right since."""

    async def refused(*_: object) -> None:
        raise OperationFailure("not authorized on shoal to execute command", 13)

    monkeypatch.setattr(foreign_collections, "LOOK_SECONDS", 0.0)
    await writer.store(seen(1))
    await database.products.drop()
    monkeypatch.setattr(indexes, "create", refused)
    for second in (2, 3):
        await writer.store(seen(second))
    why, what = caplog.messages
    assert "MongoDB refuses indexes of products" in why
    assert "is not the one that it was, as after a drop or a renaming. `scrapy migrate` sets" in what
