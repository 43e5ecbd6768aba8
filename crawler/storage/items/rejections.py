"""What is kept of a rejected item: the reasons, and as much of the item as MongoDB can store."""

from __future__ import annotations

import reprlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import blake2b
from typing import Any, Self

import bson
from bson.raw_bson import RawBSONDocument
from itemadapter import ItemAdapter
from pymongo import UpdateOne
from twisted.python.reflect import safe_str

from crawler.items import Item
from crawler.storage.collection_names import UNTYPED
from crawler.storage.items.codec import CODEC
from crawler.storage.items.documents import BOOKKEEPING, StoredDocument, identity
from crawler.storage.items.origin import Origin
from crawler.storage.items.values import LIGHT, ItemRoom, UnstorableError, storable
from crawler.urls import without_credentials
from crawler.utils.masking import mask

_TEXT_MAX = 65_536  # most characters of an item kept as text
_SOURCE_MAX = 2**20
_SHORT = reprlib.Repr()
_SHORT.maxdict = _SHORT.maxlist = _SHORT.maxtuple = _SHORT.maxset = _SHORT.maxfrozenset = _SHORT.maxdeque = 200
_SHORT.maxstring = _SHORT.maxother = _SHORT.maxlong = _TEXT_MAX


@dataclass(frozen=True, slots=True)
class Rejection:
    """One rejected observation. The same item rejected again replaces it and counts `times`."""

    id: str
    body: RawBSONDocument

    @classmethod
    def of(cls, item: Any, reasons: Sequence[str], at: datetime, max_bytes: int, origin: Origin | None = None) -> Self:
        """*reasons* are messages that start with the issue's name; the class names one that cannot be read."""
        try:
            return cls._of(item, reasons, at, max_bytes, origin)
        except Exception as error:  # noqa: BLE001 - whatever it raises, its page and the reason are kept
            return cls._of(
                {"unreadable": type(item).__qualname__, "error": safe_str(error)[:200]}, reasons, at, max_bytes, origin
            )

    @classmethod
    def _of(cls, item: Any, reasons: Sequence[str], at: datetime, max_bytes: int, origin: Origin | None) -> Self:
        collection = getattr(item, "collection", UNTYPED) if isinstance(item, Item) else UNTYPED
        values, reasons = _kept(item, max_bytes), [_clean(reason) for reason in reasons]
        page = origin.url if origin is not None else ""
        body = {
            "collection": collection,
            "url": _clean(_url(item) or page),
            "page": _clean(page),
            "issues": [reason.partition(":")[0] for reason in reasons],
            "reasons": reasons,
            "item": values,
            "at": at,
            "source": _source(origin),
        }
        return cls(_key(collection, _identity(item, origin)), RawBSONDocument(bson.encode(body, codec_options=CODEC)))

    @classmethod
    def of_stored(cls, entry: StoredDocument, reason: str) -> Self:
        """For a document that MongoDB refuses long after its item is gone: it has its page's canonical URL only."""
        fields = {name: value for name, value in entry.body.items() if name not in BOOKKEEPING}
        body = {
            "collection": entry.collection,
            "url": fields.get("url", ""),
            "page": fields.get("url", ""),
            "issues": [reason.partition(":")[0]],
            "reasons": [reason],
            "item": fields,
            "at": entry.fetched_at,
            "source": fields.get("source", {}),
        }
        return cls(_key(entry.collection, entry.id), RawBSONDocument(bson.encode(body, codec_options=CODEC)))

    @classmethod
    def of_change(cls, history: str, row: Mapping[str, Any], why: str) -> Self:
        """For a change of an item that its history refuses."""
        issue = f"refused_change: {why}"
        body = {
            "collection": history,
            "url": row["url"],
            "page": row["url"],
            "issues": [issue.partition(":")[0]],
            "reasons": [issue],
            "item": row,
            "at": row["at"],
            "source": row["source"],
        }
        return cls(_key(history, row["_id"]), RawBSONDocument(bson.encode(body, codec_options=CODEC)))

    def update(self) -> UpdateOne:
        """Counts rejections of the item in `times`; an older rejection, or the same one again, changes nothing. What
        another program has left there counts as nothing."""
        times = {"$add": [{"$convert": {"input": "$times", "to": "int", "onError": 0, "onNull": 0}}, 1]}
        newer = {"$mergeObjects": ["$$ROOT", "$$new", {"times": times}]}
        is_older = {"$and": [{"$eq": [{"$type": "$at"}, "date"]}, {"$gte": ["$at", "$$new.at"]}]}
        decision = {"$cond": [is_older, "$$ROOT", newer]}
        stage = {"$replaceWith": {"$let": {"vars": {"new": {"$literal": self.body}}, "in": decision}}}
        return UpdateOne({"_id": self.id}, [stage], upsert=True)


def _key(collection: str, item: str) -> str:
    text = f"{collection}\0{item}"
    return blake2b(text.encode("utf-8", "backslashreplace"), digest_size=16).hexdigest()


def _identity(item: Any, origin: Origin | None) -> str:
    if isinstance(item, Item) and item.url:
        return identity(item)
    where = [origin.source.get("spider", ""), origin.url] if origin is not None else []
    return "\0".join([*where, _text(item)])


def _url(item: Any) -> str:
    try:
        return without_credentials(str(ItemAdapter(item).get("url") or ""))
    except Exception:  # noqa: BLE001 - a field that cannot be read is the reason already
        return ""


def _source(origin: Origin | None) -> dict[str, Any]:
    try:
        return storable(origin.source, ItemRoom(_SOURCE_MAX)) if origin is not None else {}
    except UnstorableError as error:
        return {"unstorable": _clean(str(error))}


def _kept(item: Any, max_bytes: int) -> dict[str, Any]:
    """The item's fields if MongoDB accepts them, else its text, cut."""
    try:
        values = storable(dict(ItemAdapter(item)), ItemRoom(max_bytes, LIGHT))
        if isinstance(values.get("url"), str):
            values["url"] = without_credentials(values["url"])
        if len(bson.encode(values, codec_options=CODEC)) <= max_bytes:
            return values
    except Exception:  # noqa: BLE001 - what is wrong with it is its reason already
        return {"text": _text(item)}
    return {"text": _text(item)}


def _text(item: Any) -> str:
    """The item as text, with dots for what is beyond some hundred values of a kind or six levels."""
    try:
        fields = dict(ItemAdapter(item)) if ItemAdapter.is_item(item) else item
        return _clean(_SHORT.repr(fields))
    except Exception as error:  # noqa: BLE001 - it contains itself, or cannot show itself
        return f"a {type(item).__qualname__} without a text: {type(error).__name__}"


def _clean(text: str) -> str:
    """Text that UTF-8 can hold and people may see: lone surrogates become visible escapes, credentials ***."""
    return mask(text[:_TEXT_MAX])
