"""The URLs of stored documents: what is known of a host."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection
from typing import Any, Final, NamedTuple

from crawler.storage.connection import Database
from crawler.storage.documents import UNTYPED
from crawler.storage.indexes import REJECTED
from crawler.storage.reader import collections

NO_PAGES: Final = frozenset(
    {UNTYPED, REJECTED, "archive", "archive_files", "attempts", "recrawl", "run_items", "schema"}
)  # collections whose ids are no URLs
_BATCH: Final = 500


class KnownDocument(NamedTuple):
    """A stored document: where it is, and the URL to fetch it from."""

    collection: str
    id: str
    url: str


async def known(
    database: Database, host: str, spider: str, *, history: Collection[str], after: tuple[str, str] = ("", "")
) -> AsyncIterator[KnownDocument]:
    """The documents that *spider* stored of *host* (any scheme and port), in order of collection and id, those behind
    *after*. Reads by the index of ids, so it costs what the host has; other writers may go on.

    *history*: the collections of changes. Items without a class of their own are not found: their ids are no URLs.
    """
    name = f"[{host}]" if ":" in host else host
    # ":" is the character behind "/" and all digits: a range of ids ends where the next character begins.
    ranges = [
        (f"{scheme}://{name}{mark}", f"{scheme}://{name}{chr(ord(mark) + 1)}")
        for scheme in ("http", "https")
        for mark in "/:"
    ]
    for collection in await collections(database):
        if collection in NO_PAGES or collection in history or collection < after[0]:
            continue
        last = after[1] if collection == after[0] else ""
        for low, high in ranges:
            ids: dict[str, Any] = {"$gte": low, "$lt": high} | ({"$gt": last} if last else {})
            found = database[collection].find({"_id": ids, "source.spider": spider}, {"url": 1})
            async for one in found.sort("_id", 1).batch_size(_BATCH):
                yield KnownDocument(collection, one["_id"], str(one.get("url") or one["_id"]))
