"""Versions of pages (ETag, Last-Modified) for the conditional request of the next crawl.

A page whose record is lost or could not be written is fetched in full: nothing here delays a page or is retried.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, TypeGuard

from pymongo import ReplaceOne, UpdateOne

from crawler.storage import indexes
from crawler.storage.batcher import Batcher, Flush, R, T
from crawler.storage.connection import Database, served
from crawler.storage.run_items import RunItems, version

COLLECTION: Final = "validators"
BATCH: Final = 500
FIND_SECONDS: Final = 0.005  # to collect a batch, while pages wait
WRITE_SECONDS: Final = 0.05
_COLLECTION: Final = re.compile(r"(?!system\.)[^.$\0][^$\0]*")
_HEADER: Final = re.compile(r"[\t -~\x80-\xff]*")


@dataclass(frozen=True, slots=True)
class StoredVersion:
    """A page as last fetched: its version, stored items and links."""

    id: str  # spider and canonical URL
    etag: str
    modified: str
    items: tuple[tuple[str, str], ...]  # collection and `_id` of each
    links: bytes  # packed by the caller, to follow them again


class Validators:
    """Reads and writes in batches. Every method raises ServiceError when MongoDB is away."""

    def __init__(self, database: Database, days: int, runs_kept: int = 0) -> None:
        self._database = database
        self._run_items = RunItems(database, runs_kept)
        self._days = days
        self._indexed = False
        self._found = _batcher(self._find, FIND_SECONDS)
        self._seen = _batcher(self._see, FIND_SECONDS)
        self._kept = _batcher(self._keep, WRITE_SECONDS)

    async def find(self, page: str) -> StoredVersion | None:
        """The stored version of *page*, if any."""
        return await self._found.submit(page, page)

    async def seen(self, page: StoredVersion, at: datetime, run: str = "") -> bool:
        """Note that *page* and its items were unchanged at that time, and so part of *run*; False if one of the items
        is no longer stored."""
        return await self._seen.submit(page.id, (page, at, run))

    async def store(self, page: StoredVersion) -> bool:
        """Remember *page*, which expires if it is not seen again; True."""
        return await self._kept.submit(page.id, page)

    async def close(self) -> None:
        """Write what is pending."""
        for batcher in (self._found, self._seen, self._kept):
            await batcher.close()

    async def _find(self, pages: Sequence[str]) -> Sequence[StoredVersion | None]:
        with served(COLLECTION):
            cursor = self._database[COLLECTION].find({"_id": {"$in": list(pages)}}, batch_size=len(pages))
            found = {row["_id"]: _read(row) async for row in cursor}
        return [found.get(page) for page in pages]

    async def _see(self, entries: Sequence[tuple[StoredVersion, datetime, str]]) -> Sequence[bool]:
        ids: dict[str, dict[str, datetime]] = defaultdict(dict)
        for page, at, _ in entries:
            for collection, item in page.items:
                ids[collection][item] = max(at, ids[collection].get(item, at))
        with served(COLLECTION):
            stored = {name: await self._stored(name, list(wanted)) for name, wanted in ids.items()}
            for name, wanted in ids.items():
                moves = [UpdateOne({"_id": item}, {"$max": {"last_seen_at": at}}) for item, at in wanted.items()]
                await self._database[name].bulk_write(moves, ordered=False)
                await self._run_items.add(name, _by_run(name, entries, stored[name]))
            ours = [UpdateOne({"_id": page.id}, {"$set": {"at": datetime.now(UTC)}}) for page, *_ in entries]
            await self._database[COLLECTION].bulk_write(ours, ordered=False)
        return [all(item in stored[name] for name, item in page.items) for page, *_ in entries]

    async def _stored(self, collection: str, ids: list[str]) -> dict[str, int]:
        """Their versions."""
        cursor = self._database[collection].find({"_id": {"$in": ids}}, {"version": 1}, batch_size=len(ids))
        return {row["_id"]: version(row) async for row in cursor}

    async def _keep(self, pages: Sequence[StoredVersion]) -> Sequence[bool]:
        with served(COLLECTION):
            if not self._indexed:
                await indexes.ensure_expiry(self._database, COLLECTION, self._days)
                self._indexed = True
            now = datetime.now(UTC)
            rows = [ReplaceOne({"_id": page.id}, _row(page, now), upsert=True) for page in pages]
            await self._database[COLLECTION].bulk_write(rows, ordered=False)
        return [True] * len(pages)


def _batcher(flush: Flush[T, R], seconds: float) -> Batcher[T, R]:
    return Batcher(flush, BATCH, seconds)


def _by_run(
    collection: str, entries: Sequence[tuple[StoredVersion, datetime, str]], versions: Mapping[str, int]
) -> dict[str, list[tuple[str, int]]]:
    found: dict[str, list[tuple[str, int]]] = defaultdict(list)
    for page, _, run in entries:
        found[run] += [(item, versions[item]) for name, item in page.items if name == collection and item in versions]
    return found


def _row(page: StoredVersion, now: datetime) -> dict[str, Any]:
    items = [list(item) for item in page.items]
    return {"etag": page.etag, "modified": page.modified, "items": items, "links": page.links, "at": now}


def _read(row: Mapping[str, Any]) -> StoredVersion | None:
    """The version in *row*; None if it is not of the form of `_row`: then the page is fetched whole, and its record is
    written anew."""
    etag, modified, items, links = (row.get(name) for name in ("etag", "modified", "items", "links"))
    if not (_is_header(etag) and _is_header(modified) and (etag or modified) and isinstance(links, bytes)):
        return None
    if not (isinstance(items, list) and items and all(map(_is_pair, items))):
        return None
    return StoredVersion(row["_id"], etag, modified, tuple((collection, item) for collection, item in items), links)


def _is_pair(item: object) -> bool:
    """Whether it is a collection and an `_id`."""
    if not (isinstance(item, list) and [type(one) for one in item] == [str, str]):
        return False
    return _COLLECTION.fullmatch(item[0]) is not None


def _is_header(value: object) -> TypeGuard[str]:
    """Whether it can be sent, or is empty."""
    return isinstance(value, str) and _HEADER.fullmatch(value) is not None
