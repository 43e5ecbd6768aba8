"""An item as the stored document, or the reason why it cannot be stored: no value is altered."""

from __future__ import annotations

import operator
import sys
import types
from collections.abc import Callable, Mapping
from dataclasses import fields
from datetime import UTC, datetime
from decimal import Decimal
from functools import lru_cache
from typing import Any, Final, NamedTuple

import bson
from bson import ObjectId
from bson.errors import BSONError
from bson.raw_bson import RawBSONDocument
from itemadapter import ItemAdapter
from twisted.python.reflect import safe_str

from crawler.items import Item
from crawler.policy.items.duplicates import is_distinctive
from crawler.storage.collection_names import UNTYPED, is_collection
from crawler.storage.items.codec import CODEC
from crawler.storage.items.digest import digest_of
from crawler.storage.items.origin import Origin
from crawler.storage.items.values import LIGHT, HeavyError, ItemRoom, UnstorableError, storable
from crawler.urls import without_credentials, without_login

# The writer's own fields; item classes may not have fields with these names.
BOOKKEEPING: Final = frozenset(
    {"_id", "content_hash", "first_seen_at", "last_seen_at", "last_changed_at", "version", "pending_changes"}
)
# Provenance. It changes with each fetch, so it is not part of the content.
PROVENANCE: Final = frozenset({"url", "key", "fetched_at", "source", "issues", "found_in"})
_IMMUTABLE: Final = frozenset({types.NoneType, bool, int, float, str, bytes, Decimal, datetime})


class StoredDocument(NamedTuple):
    """One observation, ready to be sent: its body is encoded once, here, so that a bad one cannot spoil a batch."""

    collection: str
    id: str
    content_hash: str
    fetched_at: datetime
    body: RawBSONDocument
    distinctive: bool = False  # whether another URL of the host with this content is the same item
    run: str = ""  # that it was fetched in, where that is known

    @property
    def naive_time(self) -> datetime:
        """`fetched_at` without its zone, which is UTC."""
        return self.fetched_at.replace(tzinfo=None)


class _Layout(NamedTuple):
    """The fields of an item class, how to read them, and which are content."""

    names: tuple[str, ...]
    values: Callable[[Any], tuple[Any, ...]]
    content_names: tuple[str, ...]
    content_values: Callable[[Any], tuple[Any, ...]]


def document(
    item: Any, fetched_at: datetime, max_bytes: int, origin: Origin | None = None, light: int = 0
) -> StoredDocument:
    """The document of *item*, fetched at the aware time *fetched_at* (kept in milliseconds).

    A dataclass derived from Item is identified by URL and key. Any other item is identified by its content, page and
    spider (*origin*) in the collection `items`. Raises UnstorableError for what MongoDB would refuse or return as
    something else and for an item that cannot be read, HeavyError for one of more than *light* values (0: any number).
    """
    try:
        moment, room = moment_of(fetched_at), ItemRoom(max_bytes, light)
        if isinstance(item, Item):
            return _typed(item, moment, max_bytes, room)
        return _untyped(item, moment, max_bytes, room, origin)
    except (UnstorableError, HeavyError):
        raise
    except Exception as error:  # noqa: BLE001 - the item's own, which may raise at any touch
        raise unreadable(item, error) from None


def unreadable(item: Any, error: Exception) -> UnstorableError:
    """What is said of an item that raises *error* when it is looked at."""
    return UnstorableError(
        "unreadable", f"{type(item).__qualname__} raises {type(error).__name__}: {safe_str(error):.200}"
    )


def _untyped(item: Any, moment: datetime, max_bytes: int, room: ItemRoom, origin: Origin | None) -> StoredDocument:
    values = storable(_fields(item), room, "item.")
    digest = _digest(values, "item")
    if origin is None:
        return StoredDocument(
            UNTYPED, digest, digest, moment, _body(digest, {"item": values}, digest, moment, max_bytes)
        )
    key = digest_of({"item": digest, "spider": origin.source.get("spider", ""), "url": origin.url})
    whole = {"url": origin.url, "item": values, "source": storable(origin.source, ItemRoom(max_bytes), "source.")}
    body = _body(key, whole, digest, moment, max_bytes)
    return StoredDocument(UNTYPED, key, digest, moment, body, run=run_in(origin.source))


def content(item: Item) -> dict[str, Any]:
    """The item's fields without provenance.

    A field that is None counts as absent, so that a new optional field of an item class changes no document.
    """
    kind: Any = type(item)
    layout = _layout(kind)
    pairs = zip(layout.content_names, layout.content_values(item), strict=True)
    return {name: value for name, value in pairs if value is not None}


def identity(item: Item) -> str:
    """The `_id` of the item within its collection."""
    url = without_credentials(item.url) if isinstance(item.url, str) else item.url
    return f"{url}#{item.key}" if item.key else url


