"""While MongoDB is away items are safe on the local disk; afterwards they are stored, in order and once in effect."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import shutil
import subprocess
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import bson
import pytest

from crawler.errors import ConfigError
from crawler.items import ProductItem
from crawler.storage import connection, writer_setup
from crawler.storage.config import StorageConfig
from crawler.storage.items.documents import StoredDocument, document
from crawler.storage.items.origin import Origin
from crawler.storage.items.repository import Repository, StoreResult
from crawler.storage.spool import fallback
from crawler.storage.spool.claims import Claim, usage
from crawler.storage.spool.entries import pack
from crawler.storage.spool.frames import HEAD, frame
from crawler.storage.writer import Writer
from tests.integration.storage.observing import KEPT, URL, RecordedStats, at, seen, until
from tests.servers import ScrapyRunner, Server
from tests.zygote import PROJECT_DIR, Zygote

# PyMongo forgets the socket of a connection attempt that `close` interrupts; it goes with the garbage.
pytestmark = pytest.mark.filterwarnings("ignore:Exception ignored in. <socket:pytest.PytestUnraisableExceptionWarning")
SECONDS = {"STORAGE_CONNECT_SECONDS": 2, "STORAGE_REPLY_SECONDS": 20, "STORAGE_RETRY_MAX_SECONDS": 15}
Build = Callable[..., Writer]


@pytest.fixture(autouse=True, scope="module")
def _forgotten_sockets() -> Iterator[None]:
    yield
    gc.collect()


@pytest.fixture
def settings(mongod: Server, tmp_path: Path) -> dict[str, Any]:
    return {"MONGODB_URI": mongod.url, "MONGODB_DATABASE": "spool", "SPOOL_DIR": str(tmp_path / "spool"), **SECONDS}


@pytest.fixture
def brakes() -> list[str]:
    return []


@pytest.fixture
async def build(settings: dict[str, Any], stats: RecordedStats, brakes: list[str]) -> AsyncIterator[Build]:
    clients = []

    def make(**changes: Any) -> Writer:
        client = connection.connect(settings)
        clients.append(client)
        values = KEPT | {"batch_ms": 2, "retry_max_seconds": 0.2, "spool_dir": settings["SPOOL_DIR"]} | changes
        return writer_setup.writer(client, settings, StorageConfig(**values), stats, brakes.append)

    yield make
    for client in clients:
        await client.close()
    gc.collect()


async def products(settings: dict[str, Any]) -> dict[str, dict[str, Any]]:
    async with connection.session(settings) as database:
        return {each["_id"]: each async for each in database.products.find()}


async def replayed(settings: dict[str, Any]) -> None:
    """Return when nothing waits any more."""
    directory = writer_setup.spool_directory(settings, config(settings))
    await until(lambda: not usage(directory).files)


async def test_an_outage_costs_time_and_no_items(
    build: Build,
    mongod: Server,
    settings: dict[str, Any],
    stats: RecordedStats,
    brakes: list[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.WARNING)
    writer = build()
    await writer.open()
    assert await writer.store(seen(1, "1")) is StoreResult.NEW
    mongod.kill()
    assert await writer.store(seen(2, "2")) is StoreResult.SPOOLED
    assert await writer.store(seen(3, "3")) is StoreResult.SPOOLED
    await asyncio.gather(*(writer.store(seen(1, url=f"{URL}{n}")) for n in range(200)))
    await writer.reject(seen(4, "-1"), ["negative_price: price = -1"])
    assert stats.values["storage/spool/entries"] == 203
    directory = writer_setup.spool_directory(settings, config(settings))
    assert stats.values["storage/spool/bytes"] == usage(directory).size > 0
    await mongod.start_again()
    await replayed(settings)
    assert await writer.store(seen(5, "5")) is StoreResult.CHANGED
    await writer.close()

    stored = await products(settings)
    assert len(stored) == 201
    async with connection.session(settings) as database:
        records = await database.product_changes.find().sort("version", 1).to_list()
        assert (await database.rejected_items.find_one({}))["times"] == 1  # type: ignore[index]
    assert [(one["_id"], one["at"]) for one in records] == [(f"{URL}#{n}", at(t)) for n, t in ((2, 2), (3, 3), (4, 5))]
    assert stats.values["storage/spool/replayed"] == 203
    assert stats.values["storage/spool/bytes"] == stats.values["storage/spool/oldest_timestamp_seconds"] == 0
    assert set(brakes) == {""}
    said = [one.getMessage() for one in caplog.records]
    assert sum("does not store" in line for line in said) == 1
    assert sum("Stored 203 entries from the spool" in line for line in said) == 1


async def test_the_next_worker_stores_what_a_killed_one_left(
    zygote: Zygote, build: Build, mongod: Server, settings: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    spooled = run_spooler(zygote, mongod, settings, "leave")
    assert len(spooled) == 50
    directory = writer_setup.spool_directory(settings, config(settings))
    torn = next(directory.glob("*.spool"))
    with torn.open("ab") as file:
        file.write(b"\0\0\1\0half an append")
    await mongod.start_again()
    caplog.set_level(logging.WARNING)
    writer = build()
    await writer.open()
    await replayed(settings)
    await writer.close()
    assert set(await products(settings)) == set(spooled)
    assert "an unfinished append from byte" in caplog.text
    assert list(directory.iterdir()) == []


async def test_a_living_workers_files_are_not_touched(settings: dict[str, Any], tmp_path: Path) -> None:
    claim = Claim.new(tmp_path / "shared")
    claim.file(1).write_bytes(b"")
    assert list(Claim.abandoned(tmp_path / "shared")) == []
    os.close(claim.lock)
    (taken,) = Claim.abandoned(tmp_path / "shared")
    assert taken.files() == claim.files()
    taken.release()


async def test_files_that_cannot_be_taken_over_are_named_once_and_left(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "0-1.lock").mkdir()  # stands for another user's: root may open those
    (tmp_path / "1-1-000001.spool").write_bytes(b"")
    for _ in range(2):
        (claim,) = Claim.abandoned(tmp_path)
        assert [path.name for path in claim.files()] == ["1-1-000001.spool"]
        claim.release()
    assert caplog.text.count("Could not take over the files of 0-1 in") == 1


async def test_older_spooled_state_does_not_replace_a_newer_one(
    zygote: Zygote, build: Build, mongod: Server, settings: dict[str, Any]
) -> None:
    url = run_spooler(zygote, mongod, settings, "leave")[0]  # observed at second 1
    await mongod.start_again()
    fresh = build(spool_dir="")
    await fresh.open()
    assert await fresh.store(seen(9, "9", url=url)) is StoreResult.NEW
    await fresh.close()
    writer = build()
    await writer.open()
    await replayed(settings)
    await writer.close()
    stored = (await products(settings))[url]
    assert (stored["last_seen_at"], stored["version"]) == (at(9), 1)


async def test_what_a_full_disk_does_not_take_waits_and_is_stored(
    zygote: Zygote, mongod: Server, settings: dict[str, Any]
) -> None:
    """A process limited to files of 64 KB simulates a full disk."""
    confirmed = run_spooler(zygote, mongod, settings, "full", restart_after=1.5)
    assert len(confirmed) == 300
    stored = await products(settings)
    assert set(stored) == set(confirmed)
    assert {each["version"] for each in stored.values()} == {1}


async def test_leasing_stops_at_the_high_water_mark_and_goes_on_at_half(
    build: Build, mongod: Server, settings: dict[str, Any], brakes: list[str]
) -> None:
    writer = build(spool_max_bytes=200_000, spool_high_water=0.5)
    await writer.open()
    mongod.kill()
    n = 0
    while not brakes or not brakes[-1]:
        n += 1
        assert await writer.store(seen(1, url=f"{URL}{n}")) is StoreResult.SPOOLED
        assert n < 500
    assert brakes[-1].startswith("the spool is 50% full, SPOOL_HIGH_WATER is 50%")
    await mongod.start_again()
    await replayed(settings)
    await writer.close()
    assert brakes[-1] == ""
    assert len(await products(settings)) == n


async def test_without_a_spool_leasing_stops_until_the_database_is_back(
    build: Build, mongod: Server, brakes: list[str]
) -> None:
    writer = build(spool_dir="")
    await writer.open()
    mongod.kill()
    waiting = asyncio.create_task(writer.store(seen(1)))
    await until(lambda: bool(brakes))
    assert brakes == ["MongoDB is away, and there is no spool (SPOOL_DIR)"]
    await mongod.start_again()
    assert await waiting is StoreResult.NEW
    assert brakes[-1] == ""
    await writer.close()


async def test_a_worker_told_to_stop_in_an_outage_leaves_its_items_in_the_spool(
    build: Build, mongod: Server, settings: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    writer = build()
    await writer.open()
    mongod.kill()
    assert await writer.store(seen(1)) is StoreResult.SPOOLED
    async with asyncio.timeout(30):
        await writer.close()
    assert "`scrapy spool replay`" in caplog.text
    assert usage(writer_setup.spool_directory(settings, config(settings))).files == 1


def test_a_directory_that_cannot_be_used_is_refused(settings: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    settings["SPOOL_DIR"] = str(tmp_path / "file")
    with pytest.raises(ConfigError, match=r"SPOOL_DIR.*Not a directory"):
        writer_setup.spool(writer_setup.spool_directory(settings, config(settings)), config(settings))


def test_a_replica_set_of_long_names_has_a_spool_of_its_own(settings: dict[str, Any]) -> None:
    names = set()
    for sets in ("first", "second"):
        members = (f"mongodb-{n}.{sets}.mongodb-headless.databases.svc.cluster.local:27017" for n in range(5))
        settings["MONGODB_URI"] = f"mongodb://{','.join(members)}/?replicaSet=rs0"
        directory = writer_setup.spool_directory(settings, config(settings))
        writer_setup.spool(directory, config(settings)).close()
        names.add(directory.name)
    assert len(names) == 2
    assert all(name.startswith(f"{settings['MONGODB_DATABASE']}@mongodb-0.") for name in names)


def test_the_command_shows_and_stores_what_waits(
    zygote: Zygote, mongod: Server, settings: dict[str, Any], scrapy_run: ScrapyRunner
) -> None:
    options = [part for name, value in settings.items() for part in ("-s", f"{name}={value}")]
    assert "nothing waits in" in scrapy_run.run("spool", "list", *options).stdout
    spooled = run_spooler(zygote, mongod, settings, "leave")
    listed = scrapy_run.run("spool", "list", *options)
    assert writer_setup.spool_directory(settings, config(settings)).name in listed.stdout.replace("\n", "")
    away = scrapy_run.run("spool", "replay", *options)
    assert (away.returncode, "does not serve us" in away.stderr) == (2, True)
    mongod.start()
    assert "`scrapy spool replay` stores them" in scrapy_run.run("export", "products", *options).stderr
    assert scrapy_run.run("spool", "replay", *options).stdout == f"stored {len(spooled)} items\n"
    assert "spool" not in scrapy_run.run("export", "products", *options).stderr
    assert set(asyncio.run(products(settings))) == set(spooled)
    assert (
        scrapy_run.run("spool", "replay", *options).stdout
        == "nothing waits except what running workers store themselves\n"
    )
    (Path(settings["SPOOL_DIR"]) / "../of-others.lock").touch()
    for target in ("elsewhere", "..", "../"):
        other = scrapy_run.run("spool", "replay", "--target", target, *options)
        assert (other.returncode, f"holds nothing for {target!r}" in other.stderr) == (2, True)
    assert (Path(settings["SPOOL_DIR"]) / "../of-others.lock").exists()
    assert "expected one of list, replay" in scrapy_run.run("spool", *options).stderr
    assert "SPOOL_DIR is empty" in scrapy_run.run("spool", "list", *options, "-s", "SPOOL_DIR=").stderr


def leave(settings: dict[str, Any], *parts: Sequence[ProductItem] | bytes, owner: str = "0-1") -> Path:
    """The file of a dead worker: appends of items, and raw bytes."""
    directory = writer_setup.spool_directory(settings, config(settings))
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / f"{owner}-000001.spool"
    packed = [
        part if isinstance(part, bytes) else frame(pack([document(i, at(1), 2**20) for i in part])) for part in parts
    ]
    path.write_bytes(HEAD + b"".join(packed))
    return path


async def test_a_damaged_file_costs_its_damaged_entries_alone(
    build: Build, settings: dict[str, Any], stats: RecordedStats, caplog: pytest.LogCaptureFixture
) -> None:
    items = [[seen(1, url=f"{URL}{n}")] for n in range(200)]
    path = leave(settings, *items)
    whole = path.read_bytes()
    at_byte = len(HEAD) + 160 * ((len(whole) - len(HEAD)) // 200)
    path.write_bytes(whole[: len(HEAD)] + bytes(16) + whole[len(HEAD) + 16 : at_byte] + b"?" + whole[at_byte + 1 :])
    unknown = bson.encode(document(seen(1, url=URL), at(1), 2**20)._asdict() | {"flavour": 1})
    later = leave(settings, frame(unknown), frame(b"no map"), [seen(1, url=f"{URL}behind")], owner="1-1")
    writer = build()
    await writer.open()
    await replayed(settings)
    async with asyncio.timeout(60):
        await writer.close()
    stored = set(await products(settings))
    assert len(stored) == 199
    assert f"{URL}behind" in stored
    assert stats.values["storage/spool/damaged_files"] == 2
    assert sorted(path.parent.iterdir()) == [path.with_suffix(".damaged"), later.with_suffix(".damaged")]
    assert f"{path} is damaged: damaged data from byte 14 on" in caplog.text
    assert (
        f"{later} is damaged: an entry of part 1 cannot be decoded: field 'flavour' of another release" in caplog.text
    )


async def test_an_entry_that_cannot_be_stored_stands_in_nobodys_way(
    build: Build, settings: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = leave(settings, [seen(1, url=f"{URL}{n}") for n in range(5)])
    store = Repository.store

    async def picky(self: Repository, name: str, entries: Sequence[StoredDocument]) -> list[Any]:
        if any(entry.id == f"{URL}3" for entry in entries):
            raise RuntimeError("not this one")
        return await store(self, name, entries)

    monkeypatch.setattr(Repository, "store", picky)
    writer = build()
    await writer.open()
    await replayed(settings)
    await writer.close()
    assert set(await products(settings)) == {f"{URL}{n}" for n in (0, 1, 2, 4)}
    assert path.with_suffix(".damaged").exists()


async def test_what_mongodb_refuses_on_its_way_from_the_spool_says_where_it_is_from(
    build: Build, settings: dict[str, Any]
) -> None:
    source = {"spider": "shop", "request_id": "0:7"}
    untyped = document({"title": "Knife"}, at(1), 2**20, Origin(URL, at(1), source))
    leave(settings, frame(pack([untyped])), [seen(1, source=source)])
    async with connection.session(settings) as database:
        for name in ("items", "products"):
            await database.create_collection(name, validator={"stock": {"$exists": True}})
        writer = build()
        await writer.open()
        await replayed(settings)
        await writer.close()
        rejected = await database.rejected_items.find().to_list()
    assert [each["issues"] for each in rejected] == [["refused_by_mongodb"]] * 2
    assert [(each["page"], each["source"]) for each in rejected] == [(URL, source)] * 2


async def test_a_file_that_the_disk_does_not_let_go_of_is_stored_once_and_left(
    build: Build, settings: dict[str, Any], stats: RecordedStats, monkeypatch: pytest.MonkeyPatch
) -> None:
    leave(settings, [seen(1)])
    leave(settings, [seen(1, url=f"{URL}behind")], owner="1-1")

    def refuse(path: Path, missing_ok: bool = False) -> None:
        if path.suffix == ".spool":
            raise PermissionError(1, "no")

    monkeypatch.setattr(Path, "unlink", refuse)
    writer = build()
    await writer.open()
    await until(lambda: stats.values["storage/spool/replayed"] == 2)
    async with asyncio.timeout(60):
        await writer.close()
    assert set(await products(settings)) == {URL, f"{URL}behind"}
    assert stats.values["storage/spool/replayed"] == 2


async def test_a_directory_that_cannot_be_searched_is_named_once_until_it_can(
    build: Build,
    mongod: Server,
    settings: dict[str, Any],
    stats: RecordedStats,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    replaced, replay = asyncio.Event(), fallback.SpoolFallback.replay

    async def after_that(self: fallback.SpoolFallback) -> int:
        """Or it might have opened the file, and wait for MongoDB with it."""
        await replaced.wait()
        return await replay(self)

    monkeypatch.setattr(fallback.SpoolFallback, "replay", after_that)
    writer = build()
    await writer.open()
    mongod.kill()
    assert await writer.store(seen(1)) is StoreResult.SPOOLED
    directory = writer_setup.spool_directory(settings, config(settings))
    shutil.rmtree(directory)
    directory.touch()
    replaced.set()
    await until(lambda: "cannot be searched: File exists" in caplog.text)
    waiting = asyncio.create_task(writer.store(seen(2, "11")))
    await asyncio.sleep(1)  # for some more tries
    directory.unlink()
    assert await waiting is StoreResult.SPOOLED
    await mongod.start_again()
    await until(lambda: stats.values["storage/spool/replayed"] == 2)
    await writer.close()
    assert (caplog.text.count("cannot be searched"), caplog.text.count("Traceback")) == (1, 0)
    assert set(await products(settings)) == {URL}


async def test_closing_is_bounded(
    build: Build, settings: dict[str, Any], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def never(self: Repository, name: str, entries: Sequence[StoredDocument]) -> list[Any]:
        await asyncio.sleep(3_600)
        return []

    monkeypatch.setattr(Repository, "store", never)
    monkeypatch.setattr(fallback, "CLOSE_SECONDS", 0.2)
    path = leave(settings, [seen(1)])
    writer = build()
    await writer.open()
    async with asyncio.timeout(60):
        await writer.close()
    assert path.exists()
    assert "the next worker on this machine stores them" in caplog.text


def test_the_command_stores_the_rest_of_a_damaged_file(settings: dict[str, Any], scrapy_run: ScrapyRunner) -> None:
    options = [part for name, value in settings.items() for part in ("-s", f"{name}={value}")]
    path = leave(settings, [seen(1)], b"damaged data \x02id\0", [seen(1, url=f"{URL}behind")])
    done = scrapy_run.run("spool", "replay", *options)
    assert (done.returncode, done.stdout) == (1, "stored 2 items\n")
    assert f"{path.stem}.spool is damaged: damaged data from byte" in done.stderr.replace("\n", "")
    assert set(asyncio.run(products(settings))) == {URL, f"{URL}behind"}
    assert scrapy_run.run("spool", "list", *options).stdout.splitlines()[-1].split()[-1] == "1"
    assert scrapy_run.run("spool", "replay", *options).returncode == 0
    again = scrapy_run.run("spool", "replay", "--damaged", *options)
    assert (again.returncode, again.stdout) == (1, "stored 2 items\n")
    kept = path.with_suffix(".damaged")
    kept.write_bytes(HEAD + frame(pack([document(seen(1, url=f"{URL}known by now"), at(1), 2**20)])))
    again = scrapy_run.run("spool", "replay", "--damaged", *options)
    assert (again.returncode, again.stdout, kept.exists()) == (0, "stored 1 item\n", False)


def config(settings: dict[str, Any]) -> StorageConfig:
    return StorageConfig(spool_dir=settings["SPOOL_DIR"])


def run_spooler(
    zygote: Zygote, mongod: Server, settings: dict[str, Any], how: str, restart_after: float = 0.0
) -> list[str]:
    """URLs reported safe to a worker process whose mongod is down; with "leave" it dies by kill -9."""
    environment = {**os.environ, "SPOOL_DIR": settings["SPOOL_DIR"]}
    module = "tests.integration.storage.spooling"
    with closing(zygote.fork([settings["MONGODB_URI"], how], environment, PROJECT_DIR, module=module)) as process:
        while process.output != "open\n":
            assert process.poll() is None, process.log
            time.sleep(0.02)
        mongod.kill()
        process.send_signal(10)
        if restart_after:
            with pytest.raises(subprocess.TimeoutExpired):
                process.wait(restart_after)
            mongod.start()
        out, _ = process.communicate(timeout=90)
        assert process.returncode == (0 if restart_after else -9)
    return out.removeprefix("open\n").split()
