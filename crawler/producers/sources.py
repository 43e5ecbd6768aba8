"""Where pushed lines come from: files, standard input, S3 objects; plain, gzip or Zstandard, detected by their
bytes."""

from __future__ import annotations

import gzip
import io
import os
import select
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from stat import S_ISREG
from threading import Event
from typing import TYPE_CHECKING, Any, Final, Protocol, cast

if TYPE_CHECKING or sys.version_info < (3, 14):
    from backports import zstd
else:
    from compression import zstd

BLOCK: Final = 131_072  # bytes read at once
IDLE_SECONDS: Final = 0.2  # without input: what was read is pushed, and Ctrl-C is checked
RETRY_TIME: Final = timedelta(seconds=30)  # for an object store that does not answer
STDIN: Final = "-"
REMOTE: Final = "s3://"
# Errors of reading and unpacking. A path with a NUL is a ValueError.
ERRORS: Final = (OSError, EOFError, ValueError, zlib.error, zstd.ZstdError)
_PACKED: Final[dict[bytes, Callable[[Any], Any]]] = {b"\x1f\x8b": gzip.open, b"\x28\xb5\x2f\xfd": zstd.open}


class Raw(Protocol):
    """Bytes as stored; *position* is that of the next one."""

    position: int

    def read(self) -> bytes | None:
        """At most BLOCK bytes; empty at the end, None while nothing is available yet."""

    def close(self) -> None:
        """Stop reading."""


def is_url(source: str) -> bool:
    """Whether *source* is itself a URL or JSON message, not a place to read from."""
    return ("://" in source or source.startswith("{")) and not source.startswith(REMOTE)


def shown(source: str) -> str:
    """Its name in messages."""
    return "standard input" if source == STDIN else source


def size_of(source: str) -> int | None:
    """The size of a file; None if it is not known in advance."""
    try:
        status = None if source == STDIN else Path(source).stat()
    except ERRORS:
        return None
    return status.st_size if status and S_ISREG(status.st_mode) else None


def state_of(source: str) -> tuple[int, ...]:
    """What identifies a file's state; empty for anything else."""
    try:
        status = None if is_url(source) else Path(source).stat()
    except ERRORS:
        return ()
    return (status.st_size, status.st_mtime_ns) if status else ()


def opened(source: str, stop: Event) -> Raw:
    """Open *source*, to be read until *stop* is set; raises ERRORS."""
    if source.startswith(REMOTE):
        return _Remote(source)
    return _Local(0 if source == STDIN else _open_file(source), stop)


def blocks(raw: Raw) -> Iterator[bytes | None]:
    """The content of *raw*, unpacked; None while nothing is available yet. Raises ERRORS."""
    while (first := raw.read()) is None:
        yield None
    unpack = next((_PACKED[magic] for magic in _PACKED if first.startswith(magic)), None)
    if unpack is None:
        yield first
        while (block := raw.read()) != b"":
            yield block
        return
    with closing(unpack(io.BufferedReader(_Joined(first, raw), BLOCK))) as unpacked:
        while block := unpacked.read1(BLOCK):  # includes what precedes the damage
            yield block


def _open_file(path: str) -> int:
    """Its handle; at once for a pipe that nobody writes to, too: a plain `open` waits for a writer, deaf to Ctrl-C."""
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    os.set_blocking(handle, True)
    return handle


class _Local:
    """A file, a pipe or a terminal. Polled if it has no data, so that no read blocks for ever."""

    def __init__(self, handle: int, stop: Event) -> None:
        self.position = 0
        self._handle = handle
        self._stop = stop
        if not handle and sys.stdin is None:
            raise OSError(0, "it is closed")

    def read(self) -> bytes | None:
        if not self._has_data():
            return b"" if self._stop.is_set() else None
        block = os.read(self._handle, BLOCK)
        while not self.position and block and any(magic.startswith(block) for magic in _PACKED):
            if not (more := self._more()):
                break
            block += more  # the first bytes show the compression
        self.position += len(block)
        return block

    def _has_data(self) -> bool:
        """Whether a read returns at once, with data or at the end; waits a moment for that."""
        return not self._stop.is_set() and bool(select.select([self._handle], [], [], IDLE_SECONDS)[0])

    def _more(self) -> bytes:
        """The next bytes, however long they take; none at the end."""
        while not self._has_data():
            if self._stop.is_set():
                return b""
        return os.read(self._handle, BLOCK)

    def close(self) -> None:
        if self._handle:
            os.close(self._handle)


class _Remote:
    """An S3 object, with the credentials and endpoint that obstore finds (AWS_ACCESS_KEY_ID ...)."""

    def __init__(self, source: str) -> None:
        from obstore import open_reader  # it takes 4 MB
        from obstore.exceptions import BaseError
        from obstore.store import from_url

        bucket, _, key = source.removeprefix(REMOTE).partition("/")
        self.position = 0
        self._error = BaseError
        try:
            if not bucket or not key:
                raise ValueError("expected s3://bucket/key")
            store = from_url(REMOTE + bucket, retry_config={"max_retries": 4, "retry_timeout": RETRY_TIME})
            self._file = open_reader(store, key, buffer_size=16 * BLOCK)
        except BaseError as error:
            raise OSError(str(error)) from None

    def read(self) -> bytes | None:
        try:
            block = bytes(self._file.read(BLOCK))
        except self._error as error:
            raise OSError(str(error)) from None
        self.position += len(block)
        return block

    def close(self) -> None:
        self._file.close()


class _Joined(io.RawIOBase):
    """A block that was read already, followed by the rest."""

    def __init__(self, first: bytes, raw: Raw) -> None:
        self._left = memoryview(first)
        self._raw = raw

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._left:
            block = self._raw.read()
            if block == b"":
                return 0
            self._left = memoryview(block or b"")
        count = min(len(buffer), len(self._left))
        cast("memoryview", buffer)[:count] = self._left[:count]
        self._left = self._left[count:]
        return count
