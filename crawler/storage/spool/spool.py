"""The spool of one worker: durable storage for items while MongoDB is away."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from crawler.storage.spool import entries, frames
from crawler.storage.spool.claims import DAMAGED, Claim, usage
from crawler.storage.spool.entries import Entry
from crawler.storage.synced_file import SyncedFile

FILE_BYTES: Final = 16 * 2**20  # a file is deleted whole, when all of it is stored

logger = logging.getLogger(__name__)


class SpoolFullError(Exception):
    """The disk, or the part of it that the spool may fill, has no room for this batch."""


class Spool:
    """Appends batches and returns them oldest first: those of dead workers, then our own.

    *max_bytes* bounds the whole directory, shared by all workers of a machine; each checks it before an append, so they
    may exceed it by one batch each.

    A file that is deleted while it is written is written again; known weakness: one of more than FILE_BYTES, which only
    waits, is not.
    """

    def __init__(self, directory: Path, max_bytes: int) -> None:
        self.directory = directory
        self.max_bytes = max_bytes
        self._own = Claim.new(directory)
        self._claims = [self._own]
        self._file: SyncedFile | None = None  # that is written
        self._number = 0
        self._lock = asyncio.Lock()
        self._stuck: set[Path] = set()  # stored, but not deletable
        self._waiting = False  # when the directory could be read last
        self.adopt()

    def adopt(self) -> None:
        """Take over what workers that died meanwhile have left."""
        found = [*Claim.abandoned(self.directory)]
        self._claims[:0] = found
        self._waiting = self._waiting or bool(found)

    @property
    def waiting(self) -> bool:
        """Whether the spool has something for this worker to store. While its directory cannot be read (no file
        descriptor is free, say) that is as it was before: only this worker adds to it."""
        with suppress(OSError):
            self._waiting = any(self._files(claim) for claim in self._claims)
        return self._waiting

    async def append(self, batch: Sequence[Entry]) -> None:
        """Return once *batch* is on disk; raises SpoolFullError if that fails, and then none of it is."""
        payload = await asyncio.to_thread(entries.pack, batch)
        async with self._lock:
            try:
                if (size := usage(self.directory).size) + len(payload) > self.max_bytes:
                    raise SpoolFullError(f"{self.directory} holds {size:,} bytes, SPOOL_MAX_MB allows no more")
                await asyncio.to_thread(self._append, payload)
            except OSError as error:
                raise SpoolFullError(f"{self.directory} cannot be written: {error.strerror}") from error
            self._waiting = True

    def _append(self, payload: bytes) -> None:
        self._own.hold()
        if self._file is None or self._file.size >= FILE_BYTES:
            self._seal()
            self._number += 1
            self._file = SyncedFile.new(self._own.file(self._number), frames.HEAD, 0o600)
        self._file.write(frames.frame(payload))

    def _seal(self) -> None:
        if self._file is not None:
            self._restore()
            self._file.close()
            self._file = None

    def _restore(self) -> None:
        if self._file is not None:
            self._own.hold()
            self._file.restore()

    async def oldest(self) -> Path | None:
        """The next complete file to replay; None if the spool is empty. Raises OSError if one of ours has vanished and
        cannot be written again."""
        if self._file is not None:
            async with self._lock:
                await asyncio.to_thread(self._restore)
        for claim in list(self._claims):
            if files := self._files(claim):
                async with self._lock:
                    if self._file is not None and self._file.path == files[0]:
                        self._seal()
                return files[0]
            if claim is not self._own:
                self._claims.remove(claim)
                claim.release()
        return None

    async def done_with(self, path: Path, *, keep: bool) -> None:
        """Delete *path*, which is fully stored; *keep*: it is not, so it is set aside as `*.damaged`."""
        try:
            await asyncio.to_thread(lambda: path.rename(aside(path)) if keep else path.unlink(missing_ok=True))
        except OSError as error:
            self._stuck.add(path)
            logger.error("%s is stored but cannot be deleted (%s)", path, error.strerror)

    def _files(self, claim: Claim) -> list[Path]:
        return [path for path in claim.files() if path not in self._stuck]

    def close(self) -> None:
        """Release the files; their content is left to the next worker."""
        try:
            self._seal()
        except OSError as error:
            text = "%s cannot be reached (%s): what waits there is lost if somebody has deleted it"
            logger.error(text, self.directory, error.strerror)
        for claim in self._claims:
            claim.release()


def aside(path: Path) -> Path:
    """The name under which *path* is kept when it is damaged; not that of one kept before, such as from a backup."""
    if path.suffix == DAMAGED:
        return path
    names = (path.with_name(f"{path.stem}{mark}{DAMAGED}") for mark in ("", *(f"-{n}" for n in range(1, 1000))))
    return next((name for name in names if not name.exists()), path.with_suffix(DAMAGED))
