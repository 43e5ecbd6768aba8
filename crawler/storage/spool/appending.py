"""Writes one spool file: once `append` returns, the batch is on disk."""

from __future__ import annotations

import os
from pathlib import Path

from crawler.storage.spool.frames import HEAD, frame


class Appender:
    """Appends to a new file; not thread-safe. Raises OSError when the disk refuses the write."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o600)
        self.size = 0
        try:
            self._write(HEAD)
            _sync_directory(path.parent)
        except OSError:
            os.close(self._file)
            path.unlink()
            raise

    def append(self, payload: bytes) -> None:
        """Return once *payload* is on disk; after an OSError the file is unchanged."""
        self._write(frame(payload))

    def _write(self, data: bytes) -> None:
        left = memoryview(data)
        try:
            while left:
                left = left[os.write(self._file, left) :]
            os.fsync(self._file)
        except OSError:
            os.ftruncate(self._file, self.size)
            raise
        self.size += len(data)

    def close(self) -> None:
        os.close(self._file)


def _sync_directory(directory: Path) -> None:
    """A new file is safe only once its directory entry is."""
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
