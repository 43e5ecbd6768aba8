"""The same content under several URLs of a host: stored once, and linked."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from pymongo.asynchronous.collection import AsyncCollection
from scrapy import Spider
from scrapy.crawler import Crawler
from scrapy.statscollectors import MemoryStatsCollector

from crawler.items import PageItem
from crawler.pipelines.drops import LinkedItem
from crawler.pipelines.mongodb import MongoPipeline
from crawler.storage.connection import Database
from crawler.storage.items import duplicates
from crawler.storage.items.duplicates import DuplicateError
from crawler.storage.items.repository import StoreResult
from crawler.storage.writer import Writer
from tests.integration.storage.observing import RecordedStats, a_writer, at, seen
from tests.shipped import shipped

Offer = Callable[[Any], Awaitable[bool]]
A, B, ELSEWHERE = "http://shop.example/p/a", "http://shop.example/p/b?ref=1", "http://other.example/p/a"


@pytest.fixture
def offer(writer: Writer) -> Offer:
    """Offer an item to the store; whether it was stored, and not linked."""

    async def offer(item: Any) -> bool:
        try:
            await writer.store(item)
        except DuplicateError:
            return False
        return True

    return offer


async def test_the_second_url_is_linked_and_not_stored(database: Database, offer: Offer) -> None:
    assert await offer(seen(0, url=A, sku="K1"))
    assert not await offer(seen(5, url=B, sku="K1", source={"spider": "products"}))
    assert not await offer(seen(9, url=B, sku="K1"))
    assert await offer(seen(9, url=ELSEWHERE, sku="K1"))
    assert await offer(seen(9, url=A, sku="K1"))
    assert sorted(await database["products"].distinct("_id")) == sorted([A, ELSEWHERE])
    (link,) = await database["duplicates"].find().to_list()
    assert (link["_id"], link["duplicate_of"], link["url"]) == (f"products {B}", A, B)
    assert (link["first_seen_at"], link["last_seen_at"]) == (at(5), at(9))


async def test_of_a_host_with_many_copies_a_few_are_read(
    database: Database, offer: Offer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As it has them from before LINK_DUPLICATES_OF was set."""
    monkeypatch.setattr(duplicates, "COPIES", 3)
    assert await offer(seen(0, url=A, sku="K1"))
    (one,) = await database["products"].find().to_list()
    copies = [one | {"_id": f"{A}{n}", "first_seen_at": at(-n)} for n in range(6)]
    await database["products"].insert_many(copies)
    assert not await offer(seen(9, url=B, sku="K1"))
    (link,) = await database["duplicates"].find().to_list()
    assert link["duplicate_of"] == f"{A}1", "the first that was seen of those three"


@pytest.mark.parametrize("copies", [0, 8], ids=["in one query", "in several where one has many copies"])
async def test_what_a_batch_has_alike_is_looked_up_together(
    database: Database, writer: Writer, monkeypatch: pytest.MonkeyPatch, copies: int
) -> None:
    monkeypatch.setattr(duplicates, "COPIES", 3)
    monkeypatch.setattr(duplicates, "READ", 8)
    asked, aggregate = [], AsyncCollection.aggregate

    async def counted(self: Any, stages: list[dict[str, Any]]) -> Any:
        asked.append(stages)
        return await aggregate(self, stages)

    await asyncio.gather(*(writer.store(seen(0, url=f"{A}{n}", sku=f"K{n}")) for n in range(6)))
    one = await database["products"].find_one({"_id": f"{A}0"})
    assert one is not None
    if copies:
        await database["products"].insert_many(
            [one | {"_id": f"{A}0{n}", "first_seen_at": at(1)} for n in range(copies)]
        )
    monkeypatch.setattr(AsyncCollection, "aggregate", counted)
    alike = [seen(9, url=f"{B}&{n}", sku=f"K{n}") for n in range(6)]
    links = await asyncio.gather(*map(writer.store, alike), return_exceptions=True)
    assert [one.original for one in links if isinstance(one, DuplicateError)] == [f"{A}{n}" for n in range(6)]
    assert len(asked) == 1 if not copies else 1 < len(asked) < 2 * len(alike)
    assert {limit["$limit"] for _, limit, *_ in asked} <= {3, 8}


