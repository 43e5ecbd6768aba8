"""Archive files on local disk. A file is locked and named `.open` from its creation until it is indexed and kept, so
that the next worker recognises a dead worker's files by name and free lock. Everything here blocks: call it from
threads."""

from __future__ import annotations

import errno
import fcntl
import logging
import os
import re
import socket
import stat
import tempfile
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from secrets import token_hex
from typing import Final, Self

from crawler.errors import ConfigError
from crawler.storage.archive import records
from crawler.storage.synced_file import SyncedFile, is_at, sync_directory

SUFFIX: Final = ".warc.gz"
OPEN: Final = ".open"  # the usual suffix of WARC files that are being written
FAILURES: Final = "shoal-failures-"  # name prefix of files that hold only failures
_NAME: Final = "{prefix}{time}-{host}-{pid}-{unique}{suffix}"  # of which no other worker makes the same
_SOFTWARE: Final = "Shoal"
_GZIP: Final = b"\x1f\x8b"  # how each of our files begins, or the little that a killed writer got to write

logger = logging.getLogger(__name__)


class OpenFile(SyncedFile):
    """A WARC file that only this process appends to."""

    @classmethod
    def create(cls, directory: Path, prefix: str = "shoal-") -> Self:
        """Create a file under a name that no other worker has; raises OSError."""
        directory.mkdir(parents=True, exist_ok=True)
        time, host = f"{datetime.now(UTC):%Y%m%d%H%M%S}", socket.gethostname()
        name = _NAME.format(prefix=prefix, time=time, host=host, pid=os.getpid(), unique=token_hex(4), suffix=SUFFIX)
        return cls.new(directory / (name + OPEN), records.heading(name, _SOFTWARE), 0o644)

    @classmethod
    def claim(cls, path: Path) -> Self | None:
        """Take over a dead process' file, cut back to its last whole record; None while it is being written.

        Raises OSError, also for what no writer of ours can have left: a link, a pipe, data that is no archive. It stays
        as it is.
        """
        try:
            handle = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
        except FileNotFoundError:
            return None
        try:
            if _locked(handle, path):
                return cls(path, handle, _cut_back(handle))
        except OSError:
            os.close(handle)
            raise
        os.close(handle)
        return None

    @property
    def name(self) -> str:
        """The file's name once it is finished."""
        return self.path.name.removesuffix(OPEN)

    def append(self, data: Sequence[bytes]) -> list[int]:
        """Write whole records and sync; returns their offsets. After an OSError the file is unchanged."""
        offsets = [self.size + sum(map(len, data[:position])) for position in range(len(data))]
        self.write(b"".join(data))
        return offsets

    def finish(self) -> None:
        """Give the file its final name."""
        self.path.rename(self.path.with_name(self.name))
        sync_directory(self.path.parent)
        self.close()

    def remove(self) -> None:
        """Delete the file: it is kept elsewhere, or empty."""
        self.path.unlink(missing_ok=True)
        self.close()


def prepare(directory: Path) -> None:
    """Create the directory; raises ConfigError if it is not writable."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=directory):
            return
    except OSError as error:
        raise ConfigError("ARCHIVE_DIR", str(directory), f"a writable directory ({error.strerror})") from None


def left(directory: Path) -> Iterator[OpenFile]:
    """Files that dead workers left in *directory*, oldest first."""
    for path in sorted(directory.glob(f"*{SUFFIX}{OPEN}")):
        try:
            file = OpenFile.claim(path)
        except OSError as error:  # another user's, or unreadable: that must not keep others from being finished
            logger.error("The archive file %s, left by a dead worker, cannot be finished: %s", path, error.strerror)
            continue
        if file is not None:
            yield file


def finished(directory: Path) -> list[str]:
    """Names of finished files on this disk, in order."""
    return sorted(path.name for path in directory.glob(f"shoal-*{SUFFIX}") if path.is_file())


def only_failures(name: str) -> bool:
    """Whether the file *name* was written while only failures were kept."""
    return name.startswith(FAILURES)


def is_here(directory: Path, name: str) -> bool:
    """Whether the file is, or was, on this machine's disk."""
    host, suffix = re.escape(socket.gethostname()), re.escape(SUFFIX)
    own = _NAME.format(
        prefix="shoal-(failures-)?", time=r"\d{14}", host=host, pid=r"\d+", unique="[0-9a-f]{8}", suffix=suffix
    )
    return re.fullmatch(own, name) is not None or (directory / name).exists()


def open_bytes(directory: Path) -> int:
    """Bytes on disk that are not yet kept elsewhere."""
    return sum(_size(path) for path in directory.glob(f"*{SUFFIX}{OPEN}"))


def find(directory: Path, name: str) -> Path | None:
    """The file's path on this disk, finished or not."""
    return next((path for path in (directory / name, directory / (name + OPEN)) if path.exists()), None)


def _locked(handle: int, path: Path) -> bool:
    """Lock the file; True if that worked and *path* still names the locked file."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return is_at(handle, path)
    except BlockingIOError:
        return False


def _cut_back(handle: int) -> int:
    """Cut the file back to its last whole record; its size."""
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        raise OSError(errno.EINVAL, "it is not a regular file")
    with os.fdopen(os.dup(handle), "rb") as stream:
        size = records.whole_length(stream)
    if not size and not _GZIP.startswith(os.pread(handle, len(_GZIP), 0)):
        raise OSError(errno.EINVAL, "it has nothing of an archive file")
    os.ftruncate(handle, size)
    os.fsync(handle)
    return size


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0
