"""Reads archived pages back, oldest fetch first, from wherever their files are."""

from __future__ import annotations

import asyncio
import zlib
from collections import defaultdict
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from crawler.storage.archive import records
from crawler.storage.archive.index import Entry, Index, place
from crawler.storage.archive.records import Page, Place
from crawler.storage.archive.store import GoneError, Store

BATCH: Final = 64  # pages read at once


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Which pages: of one spider, fetched in [since, until), of one host, at most *limit* (0: all).

    *share* of *shares* takes a part of them, always the same pages for the same URL.
    """

    spider: str
    since: datetime | None = None
    until: datetime | None = None
    host: str = ""
    limit: int = 0
    share: int = 0
    shares: int = 1

    def query(self) -> dict[str, Any]:
        """What selects them in the index."""
        span = {name: at for name, at in (("$gte", self.since), ("$lt", self.until)) if at is not None}
        times = {"$or": [{"at": span}, {"seen_at": span}]} if span else {}
        return {"spider": self.spider} | ({"host": self.host} if self.host else {}) | times

    def takes(self, entry: Entry) -> bool:
        """Whether the page belongs to this share."""
        return zlib.crc32(entry["url"].encode()) % self.shares == self.share


@dataclass(frozen=True, slots=True)
class Stored:
    """An archived page; None where its file is gone. Its time is when it was last fetched with this content."""

    entry: Entry
    page: Page | None


class Reader:
    """Streams pages in batches; holds two of them at most."""

    def __init__(self, index: Index, store: Store) -> None:
        self._index = index
        self._store = store

    async def pages(self, selection: Selection) -> AsyncIterator[Stored]:
        """The selected pages; raises PyMongo's errors and STORE_ERRORS."""
        batch: list[Entry] = []
        position = 0
        async for entry in self._index.pages(selection.query()):
            position += 1
            if selection.takes(entry):
                batch.append(entry)
            last = position == selection.limit
            if batch and (last or len(batch) == BATCH):
                for stored in await self._read(batch):
                    yield stored
                batch = []
            if last:
                return
        for stored in await self._read(batch):
            yield stored

    async def _read(self, entries: Sequence[Entry]) -> list[Stored]:
        wanted = {place(one) for one in entries} | {place(one["original"]) for one in entries if "original" in one}
        found = await self._bytes(wanted)
        return await asyncio.to_thread(lambda: [_stored(entry, found) for entry in entries])

    async def _bytes(self, wanted: set[Place]) -> dict[Place, bytes]:
        """The records, file by file; those of a file that is gone are left out."""
        by_file: dict[str, list[Place]] = defaultdict(list)
        for one in sorted(wanted, key=lambda one: (one.file, one.offset)):
            by_file[one.file].append(one)
        found: dict[Place, bytes] = {}
        for file, places in by_file.items():
            try:
                parts = await self._store.read(file, [(one.offset, one.length) for one in places])
            except GoneError:
                continue
            found.update(zip(places, parts, strict=True))
        return found


def _stored(entry: Entry, found: dict[Place, bytes]) -> Stored:
    own, original = found.get(place(entry)), entry.get("original")
    body = found.get(place(original)) if original else own
    if own is None or body is None:
        return Stored(entry, None)
    page = replace(records.decode(own).page, fetched_at=entry.get("seen_at") or entry["at"])
    return Stored(entry, replace(page, body=records.decode(body).page.body) if original else page)
