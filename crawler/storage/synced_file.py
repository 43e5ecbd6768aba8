"""A file that survives crashes, and being deleted: once data is appended, it is on disk under the file's name.

Everything here blocks: call it from threads.
"""

from __future__ import annotations

import errno
import fcntl
import logging
import os
from pathlib import Path
from typing import Final, Self

RESTORED: Final = ".restored"  # suffix while it is written
_CREATE: Final = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
_CHUNK: Final = 2**20

logger = logging.getLogger(__name__)


class SyncedFile:
    """A locked file that only this process appends to; `size` counts the bytes synced to disk.

    If its name no longer leads to it, because somebody has deleted or moved it or its directory, it is written there
    again from the open handle: what was confirmed as stored would otherwise vanish unseen.
    """

    def __init__(self, path: Path, handle: int, size: int) -> None:
        self.path = path
        self.size = size
        self._handle = handle

    @classmethod
    def new(cls, path: Path, head: bytes, mode: int) -> Self:
        """Create *path* with *head*; raises OSError, and then there is no file."""
        handle = os.open(path, _CREATE | os.O_EXCL, mode)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            file = cls(path, handle, 0)
            file.write(head)
            sync_directory(path.parent)
        except BaseException:
            os.close(handle)
            path.unlink(missing_ok=True)
            raise
        return file

    def write(self, data: bytes) -> None:
        """Return once *data* is appended and synced; after an OSError the file is unchanged."""
        self._heed_size()
        try:
            _write_all(self._handle, data)
            os.fsync(self._handle)
            self._restore(self.size + len(data))
        except OSError:
            os.ftruncate(self._handle, self.size)
            raise
        self.size += len(data)

    def _heed_size(self) -> None:
        """Cut off what a write left that failed, and could not be undone; and write behind what somebody has cut."""
        found = os.fstat(self._handle).st_size
        if found > self.size:
            os.ftruncate(self._handle, self.size)
        elif found < self.size:
            logger.error("Somebody has cut %d bytes off %s: what they held is lost", self.size - found, self.path)
            self.size = found

    def restore(self) -> None:
        """Write the file again if its name no longer leads to it; raises OSError."""
        self._restore(self.size)

    def close(self) -> None:
        """Release the file, and its lock."""
        os.close(self._handle)

    def _restore(self, size: int) -> None:
        if is_at(self._handle, self.path):
            return
        self.path.parent.mkdir(parents=True, exist_ok=True)
        written = self.path.with_name(self.path.name + RESTORED)
        handle = os.open(written, _CREATE | os.O_TRUNC, os.fstat(self._handle).st_mode & 0o777)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            for offset in range(0, size, _CHUNK):
                _write_all(handle, os.pread(self._handle, min(_CHUNK, size - offset), offset))
            os.fsync(handle)
            written.rename(self.path)
            sync_directory(self.path.parent)
        except OSError:
            os.close(handle)
            written.unlink(missing_ok=True)
            raise
        os.dup2(handle, self._handle, inheritable=False)
        os.close(handle)
        logger.warning("%s was deleted or moved while it was written: it is there again", self.path)


def is_at(handle: int, path: Path) -> bool:
    """Whether *path* leads to the open file *handle*; other errors than a missing path raise OSError."""
    try:
        return os.path.samestat(path.stat(), os.fstat(handle))
    except (FileNotFoundError, NotADirectoryError):
        return False


def sync_directory(directory: Path) -> None:
    """A new file, or name, is safe only once its directory entry is."""
    handle = os.open(directory, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _write_all(handle: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        if not (written := os.write(handle, view)):
            raise OSError(errno.ENOSPC, "nothing was written")
        view = view[written:]
