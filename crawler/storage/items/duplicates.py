"""Links from an item's URL to the document that holds the same content under another URL of the same host."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Sequence
from typing import Any, Final
from urllib.parse import urlsplit

from pymongo import IndexModel, UpdateOne

from crawler.storage import indexes
from crawler.storage.collection_names import DUPLICATES
from crawler.storage.connection import Database
from crawler.storage.items import bulk
from crawler.storage.items.documents import StoredDocument

logger = logging.getLogger(__name__)

COPIES: Final = 100  # of one host and content that are looked at: there may be thousands from before the setting
READ: Final = 1_000  # documents of several hosts or contents in one query

Pair = tuple[str, str]  # host and content hash


class DuplicateError(Exception):
    """The item is not stored: its content is stored under another URL of its host, and the link is recorded."""

    def __init__(self, original: str) -> None:
        super().__init__(f"the content is stored as {original}")
        self.original = original  # the `_id`


async def ensure(database: Database, collection: str) -> None:
    """Create the indexes."""
    await indexes.create(database[collection], IndexModel([("content_hash", 1), ("_id", 1)], name="content_hash_id"))
    await ensure_links(database)


async def ensure_links(database: Database) -> None:
    """Create that of the links alone."""
    await indexes.create(database[DUPLICATES], IndexModel("duplicate_of", name="duplicate_of"))


async def link(database: Database, collection: str, entries: Sequence[StoredDocument]) -> dict[str, DuplicateError]:
    """By `_id` those *entries* (none has its own document) whose content another document already has.

    Links to the document that was seen first, of those that are read (COPIES, READ); one whose link is refused has
    none. Two URLs with the same content that arrive at the same moment are both stored. Raises PyMongo's errors.
    """
    known = await database[collection].distinct(
        "content_hash", {"content_hash": {"$in": list({entry.content_hash for entry in entries})}}
    )
    alike = [entry for entry in entries if entry.content_hash in known]  # mostly none
    pairs = list(dict.fromkeys((_host(entry.id), entry.content_hash) for entry in alike))
    holders = await _holders(database, collection, pairs) if pairs else {}
    originals = {entry.id: holders.get((_host(entry.id), entry.content_hash)) for entry in alike}
    linked = {key: DuplicateError(to) for key, to in originals.items() if to is not None}
    again = [entry for entry in alike if entry.id in linked]
    updates = [_update(entry, linked[entry.id].original) for entry in again]
    _, refused = await bulk.apply(database[DUPLICATES], updates) if updates else (set(), {})
    for position, reason in refused.items():  # stored on its own then
        logger.error("The link of %.300s is not kept in %s: %s", again[position].id, DUPLICATES, reason)
        del linked[again[position].id]
    return linked


async def _holders(database: Database, collection: str, pairs: Sequence[Pair]) -> dict[Pair, str]:
    """The `_id` of what was seen first of each of *pairs*: mostly in one query, in several where some of them have many
    copies. Reads documents of these hosts alone: thousands of others may have the same page, such as of a domain that
    is for sale."""
    most = READ if len(pairs) > 1 else COPIES
    some: list[dict[str, Any]] = [{"$match": {"$or": _spans(pairs)}}, {"$limit": most}]
    order = [{"$sort": {"first_seen_at": 1}}, {"$project": {"content_hash": 1}}]
    found = await (await database[collection].aggregate([*some, *order])).to_list()
    if len(pairs) > 1 and len(found) == most:
        half = len(pairs) // 2
        first, second = [await _holders(database, collection, part) for part in (pairs[:half], pairs[half:])]
        return first | second
    firsts: dict[Pair, str] = {}
    for one in found:
        if isinstance(one["content_hash"], str):  # else another program's
            firsts.setdefault((_host(one["_id"]), one["content_hash"]), one["_id"])
    return firsts


def _spans(pairs: Sequence[Pair]) -> list[dict[str, Any]]:
    """What the documents of *pairs* match, and few others."""
    hashes: dict[str, list[str]] = defaultdict(list)
    for host, content_hash in pairs:
        hashes[host].append(content_hash)
    return [{"content_hash": {"$in": same}, "_id": ids} for host, same in hashes.items() for ids in _ids(host)]


def _ids(host: str) -> list[dict[str, str]]:
    """Ranges with all `_id`s that are URLs of *host*, and few others: ":" and "/" enclose the digits."""
    name = f"[{host}]" if ":" in host else host
    return [{"$gte": f"{scheme}://{name}/", "$lt": f"{scheme}://{name};"} for scheme in ("http", "https")]


def _update(entry: StoredDocument, to: str) -> UpdateOne:
    values = {
        "collection": entry.collection,
        "url": entry.body["url"],
        "duplicate_of": to,
        "content_hash": entry.content_hash,
        "source": entry.body["source"],
    }
    times = {"$min": {"first_seen_at": entry.fetched_at}, "$max": {"last_seen_at": entry.fetched_at}}
    return UpdateOne({"_id": f"{entry.collection} {entry.id}"}, {"$set": values, **times}, upsert=True)


def _host(key: str) -> str:
    """The host of the URL at the start of an `_id`; anything else counts as a host of its own."""
    try:
        return urlsplit(key).hostname or key
    except ValueError:
        return key
