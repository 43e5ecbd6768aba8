"""The gzip members of a WARC file, one per record: each is found and checked independently."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import IO, Final, NamedTuple

_MAGIC: Final = b"\x1f\x8b\x08"
_CHUNK: Final = 2**16
_CONTENT_MAX: Final = 2**30  # bytes; damaged data can unpack to any size


class Member(NamedTuple):
    """An intact member."""

    offset: int
    length: int
    content: bytes


class ArchiveDamage(NamedTuple):
    """Bytes outside intact members; at the end of a file, an append that a killed writer left unfinished."""

    offset: int
    length: int


def members(stream: IO[bytes]) -> Iterator[Member | ArchiveDamage]:
    """All members of *stream* in order; holds one in memory.

    Known weakness: if the member of a page is damaged and the page was itself a gzip file, that is taken for a member.
    """
    position = known = 0
    while (start := _next(stream, position)) is not None:
        member = _member(stream, start)
        if member is None:
            position = start + 1
            continue
        if start > known:
            yield ArchiveDamage(known, start - known)
        yield member
        position = known = start + member.length
    if (end := stream.seek(0, 2)) > known:
        yield ArchiveDamage(known, end - known)


def _next(stream: IO[bytes], position: int) -> int | None:
    """Where the next member may begin, at *position* or later."""
    stream.seek(position)
    window = b""
    while chunk := stream.read(_CHUNK):
        window += chunk
        if (found := window.find(_MAGIC)) >= 0:
            return position + found
        kept = window[1 - len(_MAGIC) :]
        position += len(window) - len(kept)
        window = kept
    return None


def _member(stream: IO[bytes], start: int) -> Member | None:
    stream.seek(start)
    unpacking = zlib.decompressobj(wbits=31)
    content = bytearray()
    length = 0
    try:
        while not unpacking.eof:
            if not (chunk := stream.read(_CHUNK)):
                return None
            content += unpacking.decompress(chunk, _CONTENT_MAX)
            length += len(chunk)
            if len(content) >= _CONTENT_MAX:
                return None
    except zlib.error:
        return None
    return Member(start, length - len(unpacking.unused_data), bytes(content))
