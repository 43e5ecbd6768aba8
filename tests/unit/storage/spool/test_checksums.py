"""Checksums of parts of a file are zlib's, and cost little."""

from __future__ import annotations

import struct
import zlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.storage.spool.checksums import STEP, Checksums
from crawler.storage.spool.frames import HEAD, Gap, read

DATA = bytes(value * value % 251 for value in range(5 * STEP + 77))


@given(places=st.tuples(*[st.integers(0, len(DATA))] * 2), seed=st.integers(0, 2**32 - 1))
def test_a_part_has_the_checksum_that_zlib_computes(places: tuple[int, int], seed: int) -> None:
    start, end = sorted(places)
    assert Checksums(DATA).of(start, end, seed) == zlib.crc32(DATA[start:end], seed)


def test_heads_that_claim_all_that_follows_do_not_cost_all_that_follows_each(monkeypatch: pytest.MonkeyPatch) -> None:
    read_bytes, crc32 = 0, zlib.crc32

    def counted(data: Any, seed: int = 0) -> int:
        nonlocal read_bytes
        read_bytes += len(data)
        return crc32(data, seed)

    monkeypatch.setattr(zlib, "crc32", counted)
    heads, each = 500, 1_000
    size = heads * each
    data = HEAD
    for number in range(heads):
        length = struct.pack(">I", size - number * each - 17)  # a byte less than there is
        data += struct.pack(">4s4sII", b"\xffsp\xfe", length, zlib.crc32(length), 1) + bytes(each - 16)
    assert list(read(data)) == [Gap(len(HEAD), size, torn=False)]
    assert read_bytes < heads * 2 * STEP + 2 * size
