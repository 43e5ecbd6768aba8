"""What is kept of an item that is not stored: its reasons, and as much of it as MongoDB takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from hashlib import blake2b
from typing import Any, Self

import bson
from bson.errors import BSONError
from bson.raw_bson import RawBSONDocument
from itemadapter import ItemAdapter
from pymongo import UpdateOne

from crawler.items import Item
from crawler.storage.codec import CODEC
from crawler.storage.documents import BOOKKEEPING, UNTYPED, Document, UnstorableError, check, identity

_TEXT_MAX = 65_536  # characters of an item that is kept as text


@dataclass(frozen=True, slots=True)
class Rejection:
    """One rejected observation. The same item rejected again replaces it and counts `times`."""

    id: str
    body: RawBSONDocument

    @classmethod
    def of(cls, item: Any, reasons: Sequence[str], at: datetime, max_bytes: int) -> Self:
        """*reasons* are texts for people that start with the issue's name."""
        collection = getattr(item, "collection", UNTYPED) if isinstance(item, Item) else UNTYPED
        values = _storable(item, max_bytes)
        body = {
            "collection": collection,
            "url": _clean(str(getattr(item, "url", ""))),
            "issues": [reason.partition(":")[0] for reason in reasons],
            "reasons": [_clean(reason) for reason in reasons],
            "item": values,
            "at": at,
        }
        return cls(_key(collection, _identity(item)), RawBSONDocument(bson.encode(body, codec_options=CODEC)))

    @classmethod
    def of_stored(cls, entry: Document, reason: str) -> Self:
        """A document that MongoDB refuses long after its item is gone."""
        fields = {name: value for name, value in entry.body.items() if name not in BOOKKEEPING}
        body = {
            "collection": entry.collection,
            "url": fields.get("url", ""),
            "issues": [reason.partition(":")[0]],
            "reasons": [reason],
            "item": fields,
            "at": entry.fetched_at,
        }
        return cls(_key(entry.collection, entry.id), RawBSONDocument(bson.encode(body, codec_options=CODEC)))

    def update(self) -> UpdateOne:
        """Counts in `times` how often the item was rejected; an older one, and the same again, change nothing."""
        times = {"$add": [{"$ifNull": ["$times", 0]}, 1]}
        newer = {"$mergeObjects": ["$$ROOT", "$$new", {"times": times}]}
        decision = {"$cond": [{"$gte": ["$at", "$$new.at"]}, "$$ROOT", newer]}
        stage = {"$replaceWith": {"$let": {"vars": {"new": {"$literal": self.body}}, "in": decision}}}
        return UpdateOne({"_id": self.id}, [stage], upsert=True)


def _key(collection: str, item: str) -> str:
    text = f"{collection}\0{item}"
    return blake2b(text.encode("utf-8", "backslashreplace"), digest_size=16).hexdigest()


def _identity(item: Any) -> str:
    if isinstance(item, Item) and item.url:
        return identity(item)
    return _text(item)


def _storable(item: Any, max_bytes: int) -> dict[str, Any]:
    """The item's fields when MongoDB takes them, else its text, cut."""
    try:
        values = asdict(item) if isinstance(item, Item) else ItemAdapter(item).asdict()
        check(values, "item")
        if len(bson.encode(values, codec_options=CODEC)) <= max_bytes:
            return values
    except (UnstorableError, BSONError, OverflowError, TypeError, RecursionError):
        pass  # what is wrong with it is its reason already
    return {"text": _text(item)}


def _text(item: Any) -> str:
    try:
        return _clean(repr(item))
    except RecursionError:
        return f"a {type(item).__qualname__} that contains itself"


def _clean(text: str) -> str:
    """Text that UTF-8 can hold: lone surrogates become visible escapes."""
    return text[:_TEXT_MAX].encode("utf-8", "backslashreplace").decode()
