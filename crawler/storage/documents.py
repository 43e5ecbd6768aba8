"""An item as the document that is stored, or the reason why it cannot be: nothing is altered on the way."""

from __future__ import annotations

import decimal
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from decimal import Decimal
from functools import lru_cache
from hashlib import blake2b
from typing import Any, Final

import bson
from bson.codec_options import CodecOptions, TypeCodec, TypeRegistry
from bson.decimal128 import Decimal128
from bson.errors import BSONError
from bson.raw_bson import RawBSONDocument
from itemadapter import ItemAdapter

from crawler.items import Item

MAX_DEPTH: Final = 100  # levels; beyond it other readers of BSON give up
UNTYPED: Final = "items"  # the collection of what is not one of our item classes

# What the writer keeps about a document; an item class may not have fields of these names.
BOOKKEEPING: Final = frozenset(
    {"_id", "content_hash", "first_seen_at", "last_seen_at", "last_changed_at", "version", "pending_changes"}
)
# What says how an item came about. It changes with each fetch, so it is no part of the content.
PROVENANCE: Final = frozenset({"url", "key", "fetched_at", "source", "issues", "found_in"})


class UnstorableError(ValueError):
    """This item can never be stored; `issue` is a short name to count by, the text says where and why."""

    def __init__(self, issue: str, text: str) -> None:
        super().__init__(text)
        self.issue = issue


@lru_cache(maxsize=4096)
def _decimal128(digits: str) -> Decimal128:
    """Prices repeat, and PyMongo converts bit by bit; as text 1.0 and 1.00 stay apart."""
    return Decimal128(digits)


class _DecimalCodec(TypeCodec):
    python_type = Decimal
    bson_type = Decimal128

    def transform_python(self, value: Decimal) -> Decimal128:
        return _decimal128(str(value))

    def transform_bson(self, value: Decimal128) -> Decimal:
        return value.to_decimal()


# Decimal both ways, and times that carry their zone.
CODEC: Final[CodecOptions[dict[str, Any]]] = CodecOptions(
    tz_aware=True, tzinfo=UTC, type_registry=TypeRegistry([_DecimalCodec()])
)


@dataclass(frozen=True, slots=True)
class Document:
    """One observation, ready to be sent: its body is encoded once, here, so that a bad one harms no other."""

    collection: str
    id: str
    content_hash: str
    fetched_at: datetime
    body: RawBSONDocument


def document(item: Any, fetched_at: datetime, max_bytes: int) -> Document:
    """The document of *item*, fetched at the aware time *fetched_at* (kept in milliseconds).

    A dataclass derived from Item is known by its URL and key. Anything else has no identity but its content:
    the same content is one document of the collection `items`, another content is another document.
    Raises UnstorableError for what MongoDB would refuse, or would return as something else.
    """
    if isinstance(item, Item):
        return _typed(item, fetched_at, max_bytes)
    if not ItemAdapter.is_item(item):
        raise UnstorableError("not_an_item", f"a {type(item).__name__} is not an item: {item!r:.200}")
    values = _fields(item)
    check(values, UNTYPED)
    digest = _digest(values)
    return _document(UNTYPED, digest, digest, {"item": values}, fetched_at=fetched_at, max_bytes=max_bytes)


def content(item: Item) -> dict[str, Any]:
    """What the item says: its fields without provenance.

    A field that is None counts as absent, so that a new optional field of an item class changes no document.
    """
    kind: Any = type(item)
    values = ((name, getattr(item, name)) for name in _layout(kind)[1])
    return {name: value for name, value in values if value is not None}


def identity(item: Item) -> str:
    """The `_id` of the item within its collection."""
    return f"{item.url}#{item.key}" if item.key else item.url


def content_hash(item: Item) -> str:
    """Equal for items that say the same; raises UnstorableError for one that cannot be stored."""
    try:
        return _digest(content(item))
    except (TypeError, ValueError, ArithmeticError, RecursionError) as error:
        raise UnstorableError("unstorable_value", f"{item.url}: {error}") from None


def check(value: Any, where: str, depth: int = 0) -> None:
    """Raise UnstorableError unless MongoDB gives *value* back as it is; *where* names it for people."""
    match value:
        case str():
            _check_text(value, where)
        case None | bool() | datetime() | bytes():
            return
        case dict() | list() | tuple():
            _check_nested(value, where, depth)
        case int():
            if not -(2**63) <= value < 2**63:
                raise UnstorableError("integer_too_large", f"{where}: a whole number that does not fit 64 bits")
        case float():
            if not math.isfinite(value):
                raise UnstorableError("not_finite", f"{where}: {value} cannot be compared")
        case Decimal():
            _check_decimal(value, where)
        case _:
            raise UnstorableError("unstorable_type", f"{where}: {type(value).__qualname__} has no stored form")


