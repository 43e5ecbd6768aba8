"""Reading an archive file of which the index tells the wrong thing."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from crawler.storage.archive import files
from crawler.storage.archive.config import ArchiveConfig
from crawler.storage.archive.store import GoneError, Store


async def test_what_is_no_file_is_an_error_of_its_pages(tmp_path: Path) -> None:
    store = Store(ArchiveConfig(directory=tmp_path))
    (tmp_path / "directory").mkdir()
    (tmp_path / "loop").symlink_to("loop")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "zeros").symlink_to("/dev/zero")
    async with asyncio.timeout(60):
        for name in ("directory", "pipe", "zeros", "x" * 5000):
            assert all(isinstance(part, Exception) for part in await store.read(name, [(0, 5), (5, 5)])), name
        for name in ("missing", "loop"):
            with pytest.raises(GoneError):
                await store.read(name, [(0, 5)])


@pytest.mark.parametrize("span", [(-1, 5), (0, 0), (0, -1), (8, 3), (2**63, 5), (0, 2**63), (2**70, 2**70)])
async def test_a_place_outside_of_the_file_is_an_error_of_its_page(tmp_path: Path, span: tuple[int, int]) -> None:
    (tmp_path / "file").write_bytes(b"0123456789")
    bad, good = await Store(ArchiveConfig(directory=tmp_path)).read("file", [span, (2, 3)])
    assert (isinstance(bad, ValueError), good) == (True, b"234")


async def test_a_file_that_is_being_finished_is_found_under_its_new_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file.open").write_bytes(b"0123456789")
    find = files.find

    def found_just_before(directory: Path, name: str) -> Path | None:
        path = find(directory, name)
        if path is not None and path.suffix:
            path.rename(directory / name)
        return path

    monkeypatch.setattr(files, "find", found_just_before)
    assert await Store(ArchiveConfig(directory=tmp_path)).read("file", [(2, 3)]) == [b"234"]
