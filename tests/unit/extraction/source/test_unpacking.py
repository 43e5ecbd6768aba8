"""gzip and Zstandard as Scrapy reads them, whatever is in them, with as many parts as honest servers send."""

from __future__ import annotations

import gzip
import random
import struct
import zlib
from collections.abc import Callable
from typing import Any

import pytest
from backports import zstd
from hypothesis import given
from hypothesis import strategies as st
from scrapy.utils._compression import _DecompressionMaxSizeExceeded, _unzstd
from scrapy.utils.gz import gunzip as scrapys_gunzip

from crawler.extraction.source.unpacking import (
    MOST_PARTS,
    CutError,
    DamagedError,
    ManyPartsError,
    TooLongError,
    gunzip,
    unpacked,
    unzstd,
)

EMPTY = gzip.compress(b"", mtime=0)
NOISE = random.Random(1).randbytes(20_000)
Unpack = Callable[..., bytes]


def member(content: bytes, flags: int = 0, level: int = 9) -> bytes:
    """A gzip member, with as many optional fields as *flags* name."""
    packed = zlib.compressobj(level, wbits=-15)
    fields = (4, struct.pack("<H", 5) + b"e\0tra"), (8, b"name\0"), (16, b"comment\0"), (2, b"\0\0")
    said = b"".join(field for flag, field in fields if flags & flag)
    head = b"\x1f\x8b\x08" + bytes([flags]) + b"\0" * 5 + b"\xff"
    trailer = struct.pack("<II", zlib.crc32(content), len(content) & 0xFFFFFFFF)
    return head + said + packed.compress(content) + packed.flush() + trailer


def outcome(unpack: Unpack, body: bytes, *arguments: int, **named: int) -> Any:
    """What comes out, or the kind of the error."""
    try:
        return unpack(body, *arguments, **named)
    except CutError as cut:
        return cut.output
    except (EOFError, struct.error):
        return EOFError
    except (TooLongError, _DecompressionMaxSizeExceeded):
        return TooLongError
    except Exception as error:  # noqa: BLE001 - it is compared
        return type(error)


contents = st.sampled_from([b"", b"a", b"Lamp " * 500, NOISE, b"\0" * 150_000])
gzips = st.lists(
    st.one_of(
        st.builds(member, contents, st.integers(0, 31), st.sampled_from([0, 1, 9])),
        st.sampled_from([b"\0" * 9, b"\0", b"garbage", b"\x1f\x8b", b"\x1f\x8b\x07" + b"x" * 20, b"\x1f\x8b\x08\x0c"]),
    ),
    max_size=4,
)


@given(gzips, st.integers(0, 40), st.sampled_from([0, 100_000]))
def test_gzip_is_read_as_by_scrapy(parts: list[bytes], cut: int, limit: int) -> None:
    body = b"".join(parts)
    body = body[: len(body) - cut] if cut < len(body) else body
    assert outcome(gunzip, body, limit) == outcome(scrapys_gunzip, body, max_size=limit)


@given(st.lists(st.one_of(st.builds(zstd.compress, contents), st.just(b"garbage")), max_size=4), st.integers(0, 40))
def test_zstandard_is_read_as_by_scrapy(parts: list[bytes], cut: int) -> None:
    body = b"".join(parts)
    body = body[: len(body) - cut] if cut < len(body) else body
    theirs, ours = outcome(_unzstd, body), outcome(unzstd, body, 0)
    if isinstance(theirs, bytes):
        assert ours == theirs or (cut and ours.startswith(theirs))  # they lose what comes before the cut
    else:
        assert ours == theirs


def test_wrong_checksums_do_not_matter() -> None:
    assert gunzip(member(b"one")[:-8] + b"x" * 8 + member(b"two"), 0) == b"onetwo"


@pytest.mark.parametrize(
    ("unpack", "part"),
    [
        (gunzip, EMPTY),
        (gunzip, member(b"a")),
        (unzstd, zstd.compress(b"")),
        (unzstd, zstd.compress(b"a")),
        (unzstd, b"\x50\x2a\x4d\x18\0\0\0\0"),  # a frame to be skipped
    ],
)
def test_parts_are_counted(unpack: Unpack, part: bytes) -> None:
    unpack(part * MOST_PARTS, 0)
    with pytest.raises(ManyPartsError, match=f"{MOST_PARTS:,}"):
        unpack(part * (MOST_PARTS + 1), 0)


def test_what_is_long_without_content_is_passed_over_at_once() -> None:
    named = b"\x1f\x8b\x08\x08" + b"\0" * 6 + b"n" * 1_000_000 + b"\0" + member(b"hi")[10:]
    assert gunzip(named, 0) == b"hi"
    assert gunzip(member(b"hi") + b"\0" * 1_000_000 + member(b"ho"), 0) == b"hiho"


def test_a_large_window_is_refused() -> None:
    packed = zstd.ZstdCompressor(options={zstd.CompressionParameter.window_log: 27})
    with pytest.raises(zstd.ZstdError):
        unzstd(packed.compress(b"a" * 100) + packed.flush(), 0)


def test_of_a_file_too_parts_are_counted() -> None:
    assert b"".join(unpacked(member(b"a") * MOST_PARTS, 10_000)) == b"a" * MOST_PARTS
    with pytest.raises(DamagedError, match="packed parts"):
        b"".join(unpacked(EMPTY * (MOST_PARTS + 1), 10_000))
