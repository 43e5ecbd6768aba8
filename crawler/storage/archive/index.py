"""The index of the archive in MongoDB: a document per archived fetch, and one per finished file. It only repeats what
is in the files, so it can be rebuilt from them."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

from pymongo import IndexModel, UpdateOne
from pymongo.errors import BulkWriteError

from crawler.storage import foreign_collections, indexes
from crawler.storage.archive.records import Original, RecordPlace, WarcRecord
from crawler.storage.collection_names import ARCHIVE, ARCHIVE_FILES
from crawler.storage.connection import Database, served
from crawler.storage.items import bulk

_BATCH: Final = 500
_LONGEST_NAME: Final = 255  # bytes
_PLACE: Final = ("file", "offset", "length")

Entry = dict[str, Any]


class KeptFile(NamedTuple):
    """A finished file: its bytes, and when it was written, or a page of it was the original of a later one."""

    name: str
    size: int
    used_at: datetime


def entry(record: WarcRecord, place: RecordPlace) -> Entry:
    """The document of one record."""
    page = record.page
    found: Entry = {
        "_id": record.id,
        "url": page.url,
        "host": urlsplit(page.url).hostname or "",
        "spider": page.spider,
        "at": _milliseconds(page.fetched_at),
        "status": page.status,
        "digest": record.digest,
        "request_id": page.request_id,
        **_stored(place),
    }
    if record.original is not None:
        found["original"] = _stored(record.original.place) | {
            "url": record.original.url,
            "at": _milliseconds(record.original.at),
        }
    return found


def added(one: Entry) -> UpdateOne:
    """The update for a new record, or for one whose file is listed again: there it may have moved."""
    at = {name: one[name] for name in _PLACE}
    rest = {name: value for name, value in one.items() if name not in at}
    return UpdateOne({"_id": one["_id"]}, {"$setOnInsert": rest, "$set": at}, upsert=True)


def seen_again(record_id: str, at: datetime) -> UpdateOne:
    """The update for a record whose content was fetched again, unchanged."""
    return UpdateOne({"_id": record_id}, {"$max": {"seen_at": _milliseconds(at)}})


def parse_failed(record_id: str, reason: str) -> UpdateOne:
    """The update for a page whose callback raised or whose item was rejected."""
    return UpdateOne({"_id": record_id}, {"$set": {"failed": reason[:500]}})


def place(stored: Mapping[str, Any]) -> RecordPlace:
    """The place of a document's record, or of its `original`."""
    return RecordPlace(stored["file"], stored["offset"], stored["length"])


