"""The single update per observation, with which the server decides whether and how the document changes.

It runs in the server, atomically per document, so any number of workers may write one product in any order: an
observation older than the stored state is ignored, an equal one updates `last_seen_at`, different content replaces the
fields, increments the version and leaves the differences in `pending_changes`. From there they are copied to the change
history (history.py), so a crash in between loses nothing. A stored time that lies ahead of the server's by more than a
day is a clock's error and counts as unknown: all later observations would be ignored.

For most observations the state just read predicts the outcome. Those take a shortcut with the same effect, which does
nothing if the state has changed meanwhile.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final

import bson
from bson.raw_bson import RawBSONDocument
from pymongo import InsertOne, UpdateOne

from crawler.storage.items.documents import StoredDocument

AHEAD: Final = timedelta(days=1)  # of the server's clock: no time zone or drift explains more
# The stored state, where another program may have left values of any type: what is no whole number counts as one as far
# as it can be, what is no time as unknown, what is no list as empty.
_VERSION: Final = {
    "$cond": [
        {"$in": [{"$type": "$version"}, ["int", "long", "missing"]]},
        "$version",
        {"$convert": {"input": "$version", "to": "int", "onError": 0, "onNull": 0}},
    ]
}
_LATEST: Final = {"$add": ["$$NOW", AHEAD // timedelta(milliseconds=1)]}
_IS_TIME: Final = [{"$eq": [{"$type": "$last_seen_at"}, "date"]}, {"$lte": ["$last_seen_at", _LATEST]}]
_SEEN: Final = {"$cond": [{"$and": _IS_TIME}, "$last_seen_at", None]}
_WAITING: Final = {"$cond": [{"$isArray": "$pending_changes"}, "$pending_changes", []]}
# The difference as (name, value) pairs of each side: needs no field names, so it works for every item class.
_OLD: Final = {"$objectToArray": {"$unsetField": {"field": "pending_changes", "input": "$$ROOT"}}}
_NEW: Final = {"$objectToArray": "$$new"}
_CHANGE: Final = {
    "version": {"$add": [_VERSION, 1]},
    "at": "$$new.fetched_at",
    "url": "$$new.url",
    "source": "$$new.source",
    "by": "$source.spider",  # who stored the old state
    "old": {"$arrayToObject": {"$setDifference": [_OLD, _NEW]}},
    "new": {"$arrayToObject": {"$setDifference": [_NEW, _OLD]}},
}
_PENDING: Final = {
    "$cond": [
        {"$gt": [_VERSION, 0]},
        {"$concatArrays": [_WAITING, [_CHANGE]]},
        "$$REMOVE",
    ]
}


def _decision(kept: dict[str, Any], older: str = "$gte") -> RawBSONDocument:
    """The new state of the stored `$$ROOT` after observing `$$new`; encoded once, not per item.

    *older* compares the stored time with the new one: "$gt" lets the same observation be stated again.
    """
    inserted = {
        "first_seen_at": {"$ifNull": ["$first_seen_at", "$$new.first_seen_at"]},
        "version": {"$add": [{"$ifNull": [_VERSION, 0]}, 1]},
        **kept,
    }
    same = {"$mergeObjects": ["$$ROOT", {"last_seen_at": "$$new.last_seen_at"}]}
    other = {"$mergeObjects": ["$$new", inserted]}
    newer = {"$cond": [{"$eq": ["$content_hash", "$$new.content_hash"]}, same, other]}
    return RawBSONDocument(bson.encode({"$cond": [{older: [_SEEN, "$$new.last_seen_at"]}, "$$ROOT", newer]}))


_DECISIONS: Final = {
    (history, restate): _decision({"pending_changes": _PENDING} if history else {}, "$gt" if restate else "$gte")
    for history in (True, False)
    for restate in (True, False)
}


def upsert(document: StoredDocument, *, history: bool, restate: bool = False) -> UpdateOne:
    """The update for one observation; idempotent.

    *restate*: an observation with the same time as the stored one replaces it (a re-parse of its page).
    """
    decision = _DECISIONS[history, restate]
    stage = {"$replaceWith": {"$let": {"vars": {"new": {"$literal": document.body}}, "in": decision}}}
    return UpdateOne({"_id": document.id}, [stage], upsert=True)


def shortcut(document: StoredDocument, head: Mapping[str, Any] | None) -> InsertOne[RawBSONDocument] | UpdateOne | None:
    """A cheaper equivalent if *head* (the stored state with naive times; None if nothing is stored) allows one; else
    None.

    If another worker has written the document meanwhile, an insert finds its key taken and an update matches nothing:
    then `upsert` is needed.
    """
    if head is None:
        return InsertOne(document.body)
    if head.get("content_hash") != document.content_hash or "pending_changes" in head:
        return None
    seen = head.get("last_seen_at")
    if not isinstance(seen, datetime) or seen == document.naive_time or is_ahead(head, document.naive_time):
        return None  # written already: by an interrupted try, or by the crawl whose page is re-parsed
    query = {"_id": document.id, "content_hash": document.content_hash}
    return UpdateOne(query, {"$max": {"last_seen_at": document.fetched_at}})


def is_ahead(head: Mapping[str, Any], now: datetime) -> bool:
    """Whether the stored state *head* may have a time of a clock that was wrong, if it is *now*, in UTC without its
    zone; the server decides by its own."""
    seen = head.get("last_seen_at")
    return isinstance(seen, datetime) and seen - now > AHEAD
