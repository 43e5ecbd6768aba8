"""What somebody has laid into a spool's directory: read, or set aside; nothing is waited for or overwritten."""

from __future__ import annotations

import os
import resource
from pathlib import Path
from typing import Any

import pytest

from crawler.storage.items.documents import document
from crawler.storage.items.repository import BATCH_BYTES
from crawler.storage.outage import MongoOutage
from crawler.storage.spool import entries, frames
from crawler.storage.spool.fallback import SpoolFallback
from crawler.storage.spool.spool import FILE_BYTES, Spool
from crawler.storage.spool.spool_file import SpoolFile
from tests.integration.storage.observing import URL, RecordedStats, at, seen

ITEM = document(seen(1), at(1), 2**20)
DATA = frames.HEAD + frames.frame(entries.pack([ITEM]))


def test_what_is_no_file_is_damage(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "1-1-000001.spool")
    (tmp_path / "1-1-000002.spool").symlink_to("/dev/zero")
    (tmp_path / "1-1-000003.spool").mkdir()
    for path in sorted(tmp_path.iterdir()):
        file = SpoolFile(path)
        assert not list(file.batches(10))
        assert file.damage == ["it is not a file"]


def test_a_file_that_cannot_be_opened_for_now_is_not_damaged(tmp_path: Path) -> None:
    path = tmp_path / "1-1-000001.spool"
    path.write_bytes(DATA)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, hard))
    file = SpoolFile(path)
    try:
        with pytest.raises(OSError, match="Too many open files"):
            list(file.batches(10))
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert not file.damage
    assert [[entry.id for entry in batch] for batch in file.batches(10)] == [[ITEM.id]]


async def test_files_of_any_name_are_found(tmp_path: Path) -> None:
    for name in ("[x]-1", "*-1", "1-2-000001"):
        (tmp_path / f"{name}.spool").write_bytes(DATA)
    spool = Spool(tmp_path, 2**20)
    found = set()
    while (path := await spool.oldest()) is not None:
        found.add(path.stem)
        await spool.done_with(path, keep=False)
    spool.close()
    assert found == {"[x]-1", "*-1", "1-2-000001"}


async def test_a_damaged_file_takes_nobodys_place(tmp_path: Path) -> None:
    (tmp_path / "1-1-000001.damaged").write_bytes(b"kept before")
    (tmp_path / "1-1-000001.spool").write_bytes(DATA[:-1] + b"?")
    spool = Spool(tmp_path, 2**20)
    path = await spool.oldest()
    assert path is not None
    await spool.done_with(path, keep=True)
    spool.close()
    assert sizes(tmp_path) == {"1-1-000001.damaged": 11, "1-1-000001-1.damaged": len(DATA)}


async def test_files_are_small_enough_to_be_read_whole(tmp_path: Path) -> None:
    spool, nothing, stats = Spool(tmp_path, 2**30), Any, RecordedStats()
    fallback = SpoolFallback(spool, nothing, MongoOutage(stats, "here", 1), stats, 500)  # type: ignore[arg-type]
    text = "x" * 2**21
    large = [document(seen(1, url=f"{URL}{number}", description=text), at(1), 2**22) for number in range(20)]
    assert await fallback.take(large)
    found = {name: size for name, size in sizes(tmp_path).items() if name.endswith(".spool")}
    assert max(found.values()) < FILE_BYTES + BATCH_BYTES
    batches = [batch for name in sorted(found) for batch in SpoolFile(tmp_path / name).batches(500)]
    assert [entry.id for batch in batches for entry in batch] == [entry.id for entry in large]
    spool.close()


def sizes(directory: Path) -> dict[str, int]:
    return {path.name: path.stat().st_size for path in directory.iterdir()}
