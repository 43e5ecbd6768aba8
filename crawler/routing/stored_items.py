"""Items in a queued request's meta and cb_kwargs: the name of their class and their fields; and, as if they were
items, values of plain kinds that msgpack does not know. A release that does not know a name gives the request back.

Only item classes of the spider's own project, or that its modules import, are rebuilt, from their fields alone: no
module is imported and no constructor runs, so that write access to Redis does not mean running code in a worker.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import date, datetime
from decimal import Decimal
from functools import partial
from typing import Any, Final, NamedTuple

import msgpack
from itemadapter import ItemAdapter
from scrapy import Item, Spider

from crawler.errors import OtherReleaseError

CODE: Final = 2  # msgpack extension type; 1 is that of page methods


class _Value(NamedTuple):
    kind: type
    stored: Callable[[Any], Any]
    restored: Callable[[Any], Any]


def hashable(value: Any) -> Any:
    """*value*, with tuples for its lists, which they were."""
    return tuple(map(hashable, value)) if isinstance(value, list) else value


_VALUES: Final = {
    "datetime:datetime": _Value(datetime, datetime.isoformat, datetime.fromisoformat),  # those without a zone
    "datetime:date": _Value(date, date.isoformat, date.fromisoformat),
    "decimal:Decimal": _Value(Decimal, str, Decimal),
    "builtins:set": _Value(set, list, lambda found: set(map(hashable, found))),
    "builtins:frozenset": _Value(frozenset, list, lambda found: frozenset(map(hashable, found))),
}
MAX_DEPTH: Final = 20  # items in items: each takes 50 KB of the C stack to unpack, which ends a process when it is full


def packed(value: Any, spider: Spider | type[Spider], depth: int = 0) -> bytes:
    """*value*, which may hold items and is itself in *depth* of them; raises TypeError, ValueError and OverflowError
    like msgpack, TypeError for what is no item that workers of *spider* know by its name."""
    body: bytes = msgpack.packb(value, datetime=True, default=lambda one: _stored(one, spider, depth + 1))
    return body


def _stored(value: Any, spider: Spider | type[Spider], depth: int) -> msgpack.ExtType:
    cls = type(value)
    if depth > MAX_DEPTH:
        raise ValueError(f"items in items, more than {MAX_DEPTH} deep")
    name = f"{cls.__module__}:{cls.__qualname__}"
    if (plain := _VALUES.get(name)) and plain.kind is cls:
        fields = packed(plain.stored(value), spider, depth)
        plain.restored(unpacked(fields, spider, "", depth))  # an item with a tuple, now a list, is in no set any more
        return msgpack.ExtType(CODE, msgpack.packb([name, fields]))
    if isinstance(value, dict) or not ItemAdapter.is_item(value):
        raise TypeError(f"type {cls.__name__} cannot be stored")
    if _named(name, spider) is not cls:
        raise TypeError(f"{name} is not an item class of the spider's own project, nor one that its module imports")
    fields = packed(dict(ItemAdapter(value)), spider, depth)
    return msgpack.ExtType(CODE, msgpack.packb([name, fields]))


def unpacked(body: bytes, spider: Spider | type[Spider], url: str, depth: int = 0) -> Any:
    """The inverse of `packed`, for the request of *url*; raises OtherReleaseError for an item whose class this release
    lacks, or knows with other fields."""

    def restored(code: int, data: bytes) -> Any:
        if code != CODE:
            return msgpack.ExtType(code, data)
        if depth == MAX_DEPTH:
            raise ValueError(f"items in items, more than {MAX_DEPTH} deep")
        name, fields = msgpack.unpackb(data)
        if name in _VALUES:
            return _VALUES[name].restored(unpacked(fields, spider, url, depth + 1))
        cls = _named(name, spider)
        if cls is None:
            raise OtherReleaseError(spider.name, "item class", name, url)
        return _rebuilt(cls, unpacked(fields, spider, url, depth + 1), spider, url)

    return msgpack.unpackb(body, timestamp=3, strict_map_key=False, ext_hook=restored)


def unpacked_to_read(body: bytes, depth: int = 0) -> Any:
    """*body* for people to read: keys are texts, as JSON needs them; an item that is damaged or too deep stays as it
    is."""
    inner = partial(_readable, depth=depth)
    return msgpack.unpackb(body, timestamp=3, strict_map_key=False, ext_hook=inner, object_pairs_hook=_with_text_keys)


def _readable(code: int, data: bytes, depth: int) -> Any:
    with suppress(ValueError, TypeError, msgpack.UnpackException):
        if code == CODE and depth < MAX_DEPTH:
            name, fields = msgpack.unpackb(data)
            read = unpacked_to_read(fields, depth + 1)
            return read if name in _VALUES else {"item": name, "fields": read}
    return msgpack.ExtType(code, data)


def _with_text_keys(pairs: Iterable[tuple[Any, Any]]) -> dict[str, Any]:
    texts = ((key.decode(errors="backslashreplace") if isinstance(key, bytes) else key, value) for key, value in pairs)
    return {str(key): value for key, value in texts}


def _named(name: str, spider: Spider | type[Spider]) -> Any:
    """The item class of that *name*, if it is one that workers of *spider* have; else None."""
    module, _, path = name.partition(":")
    found: Any = sys.modules.get(module)
    for part in path.split("."):
        found = vars(found).get(part) if hasattr(found, "__dict__") else None
    if not (isinstance(found, type) and ItemAdapter.is_item_class(found)) or issubclass(found, dict):
        return None
    own = list(_modules(spider))
    is_ours = module.partition(".")[0] in {each.partition(".")[0] for each in own}
    return found if is_ours or any(found in _values(each) for each in own) else None


def _modules(spider: Spider | type[Spider]) -> Iterator[str]:
    """Those in which *spider* and its base classes are."""
    for one in (spider if isinstance(spider, type) else type(spider)).__mro__:
        if one is not object:
            yield one.__module__


def _values(module: str) -> list[Any]:
    return [value for value in vars(sys.modules.get(module, object)).values() if isinstance(value, type)]


def _rebuilt(cls: Any, fields: Mapping[str, Any], spider: Spider | type[Spider], url: str) -> Any:
    known = ItemAdapter.get_field_names_from_class(cls) or ()
    if other := [name for name in fields if name not in known]:
        raise OtherReleaseError(spider.name, "field", f"{cls.__name__}.{other[0]}", url)
    if hasattr(cls, "model_construct"):  # of pydantic
        return cls.model_construct(**fields)
    item = cls.__new__(cls)
    if isinstance(item, Item):
        Item.__init__(item)
        item.update(fields)
        return item
    for name, value in (_defaults(cls) | dict(fields)).items():
        object.__setattr__(item, name, value)
    return item


def _defaults(cls: Any) -> dict[str, Any]:
    """What a dataclass or attrs class gives to fields that the release that stored the item had not."""
    if dataclasses.is_dataclass(cls):
        made = {one.name: one.default_factory() for one in dataclasses.fields(cls) if callable(one.default_factory)}
        plain = {one.name: one.default for one in dataclasses.fields(cls) if one.default is not dataclasses.MISSING}
        return made | plain
    import attrs

    given: dict[str, Any] = {one.name: one.default for one in attrs.fields(cls) if one.default is not attrs.NOTHING}
    factory: Any = attrs.Factory
    return {name: one.factory() if isinstance(one, factory) else one for name, one in given.items() if not _waits(one)}


def _waits(default: Any) -> bool:
    """Whether an attrs class makes it of the object that it is for."""
    return getattr(default, "takes_self", False) is True
