"""The archive on the real mongod, a real disk, and an S3 server of moto's."""

from __future__ import annotations

import asyncio
import random
import socket
import urllib.request
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import boto3  # type: ignore[import-untyped]  # moto brings it
import obstore
import pytest
from bson import Code
from moto.server import ThreadedMotoServer
from obstore.exceptions import AlreadyExistsError, PermissionDeniedError
from pymongo import AsyncMongoClient
from pymongo.errors import OperationFailure

from crawler.errors import ServiceError
from crawler.storage import disk_room, foreign_collections
from crawler.storage.archive import archive as module
from crawler.storage.archive.archive import Archive
from crawler.storage.archive.config import ArchiveConfig, Keep
from crawler.storage.archive.files import OpenFile
from crawler.storage.archive.finishing import Finisher, finish_left, unlisted
from crawler.storage.archive.index import Index
from crawler.storage.archive.reader import Reader, Selection, Stored
from crawler.storage.archive.records import Page
from crawler.storage.archive.store import Store, in_words
from crawler.storage.connection import Database
from tests.effort import PATIENCE
from tests.integration.storage.observing import RecordedStats, at, until

Open = Callable[..., Any]


def page(number: int = 1, body: bytes | None = None, seconds: float = 0) -> Page:
    """A page of the shop as it was at that second."""
    return Page(
        url=f"http://shop.example/p/{number}",
        status=200,
        headers=[("Content-Type", "text/html")],
        body=b"<p>page %d</p>" % number * 20 if body is None else body,
        fetched_at=at(seconds),
        spider="products",
        request_id=f"0:{number}",
    )


@pytest.fixture
def config(tmp_path: Path) -> ArchiveConfig:
    return ArchiveConfig(keep=Keep.ALL, directory=tmp_path)


@pytest.fixture
def opened(database: Database, stats: RecordedStats) -> Open:
    """An archive as a worker has it."""

    @asynccontextmanager
    async def opened(config: ArchiveConfig) -> AsyncIterator[Archive]:
        archive = Archive(config, Index(database), Store(config), stats)
        await archive.open()
        yield archive
        await archive.close()

    return opened


