"""The format of a spool file: a head, then frames of length, checksum and payload.

One frame is one append, and an append is confirmed only when it is on the disk. So whatever a crash leaves unfinished
is the last frame, and nobody was told that it is safe.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final

HEAD: Final = b"shoal spool 1\n"
_LENGTH_AND_CHECKSUM: Final = struct.Struct(">II")


class BrokenFileError(Exception):
    """The file holds no whole frame from *offset* on.

    *torn*: only its last append is unfinished, which nobody relies on; otherwise the disk has altered what was safe.
    """

    def __init__(self, path: Path, offset: int, *, torn: bool) -> None:
        what = "an unfinished append" if torn else "damaged data"
        super().__init__(f"{path}: {what} from byte {offset} on")
        self.torn = torn


def frame(payload: bytes) -> bytes:
    """*payload* as it is appended."""
    return _LENGTH_AND_CHECKSUM.pack(len(payload), zlib.crc32(payload)) + payload


def read(path: Path) -> Iterator[bytes]:
    """The payloads of a file; raises BrokenFileError after the last whole one where more follows."""
    size = path.stat().st_size
    with path.open("rb") as file:
        head = file.read(len(HEAD))
        if head != HEAD:
            raise BrokenFileError(path, 0, torn=HEAD.startswith(head))
        while (offset := file.tell()) < size:
            payload = _next(file)
            if payload is None:
                raise BrokenFileError(path, offset, torn=_is_last(file, offset, size))
            yield payload


def _next(file: BinaryIO) -> bytes | None:
    head = file.read(_LENGTH_AND_CHECKSUM.size)
    if len(head) < _LENGTH_AND_CHECKSUM.size:
        return None
    length, checksum = _LENGTH_AND_CHECKSUM.unpack(head)
    payload = file.read(length)
    return payload if len(payload) == length and zlib.crc32(payload) == checksum else None


def _is_last(file: BinaryIO, offset: int, size: int) -> bool:
    """Whether the frame at *offset* is the last: a crash may leave its length right and its bytes not."""
    file.seek(offset)
    head = file.read(_LENGTH_AND_CHECKSUM.size)
    if len(head) < _LENGTH_AND_CHECKSUM.size:
        return True
    length: int = _LENGTH_AND_CHECKSUM.unpack(head)[0]
    return length == 0 or offset + len(head) + length >= size
