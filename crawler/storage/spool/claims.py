"""Who owns a spool's files: a lock that ends with its process tells live workers from dead ones."""

from __future__ import annotations

import errno
import fcntl
import glob
import logging
import os
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

from crawler.storage.synced_file import is_at

SUFFIX = ".spool"
DAMAGED = ".damaged"  # kept for inspection
_LOCK = ".lock"
_TRIES: Final = 100  # names; a file system that locks nothing refuses all
_unusable: Final[set[str]] = set()  # owners already logged

logger = logging.getLogger(__name__)


@dataclass(slots=True, eq=False)
class Claim:
    """One worker's files; others leave them alone while *lock* is held, a flock that ends with the process.

    Known weakness: a file system without flock (some network disks) lets two workers claim the same files. Replaying a
    file twice is harmless.
    """

    directory: Path
    owner: str
    lock: int  # file descriptor

    @classmethod
    def new(cls, directory: Path) -> Self:
        """A claim for this process; sorts after earlier ones. Raises OSError.

        A worker that looks for what was abandoned may take the new lock first, find nothing and delete it: then the
        next name is tried.
        """
        directory.mkdir(parents=True, exist_ok=True)
        for _ in range(_TRIES):
            if (claim := cls._take(directory, f"{time.time_ns():020d}-{os.getpid()}")) is not None:
                return claim
        raise BlockingIOError(errno.EWOULDBLOCK, "no lock can be taken there")

    @classmethod
    def abandoned(cls, directory: Path) -> Iterator[Self]:
        """Take over what ended processes left behind, oldest first."""
        owners = {path.stem for path in directory.glob(f"*{_LOCK}")}
        owners |= {path.stem.rpartition("-")[0] for path in directory.glob(f"*-*{SUFFIX}")}  # for example from a backup
        for owner in sorted(owners):
            try:
                claim = cls._take(directory, owner)
            except OSError as error:  # another user's: that must not keep a worker from its own files
                if owner not in _unusable:
                    _unusable.add(owner)
                    logger.warning("Could not take over the files of %s in %s: %s", owner, directory, error.strerror)
                continue
            if claim is not None and claim.has_files():
                yield claim

    def has_files(self) -> bool:
        """Whether there are files to store; else the claim is released, as where no file can be listed now."""
        try:
            if self.files():
                return True
            self.release()
        except OSError:
            os.close(self.lock)
        return False

    @classmethod
    def _take(cls, directory: Path, owner: str) -> Self | None:
        lock = os.open(directory / f"{owner}{_LOCK}", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(lock)
            if isinstance(error, BlockingIOError):
                return None
            raise
        return cls(directory, owner, lock)

    def hold(self) -> None:
        """Lock again if somebody has deleted or moved the lock; raises OSError."""
        if is_at(self.lock, self._path):
            return
        self.directory.mkdir(parents=True, exist_ok=True)
        if (again := self._take(self.directory, self.owner)) is None:
            raise BlockingIOError(errno.EWOULDBLOCK, f"another process has locked {self._path.name}")
        os.close(self.lock)
        self.lock = again.lock

    @property
    def _path(self) -> Path:
        return self.directory / f"{self.owner}{_LOCK}"

    def files(self) -> list[Path]:
        """The files in the order they were written."""
        return sorted(self.directory.glob(f"{glob.escape(self.owner)}-*{SUFFIX}"))

    def file(self, number: int) -> Path:
        """The name of file *number*."""
        return self.directory / f"{self.owner}-{number:06d}{SUFFIX}"

    def release(self) -> None:
        """Release the claim; delete the lock if nothing is left. In a directory that cannot be read it stays."""
        with suppress(OSError):
            if not self.files() and is_at(self.lock, self._path):
                self._path.unlink(missing_ok=True)
        os.close(self.lock)


@dataclass(frozen=True, slots=True)
class Usage:
    """What a spool directory holds. *oldest*: mtime of its oldest file (epoch seconds), None if there is none."""

    files: int
    size: int  # bytes
    oldest: float | None


def usage(directory: Path) -> Usage:
    """Usage by all workers on this disk; a file that disappears meanwhile is not counted."""
    found: list[os.stat_result] = []
    for path in directory.glob(f"*{SUFFIX}"):
        try:
            found.append(path.stat())
        except FileNotFoundError:
            continue
    oldest = min((one.st_mtime for one in found), default=None)
    return Usage(len(found), sum(one.st_size for one in found), oldest)
