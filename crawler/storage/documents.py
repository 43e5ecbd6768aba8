"""An item as the document that is stored, or the reason why it cannot be: nothing is altered on the way."""

from __future__ import annotations

import decimal
import math
import operator
import re
import types
from collections.abc import Callable, Mapping
from dataclasses import fields
from datetime import UTC, datetime
from decimal import Decimal
from functools import lru_cache
from typing import Any, Final, NamedTuple

import bson
from bson.errors import BSONError
from bson.raw_bson import RawBSONDocument
from itemadapter import ItemAdapter

from crawler.items import Item
from crawler.policy.duplicates import is_distinctive
from crawler.storage.codec import CODEC, DECIMAL128
from crawler.storage.digest import digest_of

MAX_DEPTH: Final = 100  # levels; beyond it other readers of BSON give up
UNTYPED: Final = "items"  # the collection of what is not one of our item classes

# What the writer keeps about a document; an item class may not have fields of these names.
BOOKKEEPING: Final = frozenset(
    {"_id", "content_hash", "first_seen_at", "last_seen_at", "last_changed_at", "version", "pending_changes"}
)
# What says how an item came about. It changes with each fetch, so it is no part of the content.
PROVENANCE: Final = frozenset({"url", "key", "fetched_at", "source", "issues", "found_in"})
_COLLECTION: Final = re.compile(r"(?!system\.)[^$\0.](?:[^$\0]{0,118}[^$\0.])?")
_IMMUTABLE: Final = frozenset({types.NoneType, bool, int, float, str, bytes, Decimal, datetime})
_HARMLESS: Final = frozenset({types.NoneType, bool, bytes, datetime})


class UnstorableError(ValueError):
    """This item can never be stored; `issue` is a short name to count by, the text says where and why."""

    def __init__(self, issue: str, text: str) -> None:
        super().__init__(text)
        self.issue = issue


class Document(NamedTuple):
    """One observation, ready to be sent: its body is encoded once, here, so that a bad one harms no other."""

    collection: str
    id: str
    content_hash: str
    fetched_at: datetime
    body: RawBSONDocument
    distinctive: bool = False  # whether another URL of its host with this content is the same thing

    @property
    def naive_time(self) -> datetime:
        """`fetched_at` without its zone, which is UTC."""
        return self.fetched_at.replace(tzinfo=None)


class _Layout(NamedTuple):
    """The fields of an item class, and how to read them; those among them that are content."""

    names: tuple[str, ...]
    values: Callable[[Any], tuple[Any, ...]]
    content_names: tuple[str, ...]
    content_values: Callable[[Any], tuple[Any, ...]]


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
    digest, moment = digest_of(values), _moment(fetched_at)
    return Document(UNTYPED, digest, digest, moment, _body(digest, {"item": values}, digest, moment, max_bytes))


def content(item: Item) -> dict[str, Any]:
    """What the item says: its fields without provenance.

    A field that is None counts as absent, so that a new optional field of an item class changes no document.
    """
    kind: Any = type(item)
    layout = _layout(kind)
    pairs = zip(layout.content_names, layout.content_values(item), strict=True)
    return {name: value for name, value in pairs if value is not None}


def identity(item: Item) -> str:
    """The `_id` of the item within its collection."""
    return f"{item.url}#{item.key}" if item.key else item.url


def content_hash(item: Item) -> str:
    """Equal for items that say the same; raises UnstorableError for one that cannot be stored.

    It is kept on the item, and worked out again when a field holds another object since; beside a value that can
    change by itself (a dict, a list) it is not kept.
    """
    kind: Any = type(item)
    values = _layout(kind).content_values(item)
    if (kept := item.kept_hash(values)) is not None:
        return kept
    try:
        digest = digest_of(content(item))
    except (TypeError, ValueError, ArithmeticError, RecursionError) as error:
        raise UnstorableError("unstorable_value", f"{item.url}: {error}") from None
    if _IMMUTABLE.issuperset(map(type, values)):
        item.keep_hash(values, digest)
    return digest


