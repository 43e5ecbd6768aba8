"""What start requests are known by, so that each is taken once per crawl generation, however many workers offer it."""

from __future__ import annotations

import hashlib
from collections import Counter
from typing import Final

COUNTED: Final = 100_000  # start requests that are told apart from their repetitions


class StartDigests:
    """Scrapy's start requests pass no duplicates filter: a spider may ask for one page twice, and a link to it is
    followed. Every worker of a fleet makes them all, so each needs an identity beside that of its page: how many of its
    kind came before.

    Known weakness: of a spider that makes more than COUNTED different ones, later repetitions are taken for the first.
    """

    def __init__(self) -> None:
        self._made: Counter[int] = Counter()

    def of(self, digest: bytes) -> bytes:
        """The digest of the start request whose page has *digest*."""
        number = int.from_bytes(digest[:8], "big")
        if number in self._made or len(self._made) < COUNTED:
            self._made[number] += 1
        return hashlib.sha1(b"start %d " % self._made[number] + digest, usedforsecurity=False).digest()
