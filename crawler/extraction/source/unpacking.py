"""Bytes out of gzip, deflate, Zstandard and Brotli, in pieces and within limits, whatever is in it.

gzip and Zstandard join packed parts (members, frames) as they are, and each may be empty. So parts are counted, too,
and as what follows a part is copied at its end, they are read in small pieces.
"""

from __future__ import annotations

import re
import sys
import zlib
from collections.abc import Iterator
from gzip import BadGzipFile
from io import BytesIO
from typing import TYPE_CHECKING, Final

import brotli

if TYPE_CHECKING or sys.version_info < (3, 14):
    from backports import zstd
else:
    from compression import zstd

PIECE: Final = 16_384  # bytes
CHUNK: Final = 65_536  # bytes that come out at a time
MOST_PARTS: Final = 2_000  # of one body; BGZF, which has most, makes one of each 64 KB
LAYERS: Final = 2  # a file that is packed, and packed again on its way
_MAGIC: Final = b"\x1f\x8b"
_GZIP: Final = 31  # zlib's window bits for it
_RAW: Final = -15  # without header and checksum
_DEFLATE: Final = 8
_HAS_CHECKSUM, _HAS_EXTRA, _HAS_NAME, _HAS_COMMENT = 2, 4, 8, 16
_CHECKSUMS: Final = 8  # bytes after a gzip member
_FLUSHED: Final = b"\0\0\xff\xff"  # of a server that ends a stream without saying so, behind all of its page
_PADDING: Final = re.compile(rb"\0*")
_ZSTD: Final[dict[int, int]] = {zstd.DecompressionParameter.window_log_max: 23}  # 8 MB, the most for HTTP: RFC 9659


class TooLongError(Exception):
    """There is more than the limit: *length* bytes so far."""

    def __init__(self, limit: int, length: int) -> None:
        super().__init__(f"more than {limit:,} bytes")
        self.length = length


class ManyPartsError(Exception):
    """There are more than MOST_PARTS members or frames."""

    def __init__(self) -> None:
        super().__init__(f"more than {MOST_PARTS:,} packed parts")


class CutError(Exception):
    """The body ends in the middle; *output*: what came before."""

    def __init__(self, output: bytes) -> None:
        super().__init__("it ends in the middle")
        self.output = output


class DamagedError(Exception):
    """What follows cannot be unpacked, or is missing."""


