"""Archive files on disk: complete or unchanged, and found again after their writer has died."""

from __future__ import annotations

import errno
import os
import socket
from pathlib import Path

import pytest

from crawler.errors import ConfigError
from crawler.storage.archive import files
from crawler.storage.archive.files import OpenFile
from crawler.storage.archive.records import encode, whole_length
from tests.unit.storage.archive.test_records import record


def test_a_file_is_open_until_it_is_finished(tmp_path: Path) -> None:
    file = OpenFile.create(tmp_path / "new")
    data = [encode(record()), encode(record(b"b"))]
    begin = file.size
    assert file.append(data) == [begin, begin + len(data[0])]
    assert file.path.name == file.name + ".open"
    assert files.open_bytes(tmp_path / "new") == file.size == file.path.stat().st_size
    assert files.find(tmp_path / "new", file.name) == file.path
    file.finish()
    assert [path.name for path in (tmp_path / "new").iterdir()] == [file.name]
    assert files.open_bytes(tmp_path / "new") == 0


def test_what_a_living_process_writes_is_left_alone(tmp_path: Path) -> None:
    file = OpenFile.create(tmp_path)
    assert list(files.left(tmp_path)) == []
    file.close()
    (found,) = files.left(tmp_path)
    assert found.name == file.name


def test_a_torn_end_is_cut_off(tmp_path: Path) -> None:
    file = OpenFile.create(tmp_path)
    file.append([encode(record())])
    file.close()
    with file.path.open("ab") as torn:
        torn.write(encode(record(b"lost"))[:-5])
    (found,) = files.left(tmp_path)
    assert found.size == file.size == found.path.stat().st_size
    (offset,) = found.append([encode(record(b"later"))])
    assert offset == file.size
    with found.path.open("rb") as stream:
        assert whole_length(stream) == found.size


def test_after_a_full_disk_the_file_is_as_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = OpenFile.create(tmp_path)
    size = file.size
    write = os.write

    def full(handle: int, data: memoryview) -> int:
        write(handle, data[:10])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(OSError, match="No space left"):
        file.append([encode(record())])
    monkeypatch.undo()
    assert file.size == size == file.path.stat().st_size
    assert file.append([encode(record())]) == [size]


def test_a_directory_that_cannot_be_written_to_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="ARCHIVE_DIR"):
        files.prepare(tmp_path / "file" / "archive")
    files.prepare(tmp_path / "archive")
    assert (tmp_path / "archive").is_dir()


def test_what_no_writer_of_ours_left_stays_as_it_is(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A link led to another file, which was cut to nothing."""
    directory, other = tmp_path / "archive", tmp_path / "notes.txt"
    directory.mkdir()
    other.write_text("kept")
    (directory / "link.warc.gz.open").symlink_to(other)
    (directory / "foreign.warc.gz.open").write_text("kept too")
    (directory / "folder.warc.gz.open").mkdir()
    os.mkfifo(directory / "pipe.warc.gz.open")
    before = sorted(path.name for path in directory.iterdir())
    assert list(files.left(directory)) == []
    assert sorted(path.name for path in directory.iterdir()) == before
    assert [other.read_text(), (directory / "foreign.warc.gz.open").read_text()] == ["kept", "kept too"]
    assert len(caplog.messages) == len(before)
    assert not any(message.endswith("None") for message in caplog.messages)


@pytest.mark.parametrize("beginning", [0, 1, 12])
def test_a_file_whose_writer_died_at_its_first_byte_holds_nothing(tmp_path: Path, beginning: int) -> None:
    file = OpenFile.create(tmp_path)
    file.close()
    file.path.write_bytes(file.path.read_bytes()[:beginning])
    (found,) = files.left(tmp_path)
    assert found.size == 0
    found.close()


def test_a_file_that_was_deleted_here_is_told_from_that_of_a_machine_with_a_longer_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = {}
    for host in ("worker-1", "us-worker-1", "worker-1-4", "worker.1"):
        monkeypatch.setattr(socket, "gethostname", lambda host=host: host)
        made[host] = [OpenFile.create(tmp_path / host, prefix) for prefix in ("shoal-", files.FAILURES)]
    for host, both in made.items():
        monkeypatch.setattr(socket, "gethostname", lambda host=host: host)
        own = {other for other, found in made.items() for file in found if files.is_here(tmp_path, file.name)}
        assert own == {host}
        assert all(files.is_here(tmp_path, file.name) for file in both)
    assert files.is_here(tmp_path / "us-worker-1", made["us-worker-1"][0].path.name)
