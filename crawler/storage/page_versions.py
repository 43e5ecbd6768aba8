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
from crawler.storage.collection_names import PAGE_VERSIONS, is_collection
from crawler.storage.connection import Database, served
from crawler.storage.foreign_collections import Watch
from crawler.storage.items.batcher import Batcher, Flush, R, T
from crawler.storage.items.run_items import RunItems, version

BATCH: Final = 500
FIND_SECONDS: Final = 0.005  # to collect a batch, while pages wait
WRITE_SECONDS: Final = 0.05
_HEADER: Final = re.compile(r"[\t -~\x80-\xff]*")


@dataclass(frozen=True, slots=True)
class StoredVersion:
    """A page as last fetched: its version, stored items and links."""

    id: str  # spider and canonical URL
    etag: str
    modified: str
    items: tuple[tuple[str, str], ...]  # collection and `_id` of each
    links: bytes  # packed by the caller, to follow them again
    fetched_at: datetime  # aware


class PageVersions:
    """Reads and writes in batches. Every method raises ServiceError when MongoDB is away."""

    def __init__(self, database: Database, days: int, runs_kept: int = 0) -> None:
        self._database = database
        self._run_items = RunItems(database, runs_kept)
        self._days = days
        self._watch = Watch(database, self._index)
        self._indexed = False
        self._found = _batcher(self._find, FIND_SECONDS)
        self._seen = _batcher(self._see, FIND_SECONDS)
        self._kept = _batcher(self._keep, WRITE_SECONDS)

    async def find(self, page: str) -> StoredVersion | None:
        """The stored version of *page*, if any."""
        return await self._found.submit(page, page)

    async def seen(self, page: StoredVersion, at: datetime, run: str = "") -> bool:
        """Note that *page* and its items were unchanged at that time, and so part of *run*; False if one of the items
        is no longer stored as the page had it: then the page has to be fetched."""
        return await self._seen.submit(page.id, (page, at, run))

    async def store(self, page: StoredVersion) -> bool:
        """Remember *page*, for some days: no server's word that it is unchanged is taken for longer; True."""
        return await self._kept.submit(page.id, page)

    async def close(self) -> None:
        """Write what is pending."""
        for batcher in (self._found, self._seen, self._kept):
            await batcher.close()

    async def _find(self, pages: Sequence[str]) -> Sequence[StoredVersion | None]:
        with served(PAGE_VERSIONS):
            cursor = self._database[PAGE_VERSIONS].find({"_id": {"$in": list(pages)}}, batch_size=len(pages))
            found = {row["_id"]: _read(row) async for row in cursor}
        return [found.get(page) for page in pages]

    async def _see(self, entries: Sequence[tuple[StoredVersion, datetime, str]]) -> Sequence[bool]:
        wanted: dict[str, set[str]] = defaultdict(set)
        for page, *_ in entries:
            for collection, item in page.items:
                wanted[collection].add(item)
        with served(PAGE_VERSIONS):
            stored = {name: await self._stored(name, list(ids)) for name, ids in wanted.items()}
            valid = [all(_as_then(stored[name].get(item), page) for name, item in page.items) for page, *_ in entries]
            await self._move([entry for entry, is_valid in zip(entries, valid, strict=True) if is_valid], stored)
        return valid

    async def _move(
        self, entries: Sequence[tuple[StoredVersion, datetime, str]], stored: Mapping[str, Mapping[str, Any]]
    ) -> None:
        """Items of *entries* were seen, and belong to the run. Not those of a page that is fetched whole now: what it
        says would come too late, at the same time."""
        ids: dict[str, dict[str, datetime]] = defaultdict(dict)
        for page, at, _ in entries:
            for collection, item in page.items:
                ids[collection][item] = max(at, ids[collection].get(item, at))
        for name, seen in ids.items():
            moves = [UpdateOne({"_id": item}, {"$max": {"last_seen_at": at}}) for item, at in seen.items()]
            await self._database[name].bulk_write(moves, ordered=False)
            await self._run_items.add(name, _by_run(name, entries, stored[name]))

    async def _stored(self, collection: str, ids: list[str]) -> dict[str, Mapping[str, Any]]:
        """Version and last change of each."""
        fields = {"version": 1, "last_changed_at": 1}
        cursor = self._database[collection].find({"_id": {"$in": ids}}, fields, batch_size=len(ids))
        return {row["_id"]: row async for row in cursor}

    async def _keep(self, pages: Sequence[StoredVersion]) -> Sequence[bool]:
        with served(PAGE_VERSIONS):
            if not self._indexed:
                await self._index()
                self._indexed = True
            await self._watch.check_service(PAGE_VERSIONS)
            now = datetime.now(UTC)
            rows = [ReplaceOne({"_id": page.id}, _row(page, now), upsert=True) for page in pages]
            await self._database[PAGE_VERSIONS].bulk_write(rows, ordered=False)
        return [True] * len(pages)

    async def _index(self, name: str = PAGE_VERSIONS) -> bool:
        await indexes.ensure_expiry(self._database, name, self._days)
        return True


def _batcher(flush: Flush[T, R], seconds: float) -> Batcher[T, R]:
    return Batcher(flush, BATCH, seconds)


def _by_run(
    collection: str, entries: Sequence[tuple[StoredVersion, datetime, str]], stored: Mapping[str, Mapping[str, Any]]
) -> dict[str, list[tuple[str, int]]]:
    found: dict[str, list[tuple[str, int]]] = defaultdict(list)
    for page, _, run in entries:
        found[run] += [(item, version(stored[item])) for name, item in page.items if name == collection]
    return found


def _as_then(item: Mapping[str, Any] | None, page: StoredVersion) -> bool:
    """Whether *item* is stored as *page* had it, and not as a later fetch or another page did."""
    changed = item and item.get("last_changed_at")
    return item is not None and not (isinstance(changed, datetime) and changed > page.fetched_at)


def _row(page: StoredVersion, now: datetime) -> dict[str, Any]:
    items = [list(item) for item in page.items]
    row = {"etag": page.etag, "modified": page.modified, "items": items, "links": page.links}
    return row | {"fetched_at": page.fetched_at, "at": now}


def _read(row: Mapping[str, Any]) -> StoredVersion | None:
    """The version in *row*; None if it is not of the form of `_row`: then the page is fetched whole, and its record is
    written anew."""
    etag, modified, items, links = (row.get(name) for name in ("etag", "modified", "items", "links"))
    if not (_is_header(etag) and _is_header(modified) and (etag or modified) and isinstance(links, bytes)):
        return None
    if not (isinstance(items, list) and items and all(map(_is_pair, items))):
        return None
    fetched_at = row.get("fetched_at", row.get("at"))  # earlier releases have not noted it
    if not isinstance(fetched_at, datetime):
        return None
    pairs = tuple((collection, item) for collection, item in items)
    return StoredVersion(row["_id"], etag, modified, pairs, links, fetched_at)


def _is_pair(item: object) -> bool:
    """Whether it is a collection and an `_id`."""
    return isinstance(item, list) and [type(one) for one in item] == [str, str] and is_collection(item[0])


def _is_header(value: object) -> TypeGuard[str]:
    """Whether it can be sent, or is empty."""
    return isinstance(value, str) and _HEADER.fullmatch(value) is not None