def _typed(item: Item, fetched_at: datetime, max_bytes: int) -> Document:
    kind: Any = type(item)
    names, _ = _layout(kind)
    values = {name: getattr(item, name) for name in names}
    if not (isinstance(item.url, str) and item.url):
        raise UnstorableError("missing_url", "url: an item needs the canonical URL of its page")
    _check_fields(values, "", 0)
    digest = _digest(content(item))
    key = identity(item)
    return _document(item.collection, key, digest, values, fetched_at=fetched_at, max_bytes=max_bytes)


def _fields(item: Any) -> dict[str, Any]:
    try:
        return ItemAdapter(item).asdict()
    except RecursionError:
        raise UnstorableError("too_deep", "the item contains itself") from None


def _document(
    collection: str, key: str, digest: str, values: Mapping[str, Any], *, fetched_at: datetime, max_bytes: int
) -> Document:
    moment = fetched_at.astimezone(UTC)
    moment = moment.replace(microsecond=moment.microsecond // 1000 * 1000)
    times = dict.fromkeys(("fetched_at", "first_seen_at", "last_seen_at", "last_changed_at"), moment)
    whole = {"_id": key, **values, "content_hash": digest, **times, "version": 1}
    try:
        body = bson.encode(whole, codec_options=CODEC)
    except (BSONError, OverflowError, ValueError) as error:  # what `check` did not foresee
        raise UnstorableError("unstorable_value", f"{key}: {error}") from None
    if len(body) > max_bytes:
        raise UnstorableError("too_large", f"{key}: {len(body)} bytes, ITEM_MAX_MB allows {max_bytes}")
    return Document(collection, key, digest, moment, RawBSONDocument(body))


@lru_cache(maxsize=256)
def _layout(kind: Any) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """All fields of an item class, and those among them that are content."""
    names = tuple(each.name for each in fields(kind))
    if taken := BOOKKEEPING.intersection(names):
        raise UnstorableError("reserved_field", f"{kind.__name__}.{min(taken)}: this name is the writer's own")
    if not isinstance(getattr(kind, "collection", None), str):
        raise UnstorableError("missing_collection", f"{kind.__name__}: the class names no collection")
    return names, tuple(name for name in names if name not in PROVENANCE)


def _digest(values: Mapping[str, Any]) -> str:
    """Equal exactly when two items say the same; Decimals count by value (10.0 is 10.00)."""
    return blake2b(_encode(values).encode("ascii"), digest_size=16).hexdigest()


def _plain(value: Any) -> dict[str, str]:
    """JSON for what JSON lacks; the name starts with $, which no stored field does."""
    if isinstance(value, Decimal):
        return {"$decimal": str(value.normalize(_DECIMAL128)) if value else "0"}
    if isinstance(value, datetime):
        aware = value if value.tzinfo else value.replace(tzinfo=UTC)
        return {"$time": aware.astimezone(UTC).isoformat(timespec="milliseconds")}
    if isinstance(value, bytes):
        return {"$bytes": value.hex()}
    raise TypeError(f"{type(value).__qualname__} is not a value of MongoDB")


# IEEE 754 decimal128, raising where it would round.
_DECIMAL128 = decimal.Context(
    prec=34, Emin=-6143, Emax=6144, clamp=1, traps=[decimal.InvalidOperation, decimal.Overflow, decimal.Inexact]
)
_encode = json.JSONEncoder(sort_keys=True, allow_nan=False, separators=(",", ":"), default=_plain).encode


def _check_text(value: str, where: str) -> None:
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            raise UnstorableError("lone_surrogate", f"{where}: text with a lone surrogate is not UTF-8") from None


def _check_decimal(value: Decimal, where: str) -> None:
    if not value.is_finite():
        raise UnstorableError("not_finite", f"{where}: {value} cannot be compared")
    try:
        _DECIMAL128.create_decimal(value)
    except decimal.DecimalException:
        text = f"{where}: a decimal of more than 34 digits, or with an exponent beyond 6144"
        raise UnstorableError("decimal_too_long", text) from None


def _check_nested(value: Any, where: str, depth: int) -> None:
    if depth >= MAX_DEPTH:
        raise UnstorableError("too_deep", f"{where[:200]}: nested deeper than {MAX_DEPTH} levels")
    if not isinstance(value, dict):
        for each in value:
            check(each, where, depth + 1)
        return
    for name in value:
        if not isinstance(name, str) or not name or name[0] == "$" or "." in name or "\0" in name:
            text = f"{where}: field name {name!r:.80} is empty, no text, or has $ . or NUL"
            raise UnstorableError("field_name", text)
        _check_text(name, where)
    _check_fields(value, f"{where}.", depth + 1)


def _check_fields(values: Mapping[str, Any], where: str, depth: int) -> None:
    for name, value in values.items():
        if value is None or (type(value) is str and value.isascii()):
            continue  # nearly all there is, and spared a call
        check(value, where + name, depth)
