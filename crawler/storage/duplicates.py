"""Links from an item's URL to the document that holds the same content under another URL of the same host."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from urllib.parse import urlsplit

from pymongo import UpdateOne
from pymongo.errors import PyMongoError

from crawler.storage.batcher import Batcher
from crawler.storage.connection import Database

LINKS: Final = "duplicates"
PAUSE_SECONDS: Final = 30.0  # after MongoDB did not answer

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Candidate:
    """An item about to be stored; *id* is its own `_id`."""

    id: str
    url: str
    content_hash: str
    at: datetime
    source: Mapping[str, Any]


class Linker:
    """Links items of one collection, in batches of their own.

    While MongoDB does not answer nothing is linked, so that items go where they can wait for it.
    """

    def __init__(self, database: Database, collection: str, size: int, seconds: float) -> None:
        self._database = database
        self._collection = collection
        self._batcher: Batcher[Candidate, str | None] = Batcher(self._flush, size, seconds)
        self._ready = False
        self._away_until = 0.0

    async def original(self, candidate: Candidate) -> str | None:
        """The `_id` of the document that has the content already, the link being stored; None: store the item."""
        return await self._batcher.submit(object(), candidate)

    async def close(self) -> None:
        """Finish what waits."""
        await self._batcher.close()

    async def _flush(self, candidates: Sequence[Candidate]) -> list[str | None]:
        nothing: list[str | None] = [None] * len(candidates)
        if time.monotonic() < self._away_until:
            return nothing
        try:
            if not self._ready:
                await ensure(self._database, self._collection)
                self._ready = True
            return await link(self._database, self._collection, candidates)
        except PyMongoError as error:
            logger.info("Duplicates are not looked for, MongoDB does not answer: %.200s", error)
            self._away_until = time.monotonic() + PAUSE_SECONDS
            return nothing


async def ensure(database: Database, collection: str) -> None:
    """Create the indexes."""
    await database[collection].create_index("content_hash", name="content_hash")
    await database[LINKS].create_index("duplicate_of", name="duplicate_of")


async def link(database: Database, collection: str, candidates: Sequence[Candidate]) -> list[str | None]:
    """For each candidate the `_id` of the document that has its content, None where it is to be stored itself.

    What has a document of its own already keeps it. Of several documents the one seen first is linked to. Two
    URLs of one content that are met in the same moment are both stored. Raises PyMongo's errors.
    """
    hashes = list({one.content_hash for one in candidates})
    projection = {"content_hash": 1, "url": 1}
    found = database[collection].find({"content_hash": {"$in": hashes}}, projection).sort("first_seen_at", 1)
    holders: dict[tuple[str, str], str] = {}
    async for one in found:
        holders.setdefault((one["content_hash"], _host(one["url"])), one["_id"])
    linked = [holders.get((one.content_hash, _host(one.url))) for one in candidates]
    wanted = [one.id for one, to in zip(candidates, linked, strict=True) if to is not None]
    own = (
        {one["_id"] async for one in database[collection].find({"_id": {"$in": wanted}}, {"_id": 1})} if wanted else ()
    )
    linked = [None if one.id in own else to for one, to in zip(candidates, linked, strict=True)]
    updates = [_update(collection, one, to) for one, to in zip(candidates, linked, strict=True) if to is not None]
    if updates:
        await database[LINKS].bulk_write(updates, ordered=False)
    return linked


def _update(collection: str, one: Candidate, to: str) -> UpdateOne:
    values = {
        "collection": collection,
        "url": one.url,
        "duplicate_of": to,
        "content_hash": one.content_hash,
        "source": dict(one.source),
    }
    times = {"$min": {"first_seen_at": one.at}, "$max": {"last_seen_at": one.at}}
    return UpdateOne({"_id": f"{collection} {one.id}"}, {"$set": values, **times}, upsert=True)


def _host(url: str) -> str:
    return urlsplit(url).hostname or ""
