"""CRC-32 of any part of a file, at a cost that hardly depends on how long the part is.

A damaged file may hold thousands of heads that look right, each of which claims all that follows. To read that for each
of them took a minute for 16 MB; but the checksum of a part follows from those of the two beginnings of the file that
end where the part ends and starts, as CRC is linear over GF(2).
"""

from __future__ import annotations

import zlib
from typing import Final

STEP: Final = 4_096  # bytes between beginnings whose checksum is kept; shorter parts are read
_POLYNOMIAL: Final = 0xEDB88320  # CRC-32's, its bits reversed, as everywhere here: the highest bit is x^0
_ONE: Final = 1 << 31


def _product(one: int, other: int) -> int:
    """Of two polynomials, modulo CRC-32's."""
    result = 0
    while one:
        if one & _ONE:
            result ^= other
        one = one << 1 & 0xFFFFFFFF
        other = other >> 1 ^ (_POLYNOMIAL if other & 1 else 0)
    return result


def _squares() -> list[int]:
    """x^8, x^16, x^32, ...: a factor for each bit of a length in bytes."""
    found = [_ONE >> 8]
    while len(found) < 64:
        found.append(_product(found[-1], found[-1]))
    return found


_BYTES: Final = _squares()


def shifted(checksum: int, length: int) -> int:
    """What *checksum* adds to that of a text with *length* more bytes."""
    for bit, factor in enumerate(_BYTES[: length.bit_length()]):
        if length >> bit & 1:
            checksum = _product(factor, checksum)
    return checksum


class Checksums:
    """Of the parts of *data*."""

    def __init__(self, data: bytes) -> None:
        self._data = memoryview(data)
        self._beginnings = [0]  # their checksums, STEP bytes apart

    def of(self, start: int, end: int, seed: int = 0) -> int:
        """As `zlib.crc32(data[start:end], seed)`."""
        if end - start <= STEP:
            return zlib.crc32(self._data[start:end], seed)
        return self._until(end) ^ shifted(self._until(start) ^ seed, end - start)

    def _until(self, end: int) -> int:
        while len(self._beginnings) <= end // STEP:
            at = (len(self._beginnings) - 1) * STEP
            self._beginnings.append(zlib.crc32(self._data[at : at + STEP], self._beginnings[-1]))
        at = end // STEP * STEP
        return zlib.crc32(self._data[at:end], self._beginnings[end // STEP])
