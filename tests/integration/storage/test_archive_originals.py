"""Which archived body a later record may refer to: one that is kept, and stays."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from crawler.storage.archive import archive as archiving
from crawler.storage.archive import finishing
from crawler.storage.archive.archive import Archive
from crawler.storage.archive.config import ArchiveConfig, Keep
from crawler.storage.archive.index import Index
from crawler.storage.archive.reader import Reader, Selection
from crawler.storage.archive.records import Page
from crawler.storage.archive.store import Store
from crawler.storage.connection import Database
from tests.integration.storage.observing import RecordedStats, until
from tests.integration.storage.test_archive import page

RESPONSE, REVISIT = "archive/pages/response", "archive/pages/revisit"


@pytest.fixture
def config(tmp_path: Path) -> ArchiveConfig:
    return ArchiveConfig(keep=Keep.ALL, directory=tmp_path)


async def kinds(database: Database, config: ArchiveConfig, *pages: Page) -> dict[str, int]:
    """As what kinds of records a worker writes *pages*."""
    stats = RecordedStats()
    archive = Archive(config, Index(database), Store(config), stats)
    await archive.open()
    for one in pages:
        await archive.add(one)
    await archive.close()
    return {kind: stats.values[kind] for kind in (RESPONSE, REVISIT)}


@pytest.mark.parametrize(("days", "kind"), [(4, REVISIT), (6, RESPONSE)])
async def test_one_that_is_to_go_soon_is_none(database: Database, config: ArchiveConfig, days: int, kind: str) -> None:
    config = replace(config, keep_days=10)
    fetched_at = datetime.now(UTC) - timedelta(days=days)
    await kinds(database, config, replace(page(1), fetched_at=fetched_at))
    assert (await kinds(database, config, page(1)))[kind] == 1


async def test_failures_go_sooner_and_are_none_of_other_pages(database: Database, config: ArchiveConfig) -> None:
    failed = replace(config, keep=Keep.FAILED)
    assert await kinds(database, failed, page(1)) == {RESPONSE: 1, REVISIT: 0}
    assert await kinds(database, failed, page(1)) == {RESPONSE: 0, REVISIT: 1}
    assert await kinds(database, config, page(1)) == {RESPONSE: 1, REVISIT: 0}
    assert await kinds(database, config, page(1)) == {RESPONSE: 0, REVISIT: 1}


@pytest.mark.parametrize("damage", ["altered", "gone"])
async def test_a_page_that_is_lost_with_its_original_names_that(
    database: Database, config: ArchiveConfig, damage: str
) -> None:
    await kinds(database, config, page(1))
    [written] = config.directory.glob("*.warc.gz")
    await kinds(database, config, page(1, seconds=5))
    if damage == "gone":
        written.unlink()
    else:
        written.write_bytes(written.read_bytes()[:-9] + bytes(9))
    found = [str(one) async for one in Reader(Index(database), Store(config)).pages(Selection(spider="products"))]
    assert len(found) == 2
    assert all(written.name in one for one in found), found
    assert "of its original in" in found[1]


async def test_all_pages_of_a_batch_are_looked_up(database: Database, config: ArchiveConfig) -> None:
    pages = [page(number) for number in range(9)]
    await kinds(database, config, *pages)
    archive = Archive(config, Index(database), Store(config), stats := RecordedStats())
    await archive.open()
    await asyncio.gather(*map(archive.add, pages))
    await archive.close()
    assert stats.values[REVISIT] == 9


async def test_one_that_is_referred_to_is_used_and_kept_longer(database: Database, config: ArchiveConfig) -> None:
    files = database["archive_files"]
    await kinds(database, config, page(1))
    await files.update_many({}, [{"$set": {"used_at": {"$subtract": ["$used_at", 1_000]}}}])
    (before,) = await files.find().to_list()
    await kinds(database, config, page(1))
    after = await files.find_one({"_id": before["_id"]})
    assert after is not None
    assert after["used_at"] > before["used_at"]


async def test_one_whose_file_is_not_kept_yet_is_none(
    database: Database, config: ArchiveConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its machine may be lost before it is uploaded."""

    async def away(store: Store, file: object) -> None:
        raise OSError("the object store is away")

    monkeypatch.setattr(finishing, "PAUSE_SECONDS", (0.05, 0.05))
    config = replace(config, file_bytes=1)
    archive = Archive(config, Index(database), Store(config), stats := RecordedStats())
    with monkeypatch.context() as patched:
        patched.setattr(Store, "keep", away)
        patched.setattr(archiving, "CLOSE_SECONDS", 0.5)
        await archive.open()
        await archive.add(page(1))
        await until(lambda: stats.values["archive/errors"])
        await archive.add(page(1))
        assert await kinds(database, replace(config, directory=config.directory / "other"), page(1)) == {
            RESPONSE: 1,
            REVISIT: 0,
        }
    await archive.close()
    assert stats.values[RESPONSE] == 2
    assert await kinds(database, config, page(1)) == {RESPONSE: 0, REVISIT: 1}
