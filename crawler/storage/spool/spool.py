"""The spool of one worker: where items go, safely, while MongoDB does not take them."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from crawler.storage.spool import entries, frames
from crawler.storage.spool.appending import Appender
from crawler.storage.spool.claims import DAMAGED, Claim, usage
from crawler.storage.spool.entries import Entry

FILE_BYTES: Final = 16 * 2**20  # a file is deleted whole, when all of it is stored

logger = logging.getLogger(__name__)


class SpoolFullError(Exception):
    """The disk, or the share of it that the spool may fill, does not take this batch."""


class Spool:
    """Appends batches, and hands them out again, oldest first: first what dead workers left, then our own.

    *max_bytes* bounds the whole directory, which all workers of a machine share; each looks at it before an append, so
    several may overshoot it together by a batch each.
    """

    def __init__(self, directory: Path, max_bytes: int) -> None:
        self.directory = directory
        self.max_bytes = max_bytes
        self._own = Claim.new(directory)
        self._claims = [self._own]
        self._appender: Appender | None = None
        self._number = 0
        self._lock = asyncio.Lock()
        self.adopt()

    def adopt(self) -> None:
        """Take over what workers that have died meanwhile left."""
        self._claims[:0] = Claim.abandoned(self.directory)

    @property
    def waiting(self) -> bool:
        """Whether something is in the spool that this worker will store."""
        return any(claim.files() for claim in self._claims)

    @property
    def size(self) -> int:
        """Bytes in the directory."""
        return usage(self.directory).size

    async def append(self, batch: Sequence[Entry]) -> None:
        """Return once *batch* is on the disk; raises SpoolFullError when it cannot be, and then none of it is."""
        payload = await asyncio.to_thread(entries.pack, batch)
        async with self._lock:
            if self.size + len(payload) > self.max_bytes:
                raise SpoolFullError(f"{self.directory} holds {self.size:,} bytes, SPOOL_MAX_MB allows no more")
            try:
                await asyncio.to_thread(self._append, payload)
            except OSError as error:
                raise SpoolFullError(f"{self.directory} takes no more: {error.strerror}") from error

    def _append(self, payload: bytes) -> None:
        if self._appender is None or self._appender.size >= FILE_BYTES:
            self._seal()
            self._number += 1
            self._appender = Appender(self._own.file(self._number))
        self._appender.append(payload)

    def _seal(self) -> None:
        if self._appender is not None:
            self._appender.close()
            self._appender = None

    async def oldest(self) -> Path | None:
        """The next file to replay, complete by now; None when the spool is empty."""
        for claim in list(self._claims):
            if files := claim.files():
                async with self._lock:
                    if self._appender is not None and self._appender.path == files[0]:
                        self._seal()
                return files[0]
            if claim is not self._own:
                self._claims.remove(claim)
                claim.release()
        return None

    def close(self) -> None:
        """Let go of the files; what is in them waits for the next worker."""
        self._seal()
        for claim in self._claims:
            claim.release()


def batches(path: Path, size: int) -> Iterator[list[Entry]]:
    """The entries of a file in their order, at most *size* at a time, none of them twice in one batch.

    What cannot be read is said in one line. Not for the event loop.
    """
    batch: dict[tuple[str, str], Entry] = {}
    for entry in _entries(path):
        key = (getattr(entry, "collection", ""), entry.id)
        if key in batch or len(batch) == size:
            yield list(batch.values())
            batch = {}
        batch[key] = entry
    if batch:
        yield list(batch.values())


def _entries(path: Path) -> Iterator[Entry]:
    try:
        for payload in frames.read(path):
            yield from entries.unpack(payload)
    except frames.BrokenFileError as error:
        if error.torn:
            logger.warning("%s, dropped: its page was never confirmed and is fetched again", error)
            return
        kept = path.with_suffix(DAMAGED)
        if not kept.exists():  # it was replayed before, by a worker that died over it
            os.link(path, kept)
        logger.error("%s: what is before it is stored, the file is kept as %s", error, kept)
