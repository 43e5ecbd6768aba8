"""`scrapy quality`: what MongoDB counts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bson import Decimal128
from pymongo.asynchronous.database import AsyncDatabase

from crawler.storage.items.origin import Origin
from crawler.storage.reading import quality
from crawler.storage.writer import Writer
from tests.integration.storage.observing import at, seen
from tests.servers import ScrapyRunner

SPIDER = str(Path(__file__).with_name("offering.py"))


async def test_fields_are_counted_by_spider(scrapy_with_servers: ScrapyRunner, writer: Writer) -> None:
    for number in range(4):
        url = f"http://shop.example/p/{number}"
        issues = ["unknown_currency"] if number == 3 else []
        brand = "Acme" if number else None
        await writer.store(seen(0, url=url, brand=brand, issues=issues, source={"spider": "products"}))
    await writer.store(seen(0, url="http://other.example/p", source={"spider": "mine"}))
    await writer.reject(seen(0, url="http://shop.example/p/9", title=None), ["missing_title: title = None"])

    done = scrapy_with_servers.run("quality", "products")
    assert done.returncode == 0, done.stderr
    rows = [line.split() for line in done.stdout.splitlines()]
    assert "products of spider products: 4" in done.stdout
    assert "products of spider mine: 1" in done.stdout
    assert ["brand", "3", "1", "0", "75.0%"] in rows
    assert ["currency", "3", "0", "1", "75.0%"] in rows
    assert ["title", "4", "0", "0", "100.0%"] in rows
    assert "rejected: 1 missing_title" in done.stdout

    other = scrapy_with_servers.run("quality", "products", "--host", "other.example").stdout
    assert "spider mine: 1" in other
    assert "spider products" not in other
    assert scrapy_with_servers.run("quality", "nosuch").returncode == 2


async def test_fields_of_items_of_no_class_are_counted(scrapy_with_servers: ScrapyRunner, writer: Writer) -> None:
    for number in range(3):
        origin = Origin(f"https://shop.example/{number}", at(number), {"spider": "quotes"})
        await writer.store({"text": str(number)} | ({"author": ""} if number else {}), origin)
    shown = scrapy_with_servers.run("quality", "items").stdout
    rows = [line.split() for line in shown.splitlines() if line.startswith("item.")]
    assert rows == [["item.author", "0", "3", "0", "0.0%"], ["item.text", "3", "0", "0", "100.0%"]], shown


async def test_items_of_no_class_have_the_fields_of_their_own_spider(
    scrapy_with_servers: ScrapyRunner, writer: Writer
) -> None:
    for spider, host, item in (
        ("quotes", "quotes.example", {"text": "a"}),
        ("shop", "shop.example", {"price": 5}),
        ("shop", "other.example", {"title": "b"}),
    ):
        await writer.store(item, Origin(f"https://{host}/", at(0), {"spider": spider}))
    shown = scrapy_with_servers.run("quality", "items", "--host", "shop.example").stdout
    rows = [line.split()[:3] for line in shown.splitlines() if line.startswith("item.")]
    assert rows == [["item.price", "1", "0"], ["item.title", "0", "1"]], shown


def test_a_crawl_counts_the_fields_of_its_items(scrapy_with_servers: ScrapyRunner) -> None:
    log = scrapy_with_servers.run("runspider", SPIDER, "-s", "LOG_LEVEL=INFO").stderr
    assert "'items/invalid/price': 1" in log
    assert "'items/missing/title': 1" in log
    assert "'items/invalid/currency': 1" in log
    assert "'items/present/title'" in log


async def test_what_another_program_has_stored_does_not_stop_the_count(
    mongo_database: AsyncDatabase[dict[str, Any]],
) -> None:
    odd: tuple[Any, ...] = ("text", None, 7, {"a": 1}, [1, None], [{"a": 1}], [Decimal128("NaN")])
    documents = [{"issues": value} for value in odd] + [{"source": {"spider": value}} for value in odd]
    await mongo_database.products.insert_many(documents)
    await mongo_database.rejected_items.insert_many([{"collection": "products", "issues": value} for value in odd])
    found = await quality.by_spider(mongo_database, "products", ["title"], {"missing_title": "title"})
    assert [(one.spider, one.documents) for one in found] == [("", 13), ("text", 1)]
    assert await quality.rejections(mongo_database, "products") == {"text": 1}