class _Output:
    """What came out so far."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._bytes = BytesIO()
        self._parts = 0

    def add(self, chunk: bytes) -> None:
        """Raises TooLongError; a limit of 0 is none."""
        self._bytes.write(chunk)
        if 0 < self._limit < len(self):
            raise TooLongError(self._limit, len(self))

    def count(self) -> None:
        """Begin another part; raises ManyPartsError."""
        self._parts += 1
        if self._parts > MOST_PARTS:
            raise ManyPartsError

    def __len__(self) -> int:
        return self._bytes.tell()

    def all(self) -> bytes:
        return self._bytes.getvalue()


def gunzip(body: bytes, limit: int) -> bytes:
    """As much of *body* as can be read, as by Scrapy's `gunzip`: checksums are not compared.

    Raises CutError, TooLongError, ManyPartsError, zlib.error, and if nothing can be read BadGzipFile or EOFError.
    """
    output, at = _Output(limit), 0
    while at < len(body):
        output.count()
        try:
            at = _member(body, _member_begins(body, at), output)
        except (BadGzipFile, EOFError):
            if not output:
                raise
            break
    return output.all()


def _member_begins(body: bytes, at: int) -> int:
    """Where the packed bytes of the member at *at* begin."""
    if not body.startswith(_MAGIC, at):
        raise BadGzipFile(f"Not a gzipped file ({body[at : at + 2]!r})")
    if len(body) < at + 10:
        raise EOFError("it ends in a header")
    if body[at + 2] != _DEFLATE:
        raise BadGzipFile("Unknown compression method")
    flags = body[at + 3]
    at += 10
    if flags & _HAS_EXTRA:
        at += 2 + int.from_bytes(body[at : at + 2], "little")
    for flag in (_HAS_NAME, _HAS_COMMENT):
        if flags & flag:
            at = body.find(b"\0", at) + 1 or len(body)
    return at + (2 if flags & _HAS_CHECKSUM else 0)


def _member(body: bytes, at: int, output: _Output) -> int:
    """Unpack the member whose packed bytes begin at *at*; returns where the next one begins."""
    at = _stream(body, at, _RAW, output) + _CHECKSUMS
    if at > len(body):
        raise EOFError("it ends before its checksums")
    end = _PADDING.match(body, at)
    return end.end() if end else len(body)


def _stream(body: bytes, at: int, window: int, output: _Output) -> int:
    """Unpack what begins at *at*; returns where it ends. Raises EOFError if it has no end, but may be all the same."""
    unpack = zlib.decompressobj(window)
    while not unpack.eof:
        piece = unpack.unconsumed_tail
        if not piece:
            piece = body[at : at + PIECE]
            at += len(piece)
        chunk = unpack.decompress(piece, CHUNK)
        if not (piece or chunk or unpack.eof):
            if output and not body.endswith(_FLUSHED):
                raise CutError(output.all())
            raise EOFError("it ends in the middle")
        output.add(chunk)
    return at - len(unpack.unused_data)


def inflate(body: bytes, limit: int) -> bytes:
    """Of zlib's format, or the bare one that some servers mean by the name; what follows is ignored, as by Scrapy.

    Raises CutError, TooLongError, zlib.error, and EOFError if nothing can be read.
    """
    try:
        return _inflated(body, limit, zlib.MAX_WBITS)
    except zlib.error:
        return _inflated(body, limit, _RAW)


def _inflated(body: bytes, limit: int, window: int) -> bytes:
    output = _Output(limit)
    try:
        _stream(body, 0, window, output)
    except EOFError:
        if body and not output:
            raise
    return output.all()


def unzstd(body: bytes, limit: int) -> bytes:
    """Raises CutError, TooLongError, ManyPartsError, ZstdError."""
    output, at = _Output(limit), 0
    unpack = zstd.ZstdDecompressor(options=_ZSTD)
    output.count()
    while at < len(body) or not unpack.needs_input:
        piece = body[at : at + PIECE] if unpack.needs_input else b""
        at += len(piece)
        output.add(unpack.decompress(piece, CHUNK))
        if unpack.eof:
            at -= len(unpack.unused_data)
            if at == len(body):
                break
            output.count()
            unpack = zstd.ZstdDecompressor(options=_ZSTD)
    if body and not unpack.eof:
        raise CutError(output.all())
    return output.all()


def unbrotli(body: bytes, limit: int) -> bytes:
    """Raises CutError, TooLongError, brotli.error."""
    unpack, output = brotli.Decompressor(), _Output(limit)
    output.add(unpack.process(body, output_buffer_limit=CHUNK))
    while body and not unpack.is_finished():
        if not (chunk := unpack.process(b"", output_buffer_limit=CHUNK)):
            raise CutError(output.all())
        output.add(chunk)
    return output.all()


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
            raise TooLongError(limit, length)
        yield piece


def _layer(pieces: Iterator[bytes]) -> Iterator[bytes]:
    first = next(pieces, b"")
    if not first.startswith(_MAGIC):
        yield first
        yield from pieces
        return
    unpack, parts = zlib.decompressobj(_GZIP), 1
    for piece in (one for ones in ((first,), pieces) for one in ones):
        left = piece
        while left:
            try:
                yield unpack.decompress(left, CHUNK)
            except zlib.error as error:
                raise DamagedError(str(error)) from None
            left = unpack.unconsumed_tail
            if unpack.eof:
                left = unpack.unused_data
                if not left.startswith(_MAGIC):  # nothing, or what does not belong to it
                    return
                unpack, parts = zlib.decompressobj(_GZIP), parts + 1
                if parts > MOST_PARTS:
                    raise DamagedError(str(ManyPartsError()))
    if not unpack.eof:
        raise DamagedError("it ends in the middle")
