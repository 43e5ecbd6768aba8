"""JSON Schema validators of the collections: what any writer may put there.

They require what readers rely on and leave the rest open, so item classes may have more fields. The
time-series collection `attempts` cannot have one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from crawler.items import PageItem, ProductItem
from crawler.storage import collection_names

Schema = dict[str, Any]

_TEXT: Final[Schema] = {"bsonType": "string"}
_TEXT_OR_NULL: Final[Schema] = {"bsonType": ["string", "null"]}
_TIME: Final[Schema] = {"bsonType": "date"}
_WHOLE: Final[Schema] = {"bsonType": ["int", "long"], "minimum": 0}
_OBJECT: Final[Schema] = {"bsonType": "object"}
_TEXTS: Final[Schema] = {"bsonType": "array", "items": _TEXT}
_TEXTS_OR_NULL: Final[Schema] = {"bsonType": ["array", "null"], "items": _TEXT}


def _schema(required: Mapping[str, Schema], optional: Mapping[str, Schema]) -> Schema:
    return {"bsonType": "object", "required": sorted(required), "properties": {**required, **optional}}


_STATE: Final[dict[str, Schema]] = {
    "_id": {**_TEXT, "minLength": 1},
    "url": {**_TEXT, "minLength": 1},
    "content_hash": _TEXT,
    "version": {"bsonType": ["int", "long"], "minimum": 1},
    **dict.fromkeys(("fetched_at", "first_seen_at", "last_seen_at", "last_changed_at"), _TIME),
}
_ANY_ITEM: Final[dict[str, Schema]] = {
    "key": _TEXT,
    "source": _OBJECT,
    "issues": _TEXTS,
    "pending_changes": {"bsonType": "array", "items": _OBJECT},
}
_PRODUCT: Final[dict[str, Schema]] = {
    **dict.fromkeys(("title", "currency", "availability", "sku", "gtin", "brand", "image"), _TEXT_OR_NULL),
    **dict.fromkeys(("description", "category"), _TEXT_OR_NULL),
    "price": {"bsonType": ["decimal", "null"]},
    "rating": {"bsonType": ["double", "int", "long", "null"]},
    "review_count": {"bsonType": ["int", "long", "null"]},
    "found_in": _OBJECT,
}
_PAGE: Final[dict[str, Schema]] = {
    **dict.fromkeys(("title", "text", "author", "language"), _TEXT_OR_NULL),
    "markdown": _TEXT_OR_NULL,
    **dict.fromkeys(("links", "images"), _TEXTS_OR_NULL),
    "published_at": {"bsonType": ["date", "null"]},
    "metadata": _OBJECT,
}
_PLACE: Final[dict[str, Schema]] = {"file": _TEXT, "offset": _WHOLE, "length": _WHOLE}

ITEMS: Final[Mapping[str, Schema]] = {
    ProductItem.collection: _schema(_STATE, _ANY_ITEM | _PRODUCT),
    PageItem.collection: _schema(_STATE, _ANY_ITEM | _PAGE),
    collection_names.REJECTED: _schema(
        {"_id": _TEXT, "collection": _TEXT, "issues": _TEXTS, "reasons": _TEXTS, "at": _TIME, "item": _OBJECT},
        {"url": _TEXT, "times": _WHOLE},
    ),
}
HISTORY: Final = _schema(
    {"_id": _TEXT, "item": _TEXT, "version": _STATE["version"], "at": _TIME, "changes": _OBJECT},
    {"url": _TEXT, "source": _OBJECT},
)
ARCHIVE: Final[Mapping[str, Schema]] = {
    collection_names.ARCHIVE: _schema(
        {"_id": _TEXT, "url": _TEXT, "spider": _TEXT, "at": _TIME, "digest": _TEXT, **_PLACE},
        {"host": _TEXT, "status": _WHOLE, "request_id": _TEXT, "seen_at": _TIME, "failed": _TEXT, "original": _OBJECT},
    ),
    collection_names.ARCHIVE_FILES: _schema(
        {"_id": _TEXT, "bytes": _WHOLE, "where": _TEXT, "used_at": _TIME}, {"finished_at": _TIME}
    ),
}
