"""The pipelines behind Scrapy itself, on the real mongod."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Any

from pymongo.asynchronous.database import AsyncDatabase

from tests.servers import ScrapyRunner

SPIDER = str(Path(__file__).with_name("offering.py"))
Database = AsyncDatabase[dict[str, Any]]


def crawl(scrapy: ScrapyRunner, *args: str) -> str:
    done = scrapy.run("runspider", SPIDER, "-s", "LOG_LEVEL=INFO", *args)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    return done.stderr


def stats(log: str) -> dict[str, int]:
    return {
        name: int(value)
        for name, value in re.findall(r"'((?:items(?!/present|/missing|/invalid)|storage)/[\w/]+)': (\d+)", log)
    }


async def test_items_of_every_kind_end_where_they_belong(
    scrapy_with_servers: ScrapyRunner, mongo_database: Database, tmp_path: Path
) -> None:
    feed = tmp_path / "items.csv"
    log = crawl(scrapy_with_servers, "-O", str(feed))

    assert stats(log) == {
        "items/new": 3,
        "items/duplicate": 1,
        "items/rejected": 4,
        "items/issues/unknown_currency": 1,
        "items/issues/invalid_price": 1,
        "items/issues/missing_title": 1,
        "items/issues/lone_surrogate": 1,
        "items/issues/field_name": 1,
        "storage/changes": 0,
    }
    products = {each["title"]: each async for each in mongo_database.products.find()}
    assert set(products) == {"Knife", "Fork"}
    assert products["Knife"]["currency"] == "EUR"
    assert products["Fork"]["issues"] == ["unknown_currency"]
    assert [each["item"] async for each in mongo_database["items"].find()] == [{"anything": 1}]
    assert await mongo_database.pages.count_documents({}) == 0

    rejected = await mongo_database.rejected_items.find().to_list()
    assert sorted(each["reasons"][0].partition(":")[0] for each in rejected) == [
        "field_name",
        "invalid_price",
        "lone_surrogate",
        "missing_title",
    ]
    lines = [line for line in log.splitlines() if "Rejected http" in line or "Rejected dict" in line]
    assert len(lines) == 4
    assert "Knife" in feed.read_text()
    assert any("http://shop.example/p/3" in line and "price = 'five' is no Decimal" in line for line in lines)


async def test_second_crawl_finds_the_changed_price(
    scrapy_with_servers: ScrapyRunner, mongo_database: Database
) -> None:
    crawl(scrapy_with_servers)
    log = crawl(scrapy_with_servers, "-a", "visit=2")

    assert {name: stats(log)[name] for name in ("items/changed", "items/unchanged", "storage/changes")} == {
        "items/changed": 1,
        "items/unchanged": 2,
        "storage/changes": 1,
    }
    (record,) = await mongo_database.product_changes.find().to_list()
    prices = record["changes"]["price"]
    assert (str(prices["old"]), str(prices["new"])) == ("19.90", "17.50")
    assert await mongo_database.rejected_items.count_documents({"times": 2}) == 4


def test_unreachable_mongodb_stops_the_crawl_at_its_start(scrapy_run: ScrapyRunner) -> None:
    uri = "mongodb://reader:s3cret@127.0.0.1:1/"
    began = time.monotonic()
    done = scrapy_run.run("runspider", SPIDER, "-s", "STORAGE_CONNECT_SECONDS=0.5", env={"MONGODB_URI": uri})
    assert time.monotonic() - began < 30
    assert "MongoDB at 127.0.0.1:1 does not serve us" in done.stderr
    assert "s3cret" not in done.stderr
    assert "item_scraped_count" not in done.stderr
