"""The URLs of a host's stored documents."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection
from typing import Any, Final, NamedTuple

from crawler.storage.collection_names import NO_PAGES
from crawler.storage.connection import Database
from crawler.storage.reading.reader import stored

_BATCH: Final = 500


class KnownDocument(NamedTuple):
    """A stored document: where it is, and the URL to fetch it from."""

    collection: str
    id: str
    url: str


async def known(
    database: Database, host: str, spider: str, *, history: Collection[str], after: tuple[str, str] = ("", "")
) -> AsyncIterator[KnownDocument]:
    """The documents that *spider* stored of *host* (any scheme and port), in order of collection and id, starting after
    *after*. Uses the index of ids, so the cost is proportional to the host's documents; other writers may continue.

    *history*: the collections of changes. Items without their own class are not found: their ids are not URLs.
    """
    name = f"[{host}]" if ":" in host else host
    # A range of ids ends before the next character: ":" follows "/" and all digits.
    ranges = [
        (f"{scheme}://{name}{mark}", f"{scheme}://{name}{chr(ord(mark) + 1)}")
        for scheme in ("http", "https")
        for mark in "/:"
    ]
    for collection in await stored(database):
        if collection in NO_PAGES or collection in history or collection < after[0]:
            continue
        last = after[1] if collection == after[0] else ""
        for low, high in ranges:
            ids: dict[str, Any] = {"$gte": low, "$lt": high} | ({"$gt": last} if last else {})
            found = database[collection].find({"_id": ids, "source.spider": spider}, {"url": 1})
            async for one in found.sort("_id", 1).batch_size(_BATCH):
                yield KnownDocument(collection, one["_id"], str(one.get("url") or one["_id"]))
