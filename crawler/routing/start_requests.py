"""The identity of start requests, so that each is accepted once per crawl generation, however many workers offer it."""

from __future__ import annotations

import hashlib
from collections import Counter
from typing import Final

COUNTED: Final = 100_000  # start requests whose repetitions are counted


class StartDigests:
    """Scrapy's start requests skip the duplicates filter: a spider may ask for one page twice, and a link to it is
    still followed. Every worker of a fleet makes them all, so besides its page each is identified by how many equal
    ones came before.

    Known weakness: if a spider makes more than COUNTED different ones, later repetitions are taken for the first.
    """

    def __init__(self) -> None:
        self._made: Counter[int] = Counter()

    def of(self, digest: bytes) -> bytes:
        """The digest of the next start request for the page with *digest*."""
        number = int.from_bytes(digest[:8], "big")
        if number in self._made or len(self._made) < COUNTED:
            self._made[number] += 1
        return hashlib.sha1(b"start %d " % self._made[number] + digest, usedforsecurity=False).digest()
