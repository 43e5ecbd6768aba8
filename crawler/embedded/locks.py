"""flock(2) on files: the kernel releases it however its holder ends."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path


class FileLock:
    """One open lock file. Never inherited by a program this process starts (Python opens with O_CLOEXEC);
    a bare fork() does share it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)

    @property
    def in_place(self) -> bool:
        """Whether its path still leads to this file: the directory may have been deleted, and made anew."""
        try:
            return os.path.samestat(os.fstat(self._fd), self.path.stat())
        except OSError:
            return False

    def try_shared(self) -> bool:
        """Take the lock shared; False while someone holds it exclusively."""
        return self._try(fcntl.LOCK_SH)

    def try_exclusive(self) -> bool:
        """Take the lock exclusively; False while anyone else holds it."""
        return self._try(fcntl.LOCK_EX)

    def release(self) -> None:
        fcntl.flock(self._fd, fcntl.LOCK_UN)

    def close(self) -> None:
        os.close(self._fd)

    def _try(self, kind: int) -> bool:
        try:
            fcntl.flock(self._fd, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
