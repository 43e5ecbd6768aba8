"""A file that cannot be finished stands in no other's way."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from pymongo import UpdateOne
from pymongo.errors import AutoReconnect

from crawler.storage.archive import files, finishing
from crawler.storage.archive.config import ArchiveConfig
from crawler.storage.archive.files import OpenFile
from crawler.storage.archive.finishing import Finisher
from crawler.storage.archive.index import KeptFile, added, entry, seen_again
from crawler.storage.archive.records import RecordPlace, encode
from crawler.storage.archive.store import Store
from tests.integration.storage.observing import RecordedStats
from tests.unit.storage.archive.test_records import AT, record


class Index:
    """Remembers what it was told."""

    def __init__(self) -> None:
        self.kept: list[str] = []
        self.written: list[UpdateOne] = []
        self.meanwhile: Callable[[], None] = lambda: None
        self.known: list[KeptFile] = []

    async def ensure(self) -> None:
        return

    async def write(self, updates: list[UpdateOne]) -> list[str]:
        self.written += updates
        self.meanwhile()
        return []

    async def file_complete(self, name: str, size: int, where: str, at: datetime) -> None:
        return

    async def files(self, where: str) -> list[KeptFile]:
        return list(self.known)

    async def forget(self, name: str) -> None:
        self.known = [one for one in self.known if one.name != name]

    async def file_kept(self, name: str, at: datetime) -> None:
        self.kept.append(name)


def made(directory: Path, **settings: Any) -> tuple[Finisher, Index]:
    index: Any = Index()
    config = ArchiveConfig(directory=directory, **settings)
    return Finisher(config, index, Store(config), RecordedStats(), lambda: AT), index


def a_file(directory: Path, name: str, *, deletable: bool = True) -> KeptFile:
    """Of ten bytes; one that cannot be deleted is a directory: root may delete any file."""
    if deletable:
        (directory / name).write_bytes(bytes(10))
    else:
        (directory / name).mkdir()
    return KeptFile(name, 10, AT)


async def test_a_file_that_cannot_be_finished_lets_the_others_be(tmp_path: Path) -> None:
    finisher, _ = made(tmp_path)
    first, second = OpenFile.create(tmp_path), OpenFile.create(tmp_path)
    (tmp_path / first.name).mkdir()  # its name is taken
    finisher.finish(first)
    finisher.finish(second)
    with pytest.raises(IsADirectoryError):
        await finisher.step()
    with pytest.raises(IsADirectoryError):
        await finisher.step()
    assert (tmp_path / second.name).is_file()
    (tmp_path / first.name).rmdir()
    await finisher.step()
    assert finisher.idle
    assert (tmp_path / first.name).is_file()


async def test_a_file_that_was_deleted_before_it_was_finished_is_there_again(tmp_path: Path) -> None:
    finisher, index = made(tmp_path)
    file = OpenFile.create(tmp_path)
    file.append([encode(record())])
    file.path.unlink()
    finisher.finish(file)
    await finisher.step()
    assert index.kept == [file.name]
    assert (tmp_path / file.name).stat().st_size == file.size


async def test_a_file_of_which_nothing_is_left_goes(tmp_path: Path) -> None:
    finisher, index = made(tmp_path)
    (tmp_path / "shoal-1.warc.gz.open").write_bytes(b"\x1f")
    (left,) = files.left(tmp_path)
    finisher.finish(left, listed=False)
    await finisher.step()
    assert not left.path.exists()
    assert index.kept == []


async def test_mongodb_may_go_between_the_upload_and_its_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def away(index: Index, name: str, at: datetime) -> None:
        raise AutoReconnect("connection closed")

    monkeypatch.setattr(Index, "file_kept", away)
    finisher, _ = made(tmp_path)
    file = OpenFile.create(tmp_path)
    finisher.finish(file)
    await finisher.step()
    assert finisher.idle
    assert (tmp_path / file.name).is_file()


async def test_updates_that_come_while_others_are_written_are_written_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beyond the bound the oldest give way, though they are under way."""
    monkeypatch.setattr(finishing, "MAX_WAITING", 2)
    finisher, index = made(tmp_path)
    late = [seen_again(str(number), AT) for number in range(4)]

    def meanwhile() -> None:
        if len(late) > 2:
            finisher.note("one", late.pop(0))

    index.meanwhile = meanwhile
    first = [seen_again(name, AT) for name in ("a", "b")]
    for update in first:
        finisher.note("one", update)
    await finisher.step()
    assert finisher.idle
    assert len(index.written) == 4


async def test_entries_beyond_what_is_held_are_read_from_their_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(finishing, "MAX_WAITING", 2)
    finisher, index = made(tmp_path)
    file = OpenFile.create(tmp_path)
    pages = [record(b"%d" % number) for number in range(5)]
    for page, data in zip(pages, map(encode, pages), strict=True):
        (offset,) = file.append([data])
        finisher.note(file.name, added(entry(page, RecordPlace(file.name, offset, len(data)))))
    finisher.finish(file)
    await finisher.step()
    assert all(page.id in str(index.written) for page in pages)


def test_what_cannot_be_taken_over_is_named_and_the_rest_is_finished(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "0.warc.gz.open").mkdir()  # stands for another user's file: root may open those
    file = OpenFile.create(tmp_path)
    file.close()
    assert [found.name for found in files.left(tmp_path)] == [file.name]
    assert "0.warc.gz.open, left by a dead worker, cannot be finished: Is a directory" in caplog.text


async def test_a_file_that_cannot_be_deleted_does_not_count_and_keeps_no_other(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    finisher, index = made(tmp_path, keep_bytes=25, failed_bytes=15)
    stuck = ("shoal-failures-0", "shoal-0")
    index.known = [a_file(tmp_path, name, deletable=name not in stuck) for name in ("shoal-failures-0", "shoal-0", "b")]
    index.known += [a_file(tmp_path, name) for name in ("shoal-failures-1", "c", "d")]
    await finisher.step()
    assert [one.name for one in index.known] == [*stuck, "c", "d"]
    assert isinstance(finisher._stats, RecordedStats)
    assert finisher._stats.values["archive/errors"] == 2
    (logged,) = caplog.messages
    assert logged.startswith("Cannot delete 2 archive files at local that ")
    assert "end: shoal-failures-0 (" in logged


async def test_several_in_a_row_that_cannot_be_deleted_end_a_round_and_the_next_begins_with_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    monkeypatch.setattr(finishing, "PRUNE_SECONDS", 0)
    finisher, index = made(tmp_path, keep_bytes=35)
    index.known = [a_file(tmp_path, name, deletable=name > "3") for name in "1234567"]
    left = []
    for _ in range(3):
        await finisher.step()
        left.append("".join(one.name for one in index.known))
    assert left == ["1234567", "123567", "123567"]
    assert len(caplog.messages) == 2, "each file is named once, and one was deleted"
    for name in "123":
        (tmp_path / name).rmdir()
        a_file(tmp_path, name)
    await finisher.step()
    assert [one.name for one in index.known] == ["5", "6", "7"]


async def test_a_file_that_may_stay_again_counts_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(finishing, "PRUNE_SECONDS", 0)
    finisher, index = made(tmp_path, keep_bytes=25)
    index.known = [a_file(tmp_path, name, deletable=name > "1") for name in "123"]
    await finisher.step()
    assert "".join(one.name for one in index.known) == "123"
    (tmp_path / "2").unlink()
    await index.forget("2")
    for name in "45":
        await finisher.step()
        index.known.append(a_file(tmp_path, name))
    await finisher.step()
    assert "".join(one.name for one in index.known) == "145", "1 is within the bound until there is another file"
