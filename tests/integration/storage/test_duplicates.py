"""The same content under several URLs of a host: stored once, and linked."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest
from scrapy import Spider
from scrapy.crawler import Crawler
from scrapy.statscollectors import MemoryStatsCollector

from crawler.errors import ConfigError
from crawler.items import PageItem
from crawler.pipelines.drops import LinkedItem
from crawler.pipelines.duplicates import LinkDuplicatesPipeline
from crawler.storage.connection import Database
from crawler.storage.writer import Writer
from tests.integration.storage.observing import at, seen
from tests.unit.storage.test_config import shipped

Offer = Callable[[Any], Awaitable[bool]]
A, B, ELSEWHERE = "http://shop.example/p/a", "http://shop.example/p/b?ref=1", "http://other.example/p/a"


def crawler(**changes: Any) -> Crawler:
    made = Crawler(Spider, shipped(**changes))
    made.stats = MemoryStatsCollector(made)
    return made


@pytest.fixture
async def offer(database: Database, writer: Writer, mongodb_uri: str) -> AsyncIterator[Offer]:
    """Send an item through the pipeline and, unless it is linked, into the store; whether it was stored."""
    pipeline = LinkDuplicatesPipeline.from_crawler(crawler(MONGODB_URI=mongodb_uri, MONGODB_DATABASE=database.name))

    async def offer(item: Any) -> bool:
        try:
            await writer.store(await pipeline.process_item(item))
        except LinkedItem:
            return False
        return True

    yield offer
    await pipeline.close_spider()


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


async def test_without_mongodb_items_pass() -> None:
    settings = {"MONGODB_URI": "mongodb://127.0.0.1:1", "STORAGE_CONNECT_SECONDS": 0.1}
    pipeline = LinkDuplicatesPipeline.from_crawler(crawler(**settings))
    item = seen(0, sku="K1")
    assert await pipeline.process_item(item) is item
    await pipeline.close_spider()


def test_a_collection_that_cannot_be_linked_is_refused() -> None:
    with pytest.raises(ConfigError, match="LINK_DUPLICATES_OF"):
        LinkDuplicatesPipeline.from_crawler(crawler(LINK_DUPLICATES_OF=["items"]))