@pytest.fixture(scope="module")
def s3() -> Iterator[dict[str, Any]]:
    """Options for a bucket named pages."""
    server = ThreadedMotoServer(port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    url = f"http://{host.replace('0.0.0.0', '127.0.0.1')}:{port}"
    urllib.request.urlopen(urllib.request.Request(f"{url}/pages", method="PUT"), timeout=60).close()
    yield {
        "endpoint": url,
        "region": "us-east-1",
        "aws_access_key_id": "key",
        "aws_secret_access_key": "s3cret",
        "client_options": {"allow_http": True},
    }
    server.stop()


async def read(database: Database, config: ArchiveConfig, **chosen: Any) -> list[Stored]:
    reader = Reader(Index(database), Store(config))
    return [stored async for stored in reader.pages(Selection(spider="products", **chosen))]


def bodies(found: list[Stored]) -> list[bytes | None]:
    return [stored.page.body if stored.page else None for stored in found]


async def test_pages_come_back_as_they_were(database: Database, config: ArchiveConfig, opened: Open) -> None:
    async with opened(config) as archive:
        await asyncio.gather(*(archive.add(page(number, seconds=number)) for number in range(200)))
    found = await read(database, config)
    assert [stored.page and stored.page.url for stored in found] == [page(number).url for number in range(200)]
    assert bodies(found) == [page(number).body for number in range(200)]
    assert found[7].page is not None
    assert found[7].page.fetched_at == at(7)
    assert [len(await read(database, config, share=share, shares=3)) for share in range(3)] != [200, 0, 0]
    assert sum([len(await read(database, config, share=share, shares=3)) for share in range(3)]) == 200
    assert len(await read(database, config, since=at(100), until=at(150), limit=20)) == 20


async def test_the_same_body_is_stored_once(
    database: Database, config: ArchiveConfig, opened: Open, stats: RecordedStats
) -> None:
    async with opened(config) as archive:
        await archive.add(page(1, b"same" * 500))
        await archive.add(page(2, b"same" * 500, seconds=1))
    async with opened(config) as archive:  # in another file
        await archive.add(page(1, b"same" * 500, seconds=2))
        await archive.add(page(1, b"other", seconds=3))
    assert stats.values["archive/pages/response"] == 2
    assert stats.values["archive/pages/revisit"] == 2
    assert bodies(await read(database, config)) == [b"same" * 500] * 3 + [b"other"]


async def test_changed_writes_what_differs_from_the_last_one(
    database: Database, config: ArchiveConfig, opened: Open, stats: RecordedStats
) -> None:
    config = replace(config, keep=Keep.CHANGED)
    for second, body in enumerate((b"a", b"a", b"b", b"a")):
        async with opened(config) as archive:
            written = await archive.add(page(1, body, seconds=second))
            assert bool(written) == (second != 1)
    async with opened(config) as archive:
        assert await archive.add(page(1, b"a", seconds=9), failed="ValueError: no price")
    assert stats.values["archive/pages/unchanged"] == 1
    found = await read(database, config)
    assert bodies(found) == [b"a", b"b", b"a", b"a"]
    assert [stored.page.fetched_at for stored in found if stored.page] == [at(1), at(2), at(3), at(9)]
    assert found[-1].entry["failed"] == "ValueError: no price"


async def test_failures_alone_have_a_bound_of_their_own(
    database: Database, config: ArchiveConfig, opened: Open
) -> None:
    async with opened(config) as archive:
        await archive.add(page(0, b"asked for " * 400))
    config = replace(config, keep=Keep.FAILED, failed_bytes=20_000)
    for number in range(1, 41):
        async with opened(config) as archive:
            await archive.add(page(number, random.Random(number).randbytes(2_000), seconds=number), failed="blocked")
    kept = list(config.directory.glob("shoal-failures-*.warc.gz"))
    assert 10_000 < sum(path.stat().st_size for path in kept) <= 20_000
    found = await read(database, config)
    assert found[0].page is not None
    assert found[0].page.url.endswith("/0")  # requested pages are not discarded because of it
    assert [stored.page.url for stored in found[1:] if stored.page][-1].endswith("/40")


async def test_files_roll_and_the_oldest_go(database: Database, config: ArchiveConfig, opened: Open) -> None:
    config = replace(config, file_bytes=4_000)
    async with opened(config) as archive:
        for number in range(30):
            await archive.add(page(number, bytes(range(256)) * 8, seconds=number))
            await archive.add(page(number, b"%d" % number * 1_000 + bytes(range(256)) * number, seconds=number + 0.5))
    files = sorted(config.directory.glob("*.warc.gz"))
    assert len(files) > 3
    assert len(await read(database, config)) == 60
    total = sum(path.stat().st_size for path in files)
    outside = config.directory.parent / "outside"
    outside.write_text("not ours")
    odd: list[dict[str, Any]] = [
        {"_id": "../outside", "bytes": 1, "used_at": datetime(2020, 1, 1, tzinfo=UTC)},
        {"_id": 5},
    ]
    await database["archive_files"].insert_many([{"where": "local", **one} for one in odd])
    await Finisher(replace(config, keep_bytes=total // 2), Index(database), Store(config), RecordedStats()).step()
    kept = sum(path.stat().st_size for path in config.directory.glob("*.warc.gz"))
    assert total // 4 < kept <= total // 2
    assert outside.exists()
    found = await read(database, config)
    assert 0 < len(found) < 60
    assert None not in bodies(found)  # nothing is listed that cannot be read


async def test_a_worker_that_goes_on_keeps_to_the_size(database: Database, config: ArchiveConfig, opened: Open) -> None:
    config = replace(config, file_bytes=1, keep_bytes=5_000)
    async with opened(config) as archive:
        for number in range(8):
            await archive.add(page(number, random.Random(number).randbytes(900), seconds=number))
            await until(lambda: not list(config.directory.glob("*.open")))
    kept = [path.stat().st_size for path in config.directory.glob("*.warc.gz")]
    assert len(kept) > 1
    assert sum(kept) <= 5_000


async def test_unused_files_go_by_age(database: Database, config: ArchiveConfig, opened: Open) -> None:
    config = replace(config, keep_days=10)
    async with opened(config) as archive:
        await archive.add(page(1))
    async with opened(config) as archive:
        await archive.add(page(2, b"another", seconds=1))
    first = (await read(database, config))[0].entry["file"]
    await database["archive_files"].update_one(
        {"_id": first}, [{"$set": {"used_at": {"$subtract": ["$used_at", 11 * 86_400_000]}}}]
    )
    async with opened(config) as archive:
        await archive.add(page(3, b"third", seconds=2))
    assert [stored.entry["url"][-1] for stored in await read(database, config)] == ["2", "3"]
    assert not (config.directory / first).exists()


async def test_finished_files_go_to_the_object_store(
    database: Database, config: ArchiveConfig, opened: Open, s3: dict[str, Any]
) -> None:
    config = replace(config, uri="s3://pages/raw", options=s3)
    async with opened(config) as archive:
        await archive.add(page(1))
        assert bodies(await read(database, config)) in ([], [page(1).body])  # from this disk, as soon as it is listed
    assert list(config.directory.iterdir()) == []
    assert bodies(await read(database, config)) == [page(1).body]
    async with opened(config) as archive:
        await archive.add(page(1, seconds=5))
    assert bodies(await read(database, config)) == [page(1).body] * 2
    name = (await read(database, config))[0].entry["file"]
    await Store(config).delete(name)
    assert bodies(await read(database, config)) == [None, None]
    await Store(config).delete(name)


async def test_a_file_that_the_store_does_not_give_costs_its_own_pages(
    database: Database, config: ArchiveConfig, opened: Open, s3: dict[str, Any]
) -> None:
    """S3 has moved it to an archive tier, as rules of a bucket do with old files."""
    config = replace(config, uri="s3://pages/raw4", options=s3)
    for number in (1, 2):
        async with opened(config) as archive:
            await archive.add(page(number, seconds=number))
    old = (await read(database, config))[0].entry["file"]
    client = boto3.client("s3", endpoint_url=s3["endpoint"], aws_access_key_id="key", aws_secret_access_key="s3cret")
    place = {"Bucket": "pages", "Key": f"raw4/{old}"}
    await asyncio.to_thread(client.copy_object, **place, CopySource=place, StorageClass="GLACIER")
    frozen, given = await read(database, config)
    assert (bodies([frozen, given]), given.reason) == ([None, page(2).body], "")
    assert frozen.reason.startswith("the object store does not return it (InvalidObjectState: ")


@pytest.mark.parametrize("error", [AlreadyExistsError("409"), PermissionDeniedError("retention")])
async def test_what_is_uploaded_already_where_nothing_may_be_replaced_is_kept(
    database: Database,
    config: ArchiveConfig,
    opened: Open,
    s3: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
    error: Exception,
) -> None:
    """Its worker was killed right after the upload."""
    config = replace(config, uri=f"s3://pages/{type(error).__name__}", options=s3)
    put = obstore.put_async

    async def once(remote: Any, name: str, path: Any) -> Any:
        with suppress(FileNotFoundError):
            await obstore.head_async(remote, name)
            raise error
        return await put(remote, name, path)

    monkeypatch.setattr(obstore, "put_async", once)
    monkeypatch.setattr(OpenFile, "remove", lambda file: file.close())
    async with opened(config) as archive:
        await archive.add(page(1))
    monkeypatch.undo()
    assert len(list(config.directory.iterdir())) == 1
    monkeypatch.setattr(obstore, "put_async", once)
    async with opened(config):
        pass
    assert list(config.directory.iterdir()) == []
    assert bodies(await read(database, config)) == [page(1).body]


def test_what_an_object_store_says_is_what_is_told() -> None:
    wrong = "<Error><Code>RequestTimeTooSkewed</Code><Message>The difference is too large.</Message></Error>"
    error = PermissionDeniedError(f"The operation lacked the necessary privileges {'x' * 500}: 403 Forbidden: {wrong}")
    assert in_words(error) == "RequestTimeTooSkewed: The difference is too large."
    assert in_words(OSError(28, "No space left\non device")) == "[Errno 28] No space left on device"
    assert in_words(TimeoutError()) == "TimeoutError"


async def test_an_upload_that_was_cut_off_is_done_by_the_next_worker(
    database: Database, config: ArchiveConfig, opened: Open, s3: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    away = replace(config, uri="s3://nosuchbucket/raw", options=s3 | {"retry_config": {"max_retries": 0}})
    monkeypatch.setattr(module, "CLOSE_SECONDS", 3)
    async with opened(away) as archive:
        await archive.add(page(1))
    monkeypatch.undo()
    (left,) = config.directory.iterdir()
    assert left.name.endswith(".warc.gz.open")
    there = replace(config, uri="s3://pages/raw2", options=s3)
    async with opened(there):
        pass
    assert list(config.directory.iterdir()) == []
    assert bodies(await read(database, there)) == [page(1).body]


async def test_pages_wait_while_too_much_waits_for_upload(
    database: Database,
    config: ArchiveConfig,
    s3: dict[str, Any],
    stats: RecordedStats,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(disk_room, "STEADY_SECONDS", 0)
    config = replace(config, uri="s3://pages/raw3", options=s3, pending_bytes=100, file_bytes=1)
    (config.directory / "someone-elses.warc.gz.open").write_bytes(b"x" * 200)
    archive = Archive(config, Index(database), Store(config), stats)
    waiting = asyncio.create_task(archive.add(page(1)))
    await until(lambda: stats.values["archive/away"])
    assert not waiting.done()
    (config.directory / "someone-elses.warc.gz.open").unlink()
    assert await asyncio.wait_for(waiting, 60)
    await until(lambda: not stats.values["archive/away"])
    await archive.close()


async def test_a_disk_that_was_full_before_counts_as_full_since_now(
    database: Database, config: ArchiveConfig, stats: RecordedStats, monkeypatch: pytest.MonkeyPatch
) -> None:
    for_so_long: list[float] = []

    def gives_up(seconds: float) -> bool:
        for_so_long.append(seconds)
        return False

    archive = Archive(config, Index(database), Store(config), stats, gives_up=gives_up)
    append = OpenFile.append

    def full_at_first(file: OpenFile, data: Sequence[bytes]) -> list[int]:
        monkeypatch.setattr(OpenFile, "append", append)
        raise OSError(28, "No space left on device")

    for number in (1, 2):
        monkeypatch.setattr(OpenFile, "append", full_at_first)
        await archive.add(page(number))
    assert for_so_long == [0, 0]
    await archive.close()


async def test_a_full_disk_makes_no_files_without_pages(
    database: Database, config: ArchiveConfig, opened: Open, s3: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A heading fits where a batch does not."""
    monkeypatch.setattr(module, "RETRY_MAX_SECONDS", 0.02)
    config = replace(config, uri="s3://pages/raw5", options=s3)
    append, tries = OpenFile.append, list[str]()

    def full_at_first(file: OpenFile, data: Sequence[bytes]) -> list[int]:
        tries.append(file.name)
        if len(tries) < 6:
            raise OSError(28, "No space left on device")
        return append(file, data)

    async with opened(config) as archive:
        await archive.add(page(1))
        monkeypatch.setattr(OpenFile, "append", full_at_first)
        await archive.add(page(2, seconds=1))
    assert len(tries) == 6
    assert len(set(tries)) == 2, "the file that held a page is finished, and another one begun"
    assert await database.archive_files.count_documents({}) == 2
    assert bodies(await read(database, config)) == [page(1).body, page(2).body]


async def test_without_mongodb_pages_are_written_and_listed_later(
    database: Database, config: ArchiveConfig, stats: RecordedStats, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "CLOSE_SECONDS", 3)
    client: AsyncMongoClient[dict[str, Any]] = AsyncMongoClient("mongodb://127.0.0.1:1", serverSelectionTimeoutMS=100)
    archive = Archive(config, Index(client["nowhere"]), Store(config), stats)
    await archive.open()
    looks: list[Any] = []
    originals = Index.originals

    async def looked(index: Index, *given: Any, **options: Any) -> dict[str, Any]:
        looks.append(given)
        return await originals(index, *given, **options)

    monkeypatch.setattr(Index, "originals", looked)
    for _ in range(2):  # MongoDB is asked once
        await asyncio.wait_for(archive.add(page(1)), 60)
    assert len(looks) == 1
    await archive.close()
    monkeypatch.undo()
    await client.close()
    assert stats.values["archive/errors"] > 0
    assert await read(database, config) == []
    again = Archive(config, Index(database), Store(config), stats)
    await again.open()
    await again.close()
    assert bodies(await read(database, config)) == [page(1).body] * 2


async def test_an_index_that_is_away_is_told_as_such(config: ArchiveConfig) -> None:
    client: AsyncMongoClient[dict[str, Any]] = AsyncMongoClient("mongodb://127.0.0.1:1", serverSelectionTimeoutMS=100)
    with pytest.raises(ServiceError, match="MongoDB does not serve the collection archive: "):
        await read(client["nowhere"], config)
    await client.close()


async def test_a_right_that_the_user_lacks_is_named(
    database: Database, config: ArchiveConfig, opened: Open, monkeypatch: pytest.MonkeyPatch, caplog: Any
) -> None:
    async def denied(index: Index, updates: Any) -> None:
        raise OperationFailure('not authorized on shop to execute command { update: "archive", lsid: 1 }', 13)

    monkeypatch.setattr(Index, "write", denied)
    async with opened(config) as archive:
        await archive.add(page(1))
        await until(lambda: "cannot be indexed" in caplog.text)
        monkeypatch.undo()
    assert "the user of MONGODB_URI may not run update on archive in database shop: docs/" in caplog.text


async def test_what_is_behind_a_hole_in_a_file_is_found_when_it_is_listed_again(
    database: Database, config: ArchiveConfig, opened: Open
) -> None:
    async with opened(config) as archive:
        for number in range(3):
            await archive.add(page(number))
    (path,) = config.directory.iterdir()
    places = [one async for one in database.archive.find().sort("offset", 1)]
    content, hole = path.read_bytes(), places[1]["offset"] + 20
    path.unlink()
    path.with_name(f"{path.name}.open").write_bytes(content[:hole] + content[hole + 9 :])
    async with opened(config):
        pass
    found = {stored.entry["url"]: stored.page is not None for stored in await read(database, config)}
    assert found == {page(0).url: True, page(1).url: False, page(2).url: True}
    (file,) = await database.archive_files.find().to_list()
    assert file["bytes"] == path.stat().st_size == len(content) - 9


async def test_files_without_pages_in_the_index_are_unlisted(
    database: Database, config: ArchiveConfig, opened: Open
) -> None:
    for number in range(2):
        async with opened(config) as archive:
            await archive.add(page(number))
    assert await unlisted(config, Index(database)) == []
    lost = await database.archive.find_one_and_delete({"url": page(1).url})
    assert lost is not None
    assert await unlisted(config, Index(database)) == [lost["file"]]


async def test_files_of_another_program_are_left_out(database: Database) -> None:
    file: dict[str, Any] = {"bytes": 5, "where": "here", "used_at": datetime.now(UTC)}
    names = ("a.warc.gz", "", "..", "../x", 7, None, {"a": 1}, Code("x"), b"x", "ß" * 128, "a\0b")
    await database.archive_files.insert_many([{**file, "_id": name} for name in names])
    await database.archive_files.insert_many(
        [{"_id": f, "where": "here", **file, f: "odd"} for f in ("bytes", "used_at")]
    )
    assert [name for name, *_ in await Index(database).files("here")] == ["a.warc.gz"]


@pytest.mark.parametrize("keep", [Keep.ALL, Keep.CHANGED])
async def test_what_another_program_wrote_of_a_body_keeps_no_page_with_it_from_being_kept(
    database: Database, config: ArchiveConfig, opened: Open, keep: Keep
) -> None:
    config = replace(config, keep=keep)
    async with opened(config) as archive:
        await archive.add(page(1))
    (ours,) = await database.archive.find().to_list()
    fields = ("file", "offset", "length", "url", "at", "digest")
    odd = [{name: ours[name] for name in ours if name != field} for field in fields]
    odd += [{**ours, field: value} for field in fields for value in ([ours[field]], {"a": 1}, Code("x"), None, 1.5)]
    await database.archive.insert_many([{**one, "_id": f"odd {number}"} for number, one in enumerate(odd)])
    for seconds in (1, 2):
        async with opened(config) as archive:
            await archive.add(page(1, seconds=seconds, body=b"another" if seconds == 2 else None))
    assert {b"another", page(1).body} == set(bodies(await read(database, config))) - {None}


async def test_a_file_of_ones_own_that_is_as_large_as_what_may_wait_is_uploaded(
    database: Database, config: ArchiveConfig, opened: Open, s3: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else nobody would ever make room."""
    monkeypatch.setattr(disk_room, "STEADY_SECONDS", 0)
    config = replace(config, uri="s3://pages/raw5", options=s3, pending_bytes=1_000)
    async with opened(config) as archive:
        for number in range(3):
            assert await asyncio.wait_for(archive.add(page(number, b"%d" % number)), PATIENCE)


async def test_a_file_is_finished_at_its_age_though_no_page_comes(
    database: Database, config: ArchiveConfig, opened: Open, s3: dict[str, Any]
) -> None:
    config = replace(config, uri="s3://pages/raw6", options=s3, file_seconds=0.2)
    async with opened(config) as archive:
        await archive.add(page(1))
        await until(lambda: not list(config.directory.iterdir()))
        [kept] = await database["archive_files"].find().to_list()
        assert kept["where"] == "s3://pages/raw6"


async def test_a_page_that_the_index_refuses_stands_in_no_others_way(
    database: Database, config: ArchiveConfig, opened: Open
) -> None:
    """Somebody has made an index of his own."""
    await database["archive"].create_index("url", unique=True)
    async with opened(config) as archive:
        for second, number in enumerate((1, 1, 2)):
            await archive.add(page(number, seconds=second))
    assert [stored.entry["url"][-1] for stored in await read(database, config)] == ["1", "2"]
    assert [path.suffix for path in config.directory.iterdir()] == [".gz"]


@pytest.mark.parametrize("name", ["archive", "archive_files"])
async def test_pages_wait_on_disk_while_a_capped_collection_is_in_the_place_of_the_index(
    database: Database, config: ArchiveConfig, opened: Open, monkeypatch: pytest.MonkeyPatch, caplog: Any, name: str
) -> None:
    monkeypatch.setattr(foreign_collections, "LOOK_SECONDS", 0.0)
    async with opened(config) as archive:
        await archive.add(page(1))
        await until(lambda: archive._finisher.idle)
        await database[name].drop()
        await database.create_collection(name, capped=True, size=4096)
        await archive.add(page(2))
        await until(lambda: f"collection {name} of {database.name} is capped" in caplog.text or name == "archive_files")
        monkeypatch.setattr(module, "CLOSE_SECONDS", 0.5 if name == "archive" else 3.0)  # which the close notices
    assert f"collection {name} of {database.name} is capped" in caplog.text
    await database.drop_collection(name)
    monkeypatch.setattr(module, "CLOSE_SECONDS", PATIENCE)
    async with opened(config):
        pass
    assert page(2).body in bodies(await read(database, config))


async def test_each_machine_keeps_its_own_disk_within_the_bound(
    database: Database, config: ArchiveConfig, opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = replace(config, keep_bytes=3_000)
    other = replace(config, directory=config.directory / "other")
    monkeypatch.setattr(socket, "gethostname", lambda: "other")
    async with opened(other) as archive:
        await archive.add(page(1))
    monkeypatch.undo()
    for number in (2, 3):
        async with opened(config) as archive:
            await archive.add(page(number, random.Random(number).randbytes(900), seconds=number))
    assert [stored.entry["url"][-1] for stored in await read(database, other)] == ["1", "3"]
    assert [len(list(each.glob("*.gz"))) for each in (config.directory, other.directory)] == [1, 1]


async def test_what_may_not_be_deleted_keeps_no_page_from_being_kept(
    database: Database, config: ArchiveConfig, opened: Open, monkeypatch: pytest.MonkeyPatch, caplog: Any
) -> None:
    config = replace(config, keep_bytes=100)

    async def denied(store: Store, name: str) -> None:
        raise PermissionDeniedError("<Error><Code>AccessDenied</Code></Error>")

    monkeypatch.setattr(Store, "delete", denied)
    for number in (1, 2):
        async with asyncio.timeout(PATIENCE), opened(config) as archive:
            await archive.add(page(number, seconds=number))
    assert bodies(await read(database, config)) == [page(1).body, page(2).body]
    assert await finish_left(config, Index(database), Store(config)) == []
    assert "Cannot delete 2 archive files at local" in caplog.text
    assert "(AccessDenied)" in caplog.text
