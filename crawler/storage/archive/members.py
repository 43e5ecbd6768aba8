"""The gzip members of a WARC file, one per record: each is found and checked without its neighbours."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import IO, Final, NamedTuple

_MAGIC: Final = b"\x1f\x8b\x08"
_CHUNK: Final = 2**16
_CONTENT_MAX: Final = 2**30  # bytes; broken bits can stand for any number of them


class Member(NamedTuple):
    """An intact member."""

    offset: int
    length: int
    content: bytes


class ArchiveDamage(NamedTuple):
    """Bytes that belong to no intact member; at the end of a file, what a killed writer left unfinished."""

    offset: int
    length: int


def members(stream: IO[bytes]) -> Iterator[Member | ArchiveDamage]:
    """All of *stream* in its order; holds one member in memory.

    Known weakness: a gzip file that a page was, packed as it is, is taken for a member where the page's own is broken.
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
    """Where the next member may begin, at *position* or behind it."""
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
