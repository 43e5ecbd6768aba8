"""Which documents a run has, and what became of them from one run to the next."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest
from bson import DatetimeMS, Decimal128
from pymongo.asynchronous.database import AsyncDatabase

from crawler.items import ProductItem
from crawler.storage.collection_names import RUN_ITEMS
from crawler.storage.items import run_items
from crawler.storage.items.documents import document
from crawler.storage.items.origin import Origin
from crawler.storage.items.run_items import Difference, RunItem, RunItems
from crawler.storage.page_versions import PageVersions, StoredVersion
from crawler.storage.spool import entries
from tests.integration.storage.observing import RecordedStats, a_writer, at

Database = AsyncDatabase[dict[str, Any]]
FIRST, SECOND = "20261122-1", "20261123-1"


def product(name: str, run: str, seconds: int, price: str = "1") -> ProductItem:
    url = f"https://shop.example/{name}"
    return ProductItem(url=url, title=f"{name} {price}", fetched_at=at(seconds), source={"run": run})


async def test_a_diff_names_what_is_new_changed_and_gone(mongo_database: Database) -> None:
    writer = a_writer(mongo_database, RecordedStats())
    await writer.open()
    for name in ("a", "b", "c"):
        await writer.store(product(name, FIRST, 0))
    await writer.store(product("a", FIRST, 5))  # delivered again
    await asyncio.gather(
        writer.store(product("a", SECOND, 100)),
        writer.store(product("b", SECOND, 100, "2")),
        writer.store(product("d", SECOND, 100)),
    )
    await writer.store({"no": "item class"}, Origin("https://shop.example/", at(100), {"run": SECOND}))
    await writer.store(product("e", "", 100))
    await writer.close()
    url = "https://shop.example/"
    first = [one async for one in run_items.members(mongo_database, FIRST)]
    assert first == [RunItem("products", url + name, 1) for name in ("a", "b", "c")]
    assert await run_items.counts(mongo_database, FIRST) == {"products": 3}
    assert await run_items.counts(mongo_database, SECOND) == {"items": 1, "products": 3}
    found = [one async for one in run_items.differences(mongo_database, FIRST, SECOND)]
    assert found[0].collection == "items"
    assert found[1:] == [
        Difference("unchanged", "products", url + "a", 1, 1),
        Difference("changed", "products", url + "b", 1, 2),
        Difference("gone", "products", url + "c", 1, 0),
        Difference("new", "products", url + "d", 0, 1),
    ]
    back = [one.kind async for one in run_items.differences(mongo_database, SECOND, FIRST)]
    assert back == ["gone", "unchanged", "changed", "new", "gone"]
    assert [one async for one in run_items.differences(mongo_database, "20261101-1", "20261101-2")] == []


async def test_a_diff_tells_the_pages_of_items_of_no_class(mongo_database: Database) -> None:
    """Their `_id` is a digest, which says nothing to a person. More of them than are looked up at once."""
    number = run_items.BATCH + 2
    records = RunItems(mongo_database, kept=10)
    await mongo_database["items"].insert_many(
        {"_id": f"{one:04}", "url": f"https://shop.example/{one}"} for one in range(number) if one != 3
    )
    await records.add("items", {FIRST: [("0000", 1)], SECOND: [(f"{one:04}", 1) for one in range(number)]})
    found = [one async for one in run_items.differences(mongo_database, FIRST, SECOND)]
    assert [one.id for one in found] == [f"{one:04}" for one in range(number)]
    assert found[:2] == [
        Difference("unchanged", "items", "0000", 1, 1),
        Difference("new", "items", "0001", 0, 1, "https://shop.example/1"),
    ]
    assert (found[3].url, found[-1].url) == ("", f"https://shop.example/{number - 1}"), "0003 was deleted since"


async def test_a_page_that_answered_304_is_part_of_the_run(mongo_database: Database) -> None:
    writer = a_writer(mongo_database, RecordedStats())
    await writer.open()
    await writer.store(product("a", FIRST, 0))
    await writer.close()
    versions = PageVersions(mongo_database, 90, 30)
    pair = ("products", "https://shop.example/a")
    page = StoredVersion("page", "e", "", (pair,), b"", at(0))
    assert await versions.seen(page, at(50), SECOND)
    assert not await versions.seen(replace(page, items=(pair, ("products", "missing"))), at(50), "20261124-3")
    await versions.close()
    members = [one async for one in run_items.members(mongo_database, SECOND)]
    assert members == [RunItem("products", "https://shop.example/a", 1)]
    none = [one async for one in run_items.members(mongo_database, "20261124-3")]
    assert none == [], "it is fetched whole, which says what it has"


async def test_the_newest_runs_are_kept(mongo_database: Database) -> None:
    kept = RunItems(mongo_database, 2)
    for number in (1, 2, 10, 3):
        await kept.add("products", {f"20261122-{number}": [("a", 1)]})
    assert sorted(await mongo_database[RUN_ITEMS].distinct("run")) == ["20261122-10", "20261122-3"]
    for number in range(20, 25):  # start URLs come and go
        await kept.add("products", {f"20261122-{number}": [("a", 1)]}, {f"20261122-{number}"})
        await kept.add("products", {f"20261122-{number}": [("b", 1)]})
    assert sorted(await mongo_database[RUN_ITEMS].distinct("run")) == [
        f"20261122-{number}" for number in (10, 23, 24, 3)
    ]
    await RunItems(mongo_database, 0).add("products", {"20261123-1": [("a", 1)]})
    assert await run_items.counts(mongo_database, "20261123-1") == {}


async def test_an_older_run_that_goes_on_is_forgotten_again(mongo_database: Database) -> None:
    records = RunItems(mongo_database, kept=1)
    for run in (FIRST, SECOND, FIRST):
        await records.add("products", {run: [("a", 1)]})
    assert await mongo_database["run_items"].distinct("run") == [SECOND]


@pytest.mark.parametrize(("generation", "plain"), [("0", True), ("7", True), ("20261122000001", False), ("", False)])
async def test_a_run_of_start_urls_is_known_by_its_generation(
    mongo_database: Database, generation: str, plain: bool
) -> None:
    writer = a_writer(mongo_database, RecordedStats())
    await writer.open()
    item = product("a", FIRST, 0)
    item.source = item.source | {"generation": generation}
    await writer.store(item)
    await writer.close()
    [row] = await mongo_database[RUN_ITEMS].find().to_list()
    assert row.get("plain", False) == plain


@pytest.mark.parametrize("run", [FIRST, ""])
def test_the_spool_knows_the_run_without_a_field_of_its_own(run: str) -> None:
    made = document(product("a", run, 0), datetime.fromisoformat("2026-11-22T00:00:00+00:00"), 10_000)
    assert made.run == run
    [back] = entries.unpack(entries.pack([made]))
    assert back == made
    assert b"\x02run\x00" not in entries.pack([made]).replace(bytes(made.body.raw), b"")


async def test_records_of_another_form_are_passed_over(mongo_database: Database) -> None:
    good = {"run": FIRST, "collection": "products", "ids": ["a", "b"], "versions": [1, 2]}
    odd: tuple[Any, ...] = (None, "text", 7, {"a": 1}, [["x"]], [1, None], Decimal128("NaN"), ["c"], DatetimeMS(2**62))
    records = [{**good, field: value} for field in ("collection", "ids", "versions") for value in odd]
    await mongo_database["run_items"].insert_many([good, {"run": FIRST}, *records])
    members = [one async for one in run_items.members(mongo_database, FIRST) if one.collection == "products"]
    assert [one for one in members if one.id != "c"] == [RunItem("products", "a", 1), RunItem("products", "b", 2)]
    assert await run_items.counts(mongo_database, FIRST) == {"products": 3, "text": 2}
    assert [one.kind async for one in run_items.differences(mongo_database, FIRST, SECOND)] == ["gone"] * 5
