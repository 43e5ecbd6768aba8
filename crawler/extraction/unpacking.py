"""Bytes out of gzip, in pieces and within a limit, whatever is in it."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Final

PIECE: Final = 65_536  # bytes
LAYERS: Final = 2  # a file that is packed, and packed again on its way
_MAGIC: Final = b"\x1f\x8b"
_GZIP: Final = 31  # zlib's window bits for it


class TooLongError(Exception):
    """There is more than the limit."""


class DamagedError(Exception):
    """What follows cannot be unpacked, or is missing."""


def unpacked(body: bytes, limit: int, layers: int = LAYERS) -> Iterator[bytes]:
    """*body* in pieces: as it is, or what was packed. Raises TooLongError behind *limit* bytes, or DamagedError; what
    comes before is good."""
    pieces: Iterator[bytes] = (body[at : at + PIECE] for at in range(0, len(body), PIECE))
    for _ in range(layers):
        pieces = _layer(pieces)
    length = 0
    for piece in pieces:
        length += len(piece)
        if length > limit:
            yield piece[: limit - length]
            raise TooLongError(f"more than {limit:,} bytes")
        yield piece


def _layer(pieces: Iterator[bytes]) -> Iterator[bytes]:
    first = next(pieces, b"")
    if not first.startswith(_MAGIC):
        yield first
        yield from pieces
        return
    unpack = zlib.decompressobj(_GZIP)
    for piece in (one for ones in ((first,), pieces) for one in ones):
        left = piece
        while left:
            try:
                yield unpack.decompress(left, PIECE)
            except zlib.error as error:
                raise DamagedError(str(error)) from None
            left = unpack.unconsumed_tail
            if unpack.eof:
                left = unpack.unused_data
                if not left.startswith(_MAGIC):  # nothing, or what does not belong to it
                    return
                unpack = zlib.decompressobj(_GZIP)
    if not unpack.eof:
        raise DamagedError("it ends in the middle")
