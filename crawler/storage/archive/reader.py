"""Reads archived pages back, oldest fetch first, from wherever their files are."""

from __future__ import annotations

import asyncio
import zlib
from collections import defaultdict
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from crawler.storage.archive import records
from crawler.storage.archive.index import Entry, Index, is_place, place
from crawler.storage.archive.records import Page, RecordPlace, WarcRecord
from crawler.storage.archive.store import GoneError, RefusedError, Store

BATCH: Final = 64  # pages read at once

Parts = dict[RecordPlace, bytes | Exception]


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Which pages: of one spider, fetched in [since, until), of one host, at most *limit* (0: all).

    *share* of *shares* selects a part; all pages of one URL are in the same share.
    """

    spider: str
    since: datetime | None = None
    until: datetime | None = None
    host: str = ""
    limit: int = 0
    share: int = 0
    shares: int = 1

    def query(self) -> dict[str, Any]:
        """The query that selects them in the index."""
        span = {name: at for name, at in (("$gte", self.since), ("$lt", self.until)) if at is not None}
        times = {"$or": [{"at": span}, {"seen_at": span}]} if span else {}
        return {"spider": self.spider} | ({"host": self.host} if self.host else {}) | times

    def takes(self, entry: Entry) -> bool:
        """Whether the page belongs to this share."""
        return zlib.crc32(str(entry.get("url")).encode()) % self.shares == self.share


@dataclass(frozen=True, slots=True)
class Stored:
    """An archived page. Its time is when it was last fetched with this content.

    The page is None if its file is gone or the record is unreadable: *reason* says why.
    """

    entry: Entry
    page: Page | None
    reason: str = ""

    def __str__(self) -> str:
        place = f"{self.entry.get('file')}, byte {self.entry.get('offset')}"
        return f"{self.entry.get('url')} ({self.reason or 'the file is gone'}; {place})"


class Reader:
    """Streams pages in batches; holds at most two batches."""

    def __init__(self, index: Index, store: Store) -> None:
        self._index = index
        self._store = store

    async def pages(self, selection: Selection) -> AsyncIterator[Stored]:
        """The selected pages; raises ServiceError and STORE_ERRORS."""
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

    async def last(self, query: Mapping[str, Any]) -> Stored | None:
        """The page fetched last of those that match; None where none does. Raises like `pages`."""
        newest: Entry | None = None
        async for entry in self._index.pages(query):
            newest = entry
        return (await self._read([newest]))[0] if newest is not None else None

    async def _read(self, entries: Sequence[Entry]) -> list[Stored]:
        found = await self._parts({one for entry in entries for one in _places(entry)})
        return await asyncio.to_thread(lambda: [_stored(entry, found) for entry in entries])

    async def _parts(self, wanted: set[RecordPlace]) -> Parts:
        """The records, file by file; those of missing files are left out."""
        by_file: dict[str, list[RecordPlace]] = defaultdict(list)
        for one in sorted(wanted, key=lambda one: (one.file, one.offset)):
            by_file[one.file].append(one)
        found: Parts = {}
        for file, places in by_file.items():
            try:
                parts = await self._store.read(file, [(one.offset, one.length) for one in places])
            except GoneError:
                continue
            except RefusedError as error:
                parts = [error] * len(places)
            found.update(zip(places, parts, strict=True))
        return found


def _places(entry: Entry) -> list[RecordPlace]:
    """The places of its record and of its original; empty if the index does not name them."""
    try:
        found = [place(entry), *([place(entry["original"])] if "original" in entry else [])]
    except (LookupError, TypeError):
        return []
    return found if all(map(is_place, found)) else []


def _stored(entry: Entry, found: Parts) -> Stored:
    if not (places := _places(entry)):
        return Stored(entry, None, "the index names no place")
    own, *originals = places
    if own not in found:
        return Stored(entry, None)
    try:
        return Stored(entry, _page(entry, [_record(found[own]), *(_original(one, found) for one in originals)]))
    except Exception as error:  # noqa: BLE001 - whatever is wrong with a record is said, and the others are read
        return Stored(entry, None, f"{error!s:.200}" or type(error).__name__)


def _record(part: bytes | Exception) -> WarcRecord:
    if isinstance(part, Exception):
        raise part
    return records.decode(part)


def _original(one: RecordPlace, found: Parts) -> WarcRecord:
    """Raises ValueError that names its place: the record of the page itself is not what is damaged."""
    try:
        return _record(found.get(one, GoneError("the file is gone")))
    except Exception as error:
        raise ValueError(f"of its original in {one.file}, byte {one.offset}: {error}") from error


def _page(entry: Entry, found: Sequence[WarcRecord]) -> Page:
    own, body = found[0], found[-1].page.body
    if own.id != entry["_id"]:
        raise ValueError("another record is there")
    if records.digest(body) != own.digest:
        raise ValueError("its body is another")
    at = entry.get("seen_at") or entry["at"]
    if not isinstance(at, datetime):
        raise TypeError(f"the index has {at!r:.80} for its time")
    return replace(own.page, body=body, fetched_at=at)
