"""What was confirmed as synced stays where its name says, though somebody deletes or moves it."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from secrets import token_hex

import pytest

from crawler.items import PageItem
from crawler.storage.items.documents import StoredDocument, document
from crawler.storage.spool.spool import Spool, SpoolFullError
from crawler.storage.spool.spool_file import SpoolFile
from crawler.storage.synced_file import SyncedFile

AT = datetime(2026, 3, 1, tzinfo=UTC)

Harm = Callable[[Path], object]


def entry(url: str) -> StoredDocument:
    return document(PageItem(url=url, title="a page"), AT, 10_000)


def moved(path: Path) -> None:
    path.parent.rename(path.parent.parent / token_hex(4))


def replaced(path: Path) -> None:
    path.unlink()
    path.write_text("another file")


HARMS: dict[str, Harm] = {
    "deleted": Path.unlink,
    "directory deleted": lambda path: shutil.rmtree(path.parent),
    "directory moved": moved,
    "replaced": replaced,
}


@pytest.fixture
def file(tmp_path: Path) -> SyncedFile:
    (tmp_path / "kept").mkdir()
    return SyncedFile.new(tmp_path / "kept" / "one", b"head ", 0o600)


@pytest.mark.parametrize("harm", HARMS)
def test_a_file_that_vanished_is_there_again_with_all_that_was_confirmed(file: SyncedFile, harm: str) -> None:
    file.write(b"first ")
    HARMS[harm](file.path)
    file.write(b"second ")
    assert file.path.read_bytes() == b"head first second "
    file.write(b"third")
    assert file.path.read_bytes() == b"head first second third"
    HARMS["deleted"](file.path)
    file.restore()
    assert file.path.read_bytes() == b"head first second third"
    assert file.size == file.path.stat().st_size
    assert [path.name for path in file.path.parent.iterdir()] == ["one"]
    assert file.path.stat().st_mode & 0o777 == 0o600
    file.close()


def test_what_cannot_be_there_again_is_not_confirmed(file: SyncedFile) -> None:
    shutil.rmtree(file.path.parent)
    file.path.parent.write_text("a file in place of the directory")
    with pytest.raises(FileExistsError):
        file.write(b"lost")
    assert file.size == len(b"head ")
    file.path.parent.unlink()
    file.write(b"kept")
    assert file.path.read_bytes() == b"head kept"
    file.close()


def test_a_disk_that_fails_to_sync_leaves_the_file_as_it_was(file: SyncedFile, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(handle: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", failing)
        with pytest.raises(OSError, match="Input/output"):
            file.write(b"lost")
    assert file.path.read_bytes() == b"head "
    file.write(b"kept")
    assert file.path.read_bytes() == b"head kept"
    file.close()


def test_what_a_failed_write_leaves_is_cut_off_before_the_next(
    file: SyncedFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Or the next failure would cut off what was confirmed behind it."""

    def failing(*given: object) -> None:
        raise OSError(errno.EIO, "Input/output error")

    for name in ("fsync", "ftruncate"):
        monkeypatch.setattr(os, name, failing)
    with pytest.raises(OSError, match="Input/output"):
        file.write(b"lost")
    monkeypatch.undo()
    file.write(b"kept")
    assert file.path.read_bytes() == b"head kept"
    file.close()


def test_what_somebody_cuts_off_is_said(file: SyncedFile, caplog: pytest.LogCaptureFixture) -> None:
    file.write(b"lost")
    os.truncate(file.path, 5)
    file.write(b"kept")
    assert (file.path.read_bytes(), file.size) == (b"head kept", 9)
    assert "has cut 4 bytes off" in caplog.text
    file.close()


@pytest.mark.parametrize("harm", HARMS)
async def test_a_spool_that_is_deleted_keeps_what_it_took(tmp_path: Path, harm: str) -> None:
    spool = Spool(tmp_path / "spool", 10**6)
    await spool.append([entry("http://a.example/1")])
    (path,) = spool.directory.glob("*.spool")
    HARMS[harm](path)
    assert await spool.oldest() == path  # though nothing more is appended
    await spool.done_with(path, keep=False)
    await spool.append([entry("http://a.example/2")])
    (path,) = spool.directory.glob("*.spool")
    HARMS[harm](path)
    await spool.append([entry("http://a.example/3")])
    assert [one.id for batch in SpoolFile(path).batches(9) for one in batch] == [
        "http://a.example/2",
        "http://a.example/3",
    ]
    assert list(Spool(spool.directory, 10**6)._claims[0].files()) == []  # its lock is there again, too
    spool.close()


async def test_a_spool_whose_directory_became_a_file_says_so_and_ends(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "spool", 10**6)
    shutil.rmtree(spool.directory)
    spool.directory.write_text("")
    with pytest.raises(SpoolFullError, match="cannot be written: File exists"):
        await spool.append([entry("http://a.example/1")])
    spool.close()