def is_collection(name: object) -> bool:
    """Whether MongoDB takes *name* for a collection of ours; every write to another would fail, over and over."""
    return isinstance(name, str) and name.isprintable() and _COLLECTION.fullmatch(name) is not None


def check(value: Any, where: str, depth: int = 0) -> None:
    """Raise UnstorableError unless MongoDB gives *value* back as it is; *where* names it for people."""
    match value:
        case str():
            _check_text(value, where)
        case dict() | list() | tuple():
            _check_nested(value, where, depth)
        case None | bool() | datetime() | bytes():
            return
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
    layout = _layout(kind)
    values = dict(zip(layout.names, layout.values(item), strict=True))
    if not (isinstance(item.url, str) and item.url):
        raise UnstorableError("missing_url", "url: an item needs the canonical URL of its page")
    _check_fields(values, "", 0)
    moment = _moment(fetched_at)
    digest, key = content_hash(item), identity(item)
    return Document(
        item.collection, key, digest, moment, _body(key, values, digest, moment, max_bytes), is_distinctive(item)
    )


def _fields(item: Any) -> dict[str, Any]:
    try:
        return ItemAdapter(item).asdict()
    except RecursionError:
        raise UnstorableError("too_deep", "the item contains itself") from None


def _moment(fetched_at: datetime) -> datetime:
    moment = fetched_at.astimezone(UTC)
    return moment.replace(microsecond=moment.microsecond // 1000 * 1000)


def _body(key: str, values: Mapping[str, Any], digest: str, moment: datetime, max_bytes: int) -> RawBSONDocument:
    naive = moment.replace(tzinfo=None)  # the same to MongoDB, and spared a question for its zone
    times = dict.fromkeys(("fetched_at", "first_seen_at", "last_seen_at", "last_changed_at"), naive)
    whole = {"_id": key, **values, "content_hash": digest, **times, "version": 1}
    try:
        body = bson.encode(whole, codec_options=CODEC)
    except (BSONError, OverflowError, ValueError) as error:  # what `check` did not foresee
        raise UnstorableError("unstorable_value", f"{key}: {error}") from None
    if len(body) > max_bytes:
        raise UnstorableError("too_large", f"{key}: {len(body)} bytes, ITEM_MAX_MB allows {max_bytes}")
    return RawBSONDocument(body)


@lru_cache(maxsize=256)
def _layout(kind: Any) -> _Layout:
    names = tuple(each.name for each in fields(kind))
    if taken := BOOKKEEPING.intersection(names):
        raise UnstorableError("reserved_field", f"{kind.__name__}.{min(taken)}: this name is the writer's own")
    if not is_collection(name := getattr(kind, "collection", None)):
        text = f"{kind.__name__}: its `collection` is {name!r:.80}, not the name of a collection"
        raise UnstorableError("missing_collection", text)
    said = tuple(name for name in names if name not in PROVENANCE)
    return _Layout(names, _reader(names), said, _reader(said))


def _reader(names: tuple[str, ...]) -> Callable[[Any], tuple[Any, ...]]:
    if len(names) > 1:
        return operator.attrgetter(*names)  # a tuple only of more than one, and many times as fast
    return lambda item: tuple(getattr(item, name) for name in names)


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
        DECIMAL128.create_decimal(value)
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
        if not (type(name) is str and name.isidentifier()):  # all but spares the rest
            _check_name(name, where)
    _check_fields(value, f"{where}.", depth + 1)


def _check_name(name: Any, where: str) -> None:
    if not isinstance(name, str) or not name or name[0] == "$" or "." in name or "\0" in name:
        raise UnstorableError("field_name", f"{where}: field name {name!r:.80} is empty, no text, or has $ . or NUL")
    _check_text(name, where)


def _check_fields(values: Mapping[str, Any], where: str, depth: int) -> None:
    for name, value in values.items():
        kind = type(value)
        if kind in _HARMLESS or (kind is str and value.isascii()):
            continue  # nearly all there is, and spared a call
        check(value, where + name, depth)