async def test_what_becomes_different_is_stored_itself_and_stays(database: Database, offer: Offer) -> None:
    assert await offer(seen(0, url=A, sku="K1"))
    assert not await offer(seen(1, url=B, sku="K1"))
    assert await offer(seen(2, "12.00", url=B, sku="K1"))
    assert await offer(seen(3, "10.00", url=B, sku="K1"))  # alike again, with a history of its own now
    found = await database["products"].find_one({"_id": B})
    assert found is not None
    assert found["version"] == 2


async def test_what_says_too_little_is_never_linked(database: Database, offer: Offer) -> None:
    for url in (A, B):
        assert await offer(seen(0, url=url))
        assert await offer(PageItem(url=url, title="Not available", text="in your region", fetched_at=at(0)))
        assert await offer({"url": url})
    assert await offer(PageItem(url=A, text="long " * 50, fetched_at=at(1)))
    assert not await offer(PageItem(url=f"{B}&c", text="long " * 50, fetched_at=at(2)))
    assert await database["duplicates"].count_documents({}) == 1


async def test_one_batch_links_stores_and_leaves_alone(database: Database, writer: Writer) -> None:
    await writer.store(seen(0, url=A, sku="K1"))
    await writer.store(seen(0, url=f"{A}1", sku="K2"))
    items = [
        seen(1, url=B, sku="K1"),
        seen(1, url=f"{B}1", sku="K3"),
        seen(1, url=f"{A}1", sku="K2"),
        seen(1, "9.00", url=A, sku="K1"),
        seen(1, url="http://[half/", sku="K1"),  # no URL that has a host
    ]
    linked, *others = await asyncio.gather(*map(writer.store, items), return_exceptions=True)
    assert isinstance(linked, DuplicateError)
    assert linked.original == A
    assert others == [StoreResult.NEW, StoreResult.UNCHANGED, StoreResult.CHANGED, StoreResult.NEW]
    assert await database["products"].count_documents({}) == 4
    assert await database["product_changes"].distinct("item") == [A]


async def test_no_document_of_another_host_is_looked_at(database: Database, offer: Offer) -> None:
    """Thousands of hosts may have the same page."""
    others = [f"{number}.example" for number in range(50)]
    hosts = ["shop.example", "shop.example:8080", "10.0.0.1", "10.0.0.12", "[::1]", *others]
    assert all([await offer(seen(0, url=f"http://{host}/", sku="K1")) for host in hosts[2:]])
    await database.command("profile", 2)
    for host, original in ((hosts[0], ""), (hosts[1], hosts[0]), ("10.0.0.1:80", "10.0.0.1"), ("[::1]:80", "[::1]")):
        assert await offer(seen(1, url=f"http://{host}/", sku="K1")) == (not original)
        if original:
            link = await database["duplicates"].find_one({"url": f"http://{host}/"})
            assert link is not None
            assert link["duplicate_of"] == f"http://{original}/"
    await database.command("profile", 0)
    reads = await database["system.profile"].find({"op": "query", "ns": f"{database.name}.products"}).to_list()
    assert max(one["docsExamined"] for one in reads) <= 2


async def test_linking_can_be_off(database: Database, stats: RecordedStats) -> None:
    writer = a_writer(database, stats, batch_ms=5, link_duplicates=frozenset())
    for url in (A, B):
        assert await writer.store(seen(0, url=url, sku="K1")) is StoreResult.NEW
    await writer.close()


async def test_the_pipeline_drops_what_is_linked(database: Database, mongodb_uri: str) -> None:
    made = Crawler(Spider, shipped(MONGODB_URI=mongodb_uri, MONGODB_DATABASE=database.name, SPOOL_DIR=""))
    made.stats = MemoryStatsCollector(made)
    pipeline = MongoPipeline.from_crawler(made)
    await pipeline.open_spider()
    await pipeline.process_item(seen(0, url=A, sku="K1"))
    with pytest.raises(LinkedItem, match="has the content of"):
        await pipeline.process_item(seen(1, url=B, sku="K1"))
    await pipeline.close_spider()
    assert (made.stats.get_value("items/new"), made.stats.get_value("items/linked")) == (1, 1)
