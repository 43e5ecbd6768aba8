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
    feed = tmp_path / "items.jsonl"
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
    (foreign,) = [each async for each in mongo_database["items"].find()]
    assert (foreign["item"], foreign["url"], foreign["source"]["spider"]) == ({"anything": 1}, "data:,shop", "offering")
    assert await mongo_database.pages.count_documents({}) == 0

    rejected = await mongo_database.rejected_items.find().to_list()
    assert sorted(each["reasons"][0].partition(":")[0] for each in rejected) == [
        "field_name",
        "invalid_price",
        "lone_surrogate",
        "missing_title",
    ]
    assert {(each["page"], each["source"]["spider"]) for each in rejected} == {("data:,shop", "offering")}
    assert {each["url"] for each in rejected if each["issues"] == ["field_name"]} == {"data:,shop"}
    lines = [line for line in log.splitlines() if "Rejected http" in line or "Rejected data:" in line]
    assert len(lines) == 4
    assert "Knife" in feed.read_text()
    assert any("http://shop.example/p/3" in line and "price = 'five' is no Decimal" in line for line in lines)


ELSEWHERE = """
from datetime import datetime
from tests.integration.storage.offering import OfferingSpider
import scrapy
from crawler.items import PageItem

class Elsewhere(OfferingSpider):
    name = "{name}"

    async def start(self):
        yield {{"from": "start"}}
        yield scrapy.Request("data:,one", self.parse)
        yield scrapy.Request("data:,two", self.parse)
        yield scrapy.Request("nosuch://host/", self.parse, errback=self.failed)

    def parse(self, response):
        yield {{"from": "page"}}
        yield PageItem(url="http://shop.example/1", title="t", fetched_at="yesterday")
        yield PageItem(url="http://shop.example/2", title="t", published_at=datetime.max, fetched_at=datetime.max)

    def failed(self, failure):
        yield {{"from": "errback"}}
        yield PageItem(url="http://shop.example/", title="t")
"""


async def test_each_item_says_where_it_is_from_whichever_way_it_came(
    scrapy_with_servers: ScrapyRunner, mongo_database: Database, tmp_path: Path
) -> None:
    for name in ("first", "second"):
        (tmp_path / f"{name}.py").write_text(ELSEWHERE.format(name=name))
        done = scrapy_with_servers.run("runspider", str(tmp_path / f"{name}.py"))
        assert (done.returncode, "Traceback" in done.stderr) == (0, False), done.stderr
    found = sorted(
        [(each["source"]["spider"], each["item"]["from"], each["url"]) async for each in mongo_database["items"].find()]
    )
    assert found == [
        (name, *rest)
        for name in ("first", "second")
        for rest in (
            ("errback", "nosuch://host/"),
            ("page", "data:,one"),
            ("page", "data:,two"),
            ("start", ""),
        )
    ]
    pages = [each async for each in mongo_database["pages"].find()]
    assert {each["_id"] for each in pages} == {"http://shop.example/", "http://shop.example/2"}
    assert {each["source"]["spider"] for each in pages} <= {"first", "second"}
    rejected = [each async for each in mongo_database["rejected_items"].find()]
    assert {(each["url"], each["issues"][0], each["page"][:5]) for each in rejected} == {
        ("http://shop.example/1", "wrong_type", "data:")
    }


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
