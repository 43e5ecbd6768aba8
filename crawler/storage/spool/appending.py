"""Writes one spool file: once `append` returns, the batch is on disk."""

from __future__ import annotations

from pathlib import Path
from typing import Self

from crawler.storage.spool.frames import HEAD, frame
from crawler.storage.synced_file import SyncedFile


class Appender(SyncedFile):
    """Appends to a new file; not thread-safe. Raises OSError when the disk refuses the write."""

    @classmethod
    def create(cls, path: Path) -> Self:
        """Create *path*, which must not exist."""
        return cls.new(path, HEAD, 0o600)

    def append(self, payload: bytes) -> None:
        """Return once *payload* is on disk; after an OSError the file is unchanged."""
        self.write(frame(payload))
