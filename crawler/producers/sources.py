"""The lines that a schedule pushes, in batches that can be continued."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncGenerator, Iterator
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple

from scrapy.settings import BaseSettings

from crawler.producers.schedule import ScheduleError, ScheduleSource
from crawler.storage import connection
from crawler.storage.config import StorageConfig
from crawler.storage.known import known

BATCH: Final = 500  # lines of one push

Line = tuple[str, str]  # where it stands ("urls.txt:17"), what it says


class LineBatch(NamedTuple):
    """Some lines, and the position behind them, from which another leader goes on."""

    lines: list[Line]
    position: str


async def batches(
    source: ScheduleSource, spider: str, settings: BaseSettings, position: str = ""
) -> AsyncGenerator[LineBatch]:
    """All of *source*, what is before *position* left out. Raises ScheduleError, or ServiceError of MongoDB."""
    match source.kind:
        case "urls":
            yield LineBatch([(f"URL {number}", url) for number, url in enumerate(source.values, 1)], "")
        case "file":
            async for batch in _threaded(file_batches(Path(source.values[0]), position)):
                yield batch
        case "known":
            async for batch in _of_known(source.values[0], spider, settings, position):
                yield batch


async def _threaded(made: Iterator[LineBatch]) -> AsyncGenerator[LineBatch]:
    """Read in a thread: a file may be on a disk that is far away."""
    while (batch := await asyncio.to_thread(next, made, None)) is not None:
        yield batch


def file_batches(path: Path, position: str = "") -> Iterator[LineBatch]:
    """Lines of a UTF-8 file that are not blank. Goes on behind *position* unless that was in another file: one that has
    changed is read from its beginning."""
    try:
        with path.open(encoding="utf-8-sig", errors="surrogateescape") as lines:
            stat = os.fstat(lines.fileno())
            mark = f"{stat.st_size}:{stat.st_mtime_ns}"
            before, _, line = position.rpartition(":")
            number = int(line) if before == mark else 0
            rest = islice(lines, number, None)
            while found := list(islice(rest, BATCH)):
                told = [(f"{path.name}:{at}", text.strip()) for at, text in enumerate(found, number + 1)]
                number += len(found)
                yield LineBatch([line for line in told if line[1]], f"{mark}:{number}")
    except (OSError, ValueError) as error:  # a path with a NUL is a ValueError
        raise ScheduleError(f"file {path} cannot be read ({getattr(error, 'strerror', None) or error})") from None


async def _of_known(host: str, spider: str, settings: BaseSettings, position: str) -> AsyncGenerator[LineBatch]:
    history = StorageConfig.from_settings(settings).history.values()
    after = tuple(json.loads(position)) if position else ("", "")
    lines: list[Line] = []
    async with connection.session(settings) as database:
        async for one in known(database, host, spider, history=history, after=after):
            lines.append((f"document {one.id}", one.url))
            if len(lines) == BATCH:
                yield LineBatch(lines, json.dumps([one.collection, one.id]))
                lines = []
        if lines:
            yield LineBatch(lines, json.dumps([one.collection, one.id]))