def content_hash(item: Item) -> str:
    """Equal for items with equal content; raises UnstorableError for one that cannot be stored, HeavyError for one of
    more than LIGHT values.

    Cached on the item and computed again if a field holds another object; not cached if a value is mutable (a dict, a
    list), or stored without its login.
    """
    kind: Any = type(item)
    values = _layout(kind).content_values(item)
    if (kept := item.kept_hash(values)) is not None:
        return kept
    if not _IMMUTABLE.issuperset(map(type, values)) or any(map(_has_login, values)):
        return _digest(storable(content(item), ItemRoom(sys.maxsize, LIGHT)), item.url)
    digest = _digest(content(item), item.url)
    item.keep_hash(values, digest)
    return digest


def _has_login(value: object) -> bool:
    return isinstance(value, str) and without_login(value) != value


def _typed(item: Item, moment: datetime, max_bytes: int, room: ItemRoom) -> StoredDocument:
    kind: Any = type(item)
    layout = _layout(kind)
    values = dict(zip(layout.names, layout.values(item), strict=True))
    if not (isinstance(item.url, str) and item.url):
        raise UnstorableError("missing_url", "url: an item needs the canonical URL of its page")
    for name, allowed in (("source", dict), ("issues", list)):
        if not isinstance(values[name], allowed):
            raise UnstorableError("wrong_type", f"{name} = {values[name]!r:.80} is no {allowed.__name__}")
    values = storable(values | {"url": without_credentials(item.url)}, room)
    said = {name: values[name] for name in layout.content_names if values[name] is not None}
    digest = item.kept_hash(layout.content_values(item)) or _digest(said, item.url)
    key = identity(item)
    body = _body(key, values, digest, moment, max_bytes)
    return StoredDocument(item.collection, key, digest, moment, body, is_distinctive(item), run_in(item.source))


def run_in(source: object) -> str:
    """The run that the source of an item names; "" for none."""
    run = source.get("run") if isinstance(source, Mapping) else None
    return run if isinstance(run, str) else ""


def _fields(item: Any) -> dict[str, Any]:
    """The content of any item that Scrapy supports; raises what a field without a value, or a lazy one, does."""
    if not ItemAdapter.is_item(item):
        raise UnstorableError("not_an_item", f"not an item, but of type {type(item).__name__}: {item!r:.200}")
    fields = dict(item) if type(item) is dict else dict(ItemAdapter(item))  # an adapter takes long for many fields
    if isinstance(fields.get("_id"), ObjectId):
        del fields["_id"]  # `insert_one` of a project's own pipeline has put it there: another one each time
    return fields


def moment_of(fetched_at: Any) -> datetime:
    """The time as stored, in UTC; raises UnstorableError for anything else. Without a zone it is taken as UTC."""
    if not isinstance(fetched_at, datetime):
        raise UnstorableError("wrong_type", f"fetched_at = {fetched_at!r:.80} is not a datetime")
    try:
        moment = (fetched_at if fetched_at.tzinfo else fetched_at.replace(tzinfo=UTC)).astimezone(UTC)
    except OverflowError:
        raise UnstorableError("unstorable_value", f"fetched_at = {fetched_at!r:.80} is not a time in UTC") from None
    return moment.replace(microsecond=moment.microsecond // 1000 * 1000)


def _digest(values: Mapping[str, Any], where: Any) -> str:
    try:
        return digest_of(values)
    except Exception as error:  # noqa: BLE001 - JSON's, or of a date beyond the calendar
        raise UnstorableError("unstorable_value", f"{where!s:.200}: {safe_str(error):.200}") from None


def _body(key: str, values: Mapping[str, Any], digest: str, moment: datetime, max_bytes: int) -> RawBSONDocument:
    naive = moment.replace(tzinfo=None)  # the same to MongoDB, without asking the zone for its offset
    times = dict.fromkeys(("fetched_at", "first_seen_at", "last_seen_at", "last_changed_at"), naive)
    whole = {"_id": key, **values, "content_hash": digest, **times, "version": 1}
    try:
        body = bson.encode(whole, codec_options=CODEC)
    except (BSONError, OverflowError, ValueError) as error:  # what `check` did not catch
        raise UnstorableError("unstorable_value", f"{key}: {error}") from None
    if len(body) > max_bytes:
        raise UnstorableError("too_large", f"{key}: {len(body)} bytes, ITEM_MAX_MB allows {max_bytes}")
    return RawBSONDocument(body)


@lru_cache(maxsize=256)
def _layout(kind: Any) -> _Layout:
    names = tuple(each.name for each in fields(kind))
    if taken := BOOKKEEPING.intersection(names):
        raise UnstorableError("reserved_field", f"{kind.__name__}.{min(taken)}: this name is reserved for the writer")
    if not is_collection(name := getattr(kind, "collection", None)):
        text = f"{kind.__name__}: its `collection` is {name!r:.80}, not the name of a collection"
        raise UnstorableError("missing_collection", text)
    said = tuple(name for name in names if name not in PROVENANCE)
    return _Layout(names, _reader(names), said, _reader(said))


def _reader(names: tuple[str, ...]) -> Callable[[Any], tuple[Any, ...]]:
    if len(names) > 1:
        return operator.attrgetter(*names)  # returns a tuple only for several names, and is many times as fast
    return lambda item: tuple(getattr(item, name) for name in names)
