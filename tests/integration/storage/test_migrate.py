"""`scrapy migrate`: validators on the real mongod, and what they let through."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from bson.decimal128 import Decimal128
from pymongo.asynchronous.database import AsyncDatabase
from pymongo.errors import WriteError

from crawler.errors import ShoalError
from crawler.items import PageItem
from crawler.storage.archive.archive import Archive
from crawler.storage.archive.config import ArchiveConfig, Keep
from crawler.storage.archive.index import Index
from crawler.storage.archive.store import Store
from crawler.storage.config import StorageConfig
from crawler.storage.connection import Database
from crawler.storage.items.values import UnstorableError
from crawler.storage.migrations import MIGRATIONS, Migration, apply, current, plan
from crawler.storage.writer import Writer
from tests.integration.storage.observing import RecordedStats, at, seen
from tests.integration.storage.test_archive import page
from tests.servers import ScrapyRunner

LAST = MIGRATIONS[-1].version


async def migrate(database: Database, migrations: tuple[Migration, ...] = MIGRATIONS) -> list[str]:
    steps = await plan(database, StorageConfig(), migrations)
    await apply(database, steps, at(0))
    return [str(step) for step in steps]


async def test_the_command_shows_first_and_then_does(scrapy_with_servers: ScrapyRunner, database: Database) -> None:
    dry = scrapy_with_servers.run("migrate", "--dry-run")
    assert dry.returncode == 0, dry.stderr
    assert "version 1, products: create it with a validator" in dry.stdout
    assert f"would go from schema version 0 to {LAST}" in dry.stdout
    assert await database.list_collection_names() == []

    assert f"schema version {LAST}, was 0" in scrapy_with_servers.run("migrate").stdout
    assert await current(database) == LAST
    assert "$jsonSchema" in (await database["products"].options())["validator"]
    assert f"schema version {LAST}, nothing to do" in scrapy_with_servers.run("migrate").stdout
    applied = await database["schema"].find_one()
    assert applied is not None
    assert [one["version"] for one in applied["applied"]] == [one.version for one in MIGRATIONS]


async def test_validators_outlast_a_failover(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """A command has no write concern of its own in PyMongo."""
    sent: list[Any] = []
    command = AsyncDatabase.command

    async def noting(self: Any, name: str, *args: Any, **options: Any) -> Any:
        sent.append((name, options.get("writeConcern")))
        return await command(self, name, *args, **options)

    monkeypatch.setattr(AsyncDatabase, "command", noting)
    await migrate(database)
    assert len(sent) > 1
    assert all(one == ("collMod", {"w": "majority", "j": True}) for one in sent)


async def test_everything_that_shoal_writes_passes(
    database: Database, writer: Writer, stats: RecordedStats, tmp_path: Any
) -> None:
    await migrate(database)
    await writer.store(seen(0, "10.00", rating=4.5, review_count=3, found_in={"price": "json-ld"}, source={"a": 1}))
    await writer.store(seen(1, None, title=None))
    await writer.store(seen(2, "11.00", issues=["unknown_currency"]))
    await writer.store(PageItem(url="http://shop.example/", title="t", published_at=at(0), metadata={"a": [1]}))
    await writer.store({"anything": 1})
    await writer.reject(seen(3, title=None), ["missing_title: title = None"])
    await writer.reject({"no": "item"}, ["not_an_item: it is none"])
    archive = Archive(config := ArchiveConfig(keep=Keep.ALL, directory=tmp_path), Index(database), Store(config), stats)
    await archive.open()
    await archive.add(page(1))
    await archive.add(page(1, seconds=1), failed="ValueError: x")
    await archive.close()
    assert (stats.values["archive/errors"], stats.values["storage/errors"]) == (0, 0)
    assert await database["archive"].count_documents({}) == 2
    assert await database["product_changes"].count_documents({}) == 2


async def test_what_readers_could_not_use_is_refused(database: Database, writer: Writer) -> None:
    await migrate(database)
    with pytest.raises(WriteError, match="failed validation"):
        await database["products"].insert_one({"_id": "http://shop.example/p", "price": "cheap"})
    with pytest.raises(UnstorableError, match=r"failed validation .*'brand'.*'string'") as error:
        await writer.store(seen(0, url="http://shop.example/p", brand=5))
    assert error.value.issue == "refused_by_mongodb"


async def test_a_validator_of_somebody_else_is_said_to_go(database: Database) -> None:
    await database.create_collection("products", validator={"mine": {"$exists": True}})
    assert "version 1, products: replace its validator" in await migrate(database)


async def test_a_view_is_named_before_the_first_step(database: Database) -> None:
    await database.create_collection("pages", viewOn="elsewhere", pipeline=[])
    with pytest.raises(ShoalError, match=f"collection pages of {database.name} is a view"):
        await migrate(database)
    assert "products" not in await database.list_collection_names()


@pytest.mark.parametrize("odd", [{"version": "two"}, {"version": None}, {"version": float("nan")}, {}])
async def test_what_is_no_version_is_named_with_its_cure(database: Database, odd: dict[str, Any]) -> None:
    await database["schema"].insert_one({"_id": "version"} | odd)
    with pytest.raises(ShoalError, match="expected an integer: delete it, and `scrapy migrate` takes all steps"):
        await current(database)


async def test_old_documents_stay_and_can_be_changed(database: Database) -> None:
    await database["products"].insert_one({"_id": "old", "price": Decimal128("1")})
    assert (
        "version 1, products: set its validator; documents that break it, stay and can be updated: 1"
        in await migrate(database)
    )
    await database["products"].update_one({"_id": "old"}, {"$set": {"title": "Knife"}})
    assert await database["products"].find_one() == {"_id": "old", "price": Decimal128("1"), "title": "Knife"}


async def test_a_database_ahead_of_the_program_is_left_alone(database: Database) -> None:
    await migrate(database)
    await database["schema"].update_one({}, {"$set": {"version": LAST + 1}})
    with pytest.raises(ShoalError, match=f"schema version {LAST + 1}, this program knows {LAST}"):
        await plan(database, StorageConfig())


async def test_a_validator_that_went_with_its_collection_is_set_again(database: Database) -> None:
    await migrate(database)
    await database["products"].drop()
    await database["pages"].rename("pages of last year")
    await database["pages"].insert_one({"_id": "of a worker"})
    dropped, renamed = await migrate(database)
    assert dropped == "version 1, products: create it with a validator"
    assert renamed.startswith("version 1, pages: set its validator")
    assert await migrate(database) == []
    assert await current(database) == LAST


@pytest.mark.parametrize("how", [{"validator": {}}, {"validationLevel": "off"}])
async def test_a_validator_that_an_operator_has_taken_off_stays_so(database: Database, how: dict[str, Any]) -> None:
    await migrate(database)
    await database.command("collMod", "products", **how)
    assert await migrate(database) == []
    await database["products"].insert_one({"_id": "http://shop.example/p", "price": "cheap"})


async def test_a_migration_that_was_cut_off_is_run_again(database: Database) -> None:
    steps = await plan(database, StorageConfig())
    await apply(database, steps[:1], at(0))  # the version would rise with the last step of the migration
    await database["schema"].delete_many({})
    assert len(await migrate(database)) == len(steps)
    assert await current(database) == LAST


async def test_two_migrations_at_once_come_to_the_same(database: Database) -> None:
    """And a worker that stores its first item meanwhile."""
    plans = [await plan(database, StorageConfig()) for _ in range(2)]
    await asyncio.gather(*(apply(database, steps, at(0)) for steps in plans))
    assert await current(database) == LAST
    assert await plan(database, StorageConfig()) == []
