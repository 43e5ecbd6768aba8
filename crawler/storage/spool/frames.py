"""The format of a spool file: a head, then frames, each found and checked independently.

One frame is one append, acknowledged only once it is on disk. So a crash can leave only the last frame unfinished, and
that one was not acknowledged. Any other unreadable frame was intact once, and has been altered since.

    file   = "shoal spool 2\\n" frame*
    frame  = magic, length of the payload, CRC-32 of that length, CRC-32 of length and payload, payload

Files of the previous format ("shoal spool 1\\n": length, CRC-32 of the payload, payload) are read too.
"""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Iterator
from typing import Final, NamedTuple

from crawler.storage.spool.checksums import Checksums

HEAD: Final = b"shoal spool 2\n"
_HEAD_1: Final = b"shoal spool 1\n"
_MAGIC: Final = b"\xffsp\xfe"  # never in UTF-8: no text in an item looks like a frame
_FRAME: Final = struct.Struct(">4sIII")
_LENGTH: Final = struct.Struct(">I")
_FRAME_1: Final = struct.Struct(">II")
# How an entry starts, after the four bytes of its length: data without one of these holds no item.
_ENTRY: Final = re.compile(rb"\x02(?:collection|id)\x00")


class Gap(NamedTuple):
    """Bytes that are not a frame. *torn*: an unfinished last append or foreign data, without an acknowledged item."""

    offset: int
    length: int
    torn: bool


def frame(payload: bytes) -> bytes:
    """*payload* as a frame; at most 4 GiB."""
    length = _LENGTH.pack(len(payload))
    return _FRAME.pack(_MAGIC, len(payload), zlib.crc32(length), zlib.crc32(payload, zlib.crc32(length))) + payload


def read(data: bytes) -> Iterator[bytes | Gap]:
    """The payloads of a whole file in order, and the gaps between and after them."""
    forms = _FirstFrames(data), _Frames(data)  # the head may be damaged too: the format that finds a frame first
    likely, other = forms if data.startswith(_HEAD_1) else forms[::-1]
    form = other if likely.following(0) == len(data) != other.following(0) else likely
    position = len(HEAD) if data.startswith((HEAD, _HEAD_1)) else 0
    if not data:
        yield Gap(0, 0, torn=True)
    while position < len(data):
        if (end := form.end(position)) is not None:
            yield data[position + form.head : end]
        else:
            end = form.following(position)
            torn = end == len(data) and (form.is_torn(position) if position else HEAD.startswith(data))
            yield Gap(position, end - position, torn)
        position = end


class _Frames:
    head: Final = _FRAME.size

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._checksums = Checksums(data)

    def end(self, position: int) -> int | None:
        """Where the intact frame at *position* ends; None if there is none."""
        end = self._claimed(position)
        if end is None or end > len(self._data):
            return None
        _, length, _, checksum = _FRAME.unpack_from(self._data, position)
        seed = zlib.crc32(_LENGTH.pack(length))
        return end if self._checksums.of(position + self.head, end, seed) == checksum else None

    def following(self, position: int) -> int:
        """Where the next intact frame starts after the broken one at *position*; the end of the file if there is none.

        If the broken frame's head is intact it gives its length: nothing within its payload is taken for a frame.
        """
        claimed = self._claimed(position)
        if claimed is not None and (claimed == len(self._data) or self.end(claimed) is not None):
            return claimed
        found = position if claimed is None else position + 1
        while (found := self._data.find(_MAGIC, found)) >= 0:
            if self.end(found) is not None:
                return found
            found += 1
        return len(self._data)

    def is_torn(self, position: int) -> bool:
        claimed = self._claimed(position)
        if claimed is not None:
            return claimed > len(self._data)
        return _ENTRY.search(self._data, position) is None

    def _claimed(self, position: int) -> int | None:
        """Where the frame at *position* ends according to its head; None if the head is damaged."""
        if position + self.head > len(self._data):
            return None
        magic, length, of_length, _ = _FRAME.unpack_from(self._data, position)
        whole = magic == _MAGIC and zlib.crc32(_LENGTH.pack(length)) == of_length
        return position + self.head + length if whole else None


class _FirstFrames:
    head: Final = _FRAME_1.size

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._checksums = Checksums(data)

    def end(self, position: int) -> int | None:
        """As `_Frames.end`; zeros would pass for an empty frame, which nobody writes."""
        if position + self.head > len(self._data):
            return None
        length, checksum = _FRAME_1.unpack_from(self._data, position)
        end = position + self.head + int(length)
        if not length or end > len(self._data):
            return None
        return end if self._checksums.of(position + self.head, end) == checksum else None

    def following(self, position: int) -> int:
        """As `_Frames.following`."""
        before = self.head + _LENGTH.size  # the frame's head, and the length of its first entry
        for entry in _ENTRY.finditer(self._data, position + before):
            if self.end(found := entry.start() - before) is not None:
                return found
        return len(self._data)

    def is_torn(self, position: int) -> bool:
        if position + self.head > len(self._data):
            return True
        length, checksum = _FRAME_1.unpack_from(self._data, position)
        rest = memoryview(self._data)[position + self.head :]
        if length <= len(rest) or zlib.crc32(rest) == checksum:  # the payload is intact: only the length was altered
            return length != len(rest) and _ENTRY.search(self._data, position) is None
        return True