class Index:
    """Reads and writes the two collections; raises PyMongo's errors where it does not say otherwise."""

    def __init__(self, database: Database) -> None:
        self._pages = database[ARCHIVE]
        self._files = database[ARCHIVE_FILES]
        self._watch = foreign_collections.Watch(database, self._index)

    async def ensure(self) -> None:
        """Create the indexes."""
        await indexes.create(
            self._pages,
            IndexModel([("digest", 1), ("at", -1)], name="digest_at"),
            IndexModel([("url", 1), ("at", -1)], name="url_at"),
            IndexModel([("spider", 1), ("at", 1)], name="spider_at"),
            IndexModel([("host", 1), ("at", 1)], name="host_at"),
            IndexModel([("file", 1)], name="file"),
            IndexModel([("original.file", 1)], name="original_file", sparse=True),
        )
        await indexes.create(self._files, IndexModel("used_at", name="used_at"))

    async def _index(self, _: str) -> bool:
        await self.ensure()
        return True

    async def write(self, updates: Sequence[UpdateOne]) -> list[str]:
        """Apply updates of `added`, `seen_again` and `parse_failed` in order; idempotent. Returns why MongoDB refuses
        some of them, for good: a validator, or an index that somebody has made. Raises ServiceError while another
        collection is in the place of ours."""
        await self._watch.check_service(ARCHIVE, ARCHIVE_FILES)
        refused: list[str] = []
        while updates:
            try:
                await self._pages.bulk_write(updates, ordered=True)
                break
            except BulkWriteError as error:
                first = next(iter(error.details["writeErrors"]), None)
                if error.details["writeConcernErrors"] or first is None or not bulk.is_about_document(first):
                    raise
                refused.append(first["errmsg"])
                updates = updates[first["index"] + 1 :]
        return refused

    async def originals(self, digests: Sequence[str], since: datetime | None, *, but: str = "") -> dict[str, Original]:
        """By digest, a record with that body in a finished file, fetched at or after *since*; none of a file whose name
        begins with *but*."""
        query: dict[str, Any] = {"digest": {"$in": list(digests)}, "original": {"$exists": False}}
        if since is not None:
            query["at"] = {"$gte": since}
        if but:
            query["file"] = {"$not": {"$regex": f"^{re.escape(but)}"}}
        stored = self._pages.find(query).sort("at", 1).limit(4 * len(digests))
        found = [pair async for one in stored if (pair := _original(one)) is not None]
        named = {"_id": {"$in": [one.place.file for _, one in found]}, "finished_at": {"$exists": True}}
        finished = {one["_id"] async for one in self._files.find(named, {"_id": 1})}
        return {digest: one for digest, one in found if one.place.file in finished}

    async def latest(self, urls: Sequence[str]) -> dict[str, tuple[str, str]]:
        """By URL, id and digest of its last archived page."""
        stages: list[Mapping[str, Any]] = [
            {"$match": {"url": {"$in": list(urls)}}},
            {"$sort": {"url": 1, "at": -1}},
            {"$group": {"_id": "$url", "id": {"$first": "$_id"}, "digest": {"$first": "$digest"}}},
        ]
        found = await self._pages.aggregate(stages)
        return {one["_id"]: (one["id"], one["digest"]) async for one in found if type(one["_id"]) is str}

    async def count(self, query: Mapping[str, Any]) -> int:
        """How many pages match."""
        return await self._pages.count_documents(query)

    async def pages(self, query: Mapping[str, Any]) -> AsyncIterator[Entry]:
        """The documents that match, oldest fetch first; raises ServiceError."""
        found = self._pages.find(query).sort([("at", 1), ("_id", 1)]).allow_disk_use(True).batch_size(_BATCH)
        with served(ARCHIVE):
            async for one in found:
                yield one

    async def file_complete(self, name: str, size: int, where: str, at: datetime) -> None:
        """Record a file that is about to be kept in its store; raises as `write`."""
        await self._watch.check_service(ARCHIVE, ARCHIVE_FILES)
        now = {"$set": {"bytes": size, "where": where}, "$max": {"used_at": at}}
        await self._files.update_one({"_id": name}, now, upsert=True)

    async def file_kept(self, name: str, at: datetime) -> None:
        """Record that the file is in its store."""
        await self._files.update_one({"_id": name}, {"$set": {"finished_at": at}})

    async def files_used(self, names: Sequence[str], at: datetime) -> None:
        """Record that records of these files are originals of later ones."""
        await self._files.update_many({"_id": {"$in": list(names)}}, {"$max": {"used_at": at}})

    async def files(self, where: str) -> list[KeptFile]:
        """The finished files there, least recently used first; another program's documents, whose names may lead out of
        the archive, are left out."""
        found = self._files.find({"where": where}).sort("used_at", 1)
        return [KeptFile(one["_id"], one["bytes"], one["used_at"]) async for one in found if _is_file(one)]

    async def kept(self, names: Sequence[str]) -> set[str]:
        """Those of the files *names* that are recorded, and pages of theirs."""
        with_pages = await self._pages.distinct("file", {"file": {"$in": list(names)}})
        return {one["_id"] async for one in self._files.find({"_id": {"$in": with_pages}}, {"_id": 1})}

    async def forget(self, name: str) -> None:
        """Remove a deleted file and the pages whose bodies it held."""
        await self._pages.delete_many({"$or": [{"file": name}, {"original.file": name}]})
        await self._files.delete_one({"_id": name})


def _is_file(one: Mapping[str, Any]) -> bool:
    named = is_file_name(one["_id"]) and isinstance(one.get("bytes"), int)
    return named and isinstance(one.get("used_at"), datetime)


def is_file_name(name: object) -> bool:
    """Whether *name* stays within the archive."""
    if type(name) is not str or len(name.encode()) > _LONGEST_NAME:  # BSON's Code is a str without a hash
        return False
    return not {"/", "\0"} & set(name) and name not in {"", ".", ".."}


def is_place(at: RecordPlace) -> bool:
    """Whether it may be that of a record: another program may have left anything there."""
    return is_file_name(at.file) and all(isinstance(number, int) for number in (at.offset, at.length))


def _original(one: Mapping[str, Any]) -> tuple[str, Original] | None:
    """The digest and the record that a document tells of; None if it is none of ours."""
    try:
        digest, found = one["digest"], Original(place(one), one["url"], one["at"])
    except LookupError:
        return None
    is_ours = is_place(found.place) and type(digest) is type(found.url) is str and isinstance(found.at, datetime)
    return (digest, found) if is_ours else None


def _stored(at: RecordPlace) -> dict[str, Any]:
    return {"file": at.file, "offset": at.offset, "length": at.length}


def _milliseconds(moment: datetime) -> datetime:
    """Truncated as MongoDB stores it."""
    moment = moment.astimezone(UTC)
    return moment.replace(microsecond=moment.microsecond // 1000 * 1000)
