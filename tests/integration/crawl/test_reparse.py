"""`scrapy reparse`: selectors change, and the stored products with them, without a request."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from pymongo.asynchronous.database import AsyncDatabase

from tests.crawling import Fleet, ended
from tests.effort import PATIENCE
from tests.servers import ScrapyRunner
from tests.sites import Page, Site

Database = AsyncDatabase[dict[str, Any]]
PRODUCT = """<html><head><script type="application/ld+json">{{"@context": "https://schema.org", "@type": "Product",
"name": "Knife {0}", "sku": "K{0}", "offers": {{"@type": "Offer", "price": "1{0}.50", "priceCurrency": "EUR"}}}}
</script></head><body><h1>Knife {0}</h1><b id="by">Acme</b></body></html>"""
RULE = '["127.0.0.1".fields]\nbrand = "#by"\n'


class Shop:
    """Ten products, crawled with the archive on."""

    def __init__(self, fleet: Fleet, directory: Path) -> None:
        self._fleet = fleet
        self.directory = directory
        links = "".join(f'<li><a href="/p/{n}">Knife {n}</a> 1{n}.50 EUR</li>' for n in range(10))
        products = {f"/p/{n}": Page(PRODUCT.format(n)) for n in range(10)}
        self.site = Site({"/": Page(f"<html><body><ul>{links}</ul></body></html>")} | products)
        self._rules = directory / "domains.toml"
        self._rules.write_text("")

    def options(self, **settings: Any) -> list[str]:
        pipelines = {
            f"crawler.pipelines.{name}": n for n, name in enumerate(("clean.CleanPipeline", "mongodb.MongoPipeline"))
        }
        own = {
            "SPIDER_MODULES": "crawler.spiders",
            "FRONTIER_ITEM_PIPELINES": pipelines,
            "ARCHIVE_DIR": str(self.directory / "archive"),
            "DOMAINS_FILE": str(self._rules),
        }
        return self._fleet.options(**own | settings)

    async def crawl(self, keep: str = "all") -> None:
        await self._fleet.push(self.site.url("/"), spider="products")
        worker = self._fleet.runner.fork("crawl", "products", *self.options(ARCHIVE_PAGES=keep))
        assert (await ended(worker))[0] == 0

    def change_rules(self, text: str) -> None:
        self._rules.write_text(text)

    def reparse(self, *args: str, status: int = 0, **settings: Any) -> str:
        asked = len(self.site.received)
        done = self._fleet.runner.run("reparse", "products", *args, *self.options(**settings))
        assert done.returncode == status, done.stderr
        assert len(self.site.received) == asked
        self.said = done.stderr
        return " ".join(done.stdout.split())

    def reparse_as_a_person(self) -> str:
        """With workers that are programs of their own, which tests/forking.py forks elsewhere."""
        command = self._fleet.runner.start("reparse", "products", *self.options())
        shown, said = command.communicate(timeout=PATIENCE)
        assert command.returncode == 0, said
        return " ".join(shown.split())


@pytest.fixture
def shop(fleet: Fleet, tmp_path: Path) -> Shop:
    return Shop(fleet, tmp_path)


async def brands(database: Database) -> list[Any]:
    return [each["brand"] async for each in database["products"].find().sort("_id")]


async def test_changed_selectors_change_the_products_and_their_history(shop: Shop, mongo_database: Database) -> None:
    with shop.site:
        await shop.crawl()
        assert await brands(mongo_database) == [None] * 10
        before = await mongo_database["products"].find_one({"_id": shop.site.url("/p/3")})
        assert before is not None
        shop.change_rules(RULE)

        dry = shop.reparse("--dry-run")
        assert "11 pages parsed again" in dry
        assert "10 changed" in dry
        assert re.search(r"brand +10 +\S+ +- +Acme", dry)
        assert "nothing is written" in dry
        assert await brands(mongo_database) == [None] * 10

        assert "10 changed" in shop.reparse("--workers", "2")
        assert await brands(mongo_database) == ["Acme"] * 10
        after = await mongo_database["products"].find_one({"_id": shop.site.url("/p/3")})
        assert after is not None
        assert after["version"] == 2
        assert [after[name] for name in ("fetched_at", "last_seen_at", "first_seen_at")] == [
            before[name] for name in ("fetched_at", "last_seen_at", "first_seen_at")
        ]
        assert after["source"]["request_id"] == before["source"]["request_id"]
        assert after["source"]["worker"] == before["source"]["worker"]
        changes = await mongo_database["product_changes"].find({"item": shop.site.url("/p/3")}).to_list()
        assert [one["changes"] for one in changes] == [{"brand": {"old": None, "new": "Acme"}}]

        again = shop.reparse()
        assert "10 unchanged" in again
        assert await mongo_database["products"].find_one({"_id": after["_id"]}) == after
        assert "requests discarded" not in again  # the spider did not make them
        assert await mongo_database["product_changes"].count_documents({}) == 10


async def test_an_older_page_never_overwrites_a_newer_state(shop: Shop, mongo_database: Database) -> None:
    with shop.site:
        await shop.crawl()
        newer = await mongo_database["archive"].find_one({"url": {"$regex": "/p/"}})
        assert newer is not None
        await mongo_database["products"].update_one(
            {"_id": newer["url"]}, [{"$set": {"last_seen_at": {"$add": ["$last_seen_at", 1]}, "brand": "Later"}}]
        )
        shop.change_rules(RULE)
        shown = shop.reparse_as_a_person()
    assert "1 older" in shown
    assert sorted(await brands(mongo_database)) == ["Acme"] * 9 + ["Later"]


async def test_pages_are_chosen_by_host_time_and_number(shop: Shop) -> None:
    with shop.site:
        await shop.crawl()
        assert "0 pages" in shop.reparse("--host", "other.example")
        assert "11 pages" in shop.reparse("--host", "127.0.0.1", "--since", "1h")
        assert "0 pages" in shop.reparse("--since", "2999-01-01")
        assert "3 pages" in shop.reparse("--limit", "3", "--workers", "2", "--dry-run")


async def test_pages_whose_file_is_gone_are_counted(shop: Shop) -> None:
    with shop.site:
        await shop.crawl()
        for path in (shop.directory / "archive").iterdir():
            path.unlink()
        shown = shop.reparse(status=1)
    assert "0 pages parsed again" in shown
    assert "11 pages gone from the archive" in shown


async def test_pages_that_cannot_be_read_are_named_and_the_others_are_parsed(
    shop: Shop, mongo_database: Database
) -> None:
    with shop.site:
        await shop.crawl()
        (path,) = (shop.directory / "archive").iterdir()
        places = {one["url"]: one async for one in mongo_database["archive"].find()}
        flipped, moved, swapped, unplaced, timeless = (places[shop.site.url(f"/p/{n}")] for n in range(5))
        content = bytearray(path.read_bytes())
        content[flipped["offset"] + flipped["length"] // 2] ^= 1
        path.write_bytes(content)
        for one, wrong in (
            (moved, {"$inc": {"offset": 7}}),
            (swapped, {"$set": {"offset": places[shop.site.url("/p/9")]["offset"]}}),
            (unplaced, {"$unset": {"length": 1}}),
            (timeless, {"$set": {"seen_at": "yesterday"}}),
        ):
            await mongo_database["archive"].update_one({"_id": one["_id"]}, wrong)
        shop.change_rules(RULE)
        shown = shop.reparse(status=1)
    assert "6 pages parsed again" in shown
    assert "5 pages damaged in the archive" in shown
    assert shop.said.count("An archived page was not parsed") == 5
    assert all(one["url"] in shop.said for one in (flipped, moved, swapped, unplaced, timeless))
    assert sorted(brand or "" for brand in await brands(mongo_database)) == [""] * 5 + ["Acme"] * 5


async def test_what_a_killed_worker_left_damaged_is_named_and_the_others_are_parsed(
    shop: Shop, mongo_database: Database
) -> None:
    """Its pages are listed from the file: the index of it may be gone with the worker."""
    with shop.site:
        await shop.crawl()
        (path,) = (shop.directory / "archive").iterdir()
        one = await mongo_database["archive"].find_one({"url": shop.site.url("/p/3")})
        assert one is not None
        for name in ("archive", "archive_files"):
            await mongo_database[name].drop()
        assert "0 pages match" in shop.reparse()
        assert f"lacks archive files in {path.parent} (1, such as {path.name}): end their names in .open" in shop.said
        content = bytearray(path.read_bytes())
        content[one["offset"] + 20] ^= 1
        path.with_name(f"{path.name}.open").write_bytes(content)
        path.unlink()
        shown = shop.reparse(status=1)
    assert "10 pages parsed again" in shown
    assert f"{path.name} is damaged from byte {one['offset']} on, {one['length']} bytes" in shop.said
    assert path.read_bytes() == content


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ([], "name one spider"),
        (["nosuch"], "there is no spider 'nosuch'"),
        (["products", "--workers", "0"], "--workers = '0' is invalid: expected an integer from 1 to 64"),
        (["products", "--since", "soon"], "--since = 'soon' is invalid: expected a time"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line(scrapy_run: ScrapyRunner, args: list[str], words: str) -> None:
    done = scrapy_run.run("reparse", *args)
    assert done.returncode == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr
