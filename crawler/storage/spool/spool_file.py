"""Reads a spool file back: every readable entry, and a list of what is unreadable."""

from __future__ import annotations

import logging
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from crawler.policy.endings.shortages import shortage
from crawler.storage.spool import entries, frames
from crawler.storage.spool.entries import Entry, UnreadableError

NAMED: Final = 5  # damages of one file named in the log

logger = logging.getLogger(__name__)


class SpoolFile:
    """The entries of a file; `damage` lists what could not be read or stored; a damaged file is kept."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.damage: list[str] = []

    def batches(self, size: int) -> Iterator[list[Entry]]:
        """The entries in order, at most *size* at a time, no key twice in one batch.

        Blocks, so not for the event loop; holds the file (some 16 MB) in memory. Raises OSError where descriptors or
        memory are wanting.
        """
        batch: dict[tuple[str, str], Entry] = {}
        for entry in self._entries():
            key = (getattr(entry, "collection", ""), entry.id)
            if key in batch or len(batch) == size:
                yield list(batch.values())
                batch = {}
            batch[key] = entry
        if batch:
            yield list(batch.values())

    def describe(self) -> str:
        """The damage as text."""
        more = f" and {len(self.damage) - NAMED} more" if len(self.damage) > NAMED else ""
        return "; ".join(self.damage[:NAMED]) + more

    def _entries(self) -> Iterator[Entry]:
        for number, part in enumerate(frames.read(self._bytes()), 1):
            if not isinstance(part, frames.Gap):
                yield from self._unpacked(number, part)
            elif not part.torn:
                self.damage.append(f"damaged data from byte {part.offset} on, {part.length} bytes")
            else:
                text = "%s: dropped an unfinished append from byte %d on; its page was never acknowledged"
                logger.warning(text, self.path, part.offset)

    def _unpacked(self, number: int, payload: bytes) -> Iterator[Entry]:
        for entry in entries.unpack(payload):
            if isinstance(entry, UnreadableError):
                self.damage.append(f"an entry of part {number} cannot be decoded: {entry}")
            else:
                yield entry

    def _bytes(self) -> bytes:
        try:
            if stat.S_ISREG(self.path.stat().st_mode):
                return self.path.read_bytes()
            self.damage.append("it is not a file")  # a pipe would never end
        except FileNotFoundError:  # somebody has removed it
            return frames.HEAD
        except OSError as error:
            if shortage(error):  # of this machine, and only now
                raise
            self.damage.append(f"cannot be read: {error.strerror}")
        return frames.HEAD
