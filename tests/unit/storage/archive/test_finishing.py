"""A file that cannot be finished stands in no other's way."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from pymongo import UpdateOne

from crawler.storage.archive import files
from crawler.storage.archive.config import ArchiveConfig
from crawler.storage.archive.files import OpenFile
from crawler.storage.archive.finishing import Finisher
from crawler.storage.archive.records import encode
from crawler.storage.archive.store import Store
from tests.integration.storage.observing import RecordedStats
from tests.unit.storage.archive.test_records import record


class Index:
    """Remembers which files are kept."""

    def __init__(self) -> None:
        self.kept: list[str] = []

    async def ensure(self) -> None:
        return

    async def write(self, updates: list[UpdateOne]) -> None:
        return

    async def file_kept(self, name: str, size: int, where: str, at: datetime) -> None:
        self.kept.append(name)


def made(directory: Path) -> tuple[Finisher, Index]:
    index: Any = Index()
    config = ArchiveConfig(directory=directory)
    return Finisher(config, index, Store(config), RecordedStats()), index


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


def test_what_cannot_be_taken_over_is_named_and_the_rest_is_finished(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "0.warc.gz.open").mkdir()  # stands for another user's file: root may open those
    file = OpenFile.create(tmp_path)
    file.close()
    assert [found.name for found in files.left(tmp_path)] == [file.name]
    assert "0.warc.gz.open, left by a dead worker, cannot be finished: Is a directory" in caplog.text
