"""An item's values in the form in which MongoDB returns them, or the reason they cannot be stored."""

from __future__ import annotations

import decimal
import math
from collections import deque
from collections.abc import Callable, Mapping
from datetime import date, datetime, time
from decimal import Decimal
from enum import Enum
from ipaddress import IPv4Address, IPv6Address
from pathlib import PurePath
from types import NoneType
from typing import Any, Final
from uuid import UUID

from bson import ObjectId
from itemadapter import ItemAdapter
from twisted.python.reflect import safe_str

from crawler.storage.items.codec import DECIMAL128
from crawler.urls import without_login

MAX_DEPTH: Final = 100  # levels; other BSON readers fail beyond it
LIGHT: Final = 10_000  # values that are looked at in some 10 ms; so are LIGHT times _BYTES_AT_ONCE bytes of text
_LEAST_BYTES: Final = 3  # that a value takes: its type, a name of one letter and its end
_BYTES_AT_ONCE: Final = 256
_HARMLESS: Final = frozenset({NoneType, bool, datetime})
_AS_IT_IS: Final = (str, NoneType, bool, datetime, bytes, int, float)
_URL_MODULES: Final = frozenset({"pydantic_core._pydantic_core", "pydantic.networks"})  # no base class, no import


class UnstorableError(ValueError):
    """The item can never be stored; `issue` is a short name for counting, the message says where and why."""

    def __init__(self, issue: str, text: str) -> None:
        super().__init__(text)
        self.issue = issue


class HeavyError(Exception):
    """The item has more values than may be looked at without a pause: this is work for a thread."""


class ItemRoom:
    """How much an item may hold: *most* bytes, counted from below before anything is converted, and while it is looked
    at on the event loop as much as *light* values cost (0: any number)."""

    __slots__ = ("_left", "_light", "_most")

    def __init__(self, most: int, light: int = 0) -> None:
        self._most = self._left = most
        self._light = light

    def take(self, values: int, size: int = 0) -> None:
        """Count so many values, and bytes of text; raises UnstorableError or HeavyError when it is too much."""
        self._left -= values * _LEAST_BYTES + size
        if self._left < 0:
            raise UnstorableError("too_large", f"more than the {self._most} bytes that ITEM_MAX_MB allows")
        if self._light:
            self._light -= values + size // _BYTES_AT_ONCE
            if self._light <= 0:
                raise HeavyError


def storable(values: Mapping[str, Any], room: ItemRoom, where: str = "", depth: int = 0) -> dict[str, Any]:
    """*values* in their stored form, URLs without user and password; *where*, which ends in a dot, names them in
    messages.

    Raises UnstorableError for what MongoDB would refuse or return as something else, or has no *room*.
    """
    room.take(len(values))
    found, size = dict(values), 0
    for name, value in values.items():
        if not (type(name) is str and name.isidentifier()):  # makes the rest cheap
            _check_name(name, where[:-1] or "item")
        kind = type(value)
        if kind is str and value.isascii() and "@" not in value:
            size += len(value)
        elif kind not in _HARMLESS:  # few are left, and those cost a call
            found[name] = _storable(value, room, where + name, depth)
    room.take(0, size)
    return found


def plain(value: Any) -> Any:
    """Convert one level of a value without a MongoDB and JSON type to types that have one; raises TypeError for the
    rest.

    Dates without a time, times, UUIDs, ObjectIds, paths and addresses are text, members of an enumeration their value,
    sets sorted lists, nested items maps of their fields.
    """
    for kinds, form in _FORMS:
        if isinstance(value, kinds):
            return form(value)
    if ItemAdapter.is_item(value):
        return dict(ItemAdapter(value))
    if type(value).__module__ in _URL_MODULES:
        return str(value)
    raise TypeError(f"{type(value).__qualname__} has no stored form")


_FORMS: Final[tuple[tuple[type | tuple[type, ...], Callable[[Any], Any]], ...]] = (
    (Enum, lambda member: member.value),
    ((set, frozenset), lambda members: sorted(members, key=repr)),
    (deque, list),
    ((bytearray, memoryview), bytes),
    (Decimal, Decimal),  # subclasses
    ((PurePath, UUID, ObjectId, IPv4Address, IPv6Address), str),
    ((date, time), lambda moment: moment.isoformat()),
    (Mapping, dict),
)


def _storable(value: Any, room: ItemRoom, where: str, depth: int) -> Any:
    if depth > MAX_DEPTH:
        raise UnstorableError("too_deep", f"{where[:200]}: nested deeper than {MAX_DEPTH} levels")
    if type(value) is Decimal:
        _check_decimal(value, where)
        return value
    if isinstance(value, _AS_IT_IS) and not isinstance(value, Enum):
        if isinstance(value, (str, bytes)):
            room.take(0, len(value))
        _check(value, where)
        return without_login(value) if isinstance(value, str) else value
    if isinstance(value, (dict, list, tuple)):
        return _nested(value, room, where, depth)
    return _storable(_plain(value, where), room, where, depth + 1)


def _check(value: Any, where: str) -> None:
    match value:
        case str():
            _check_text(value, where)
        case bool() | None | datetime() | bytes():
            return
        case int():
            if not -(2**63) <= value < 2**63:
                raise UnstorableError("integer_too_large", f"{where}: an integer that does not fit 64 bits")
        case float():
            if not math.isfinite(value):
                raise UnstorableError("not_finite", f"{where}: {value} cannot be compared")


def _plain(value: Any, where: str) -> Any:
    try:
        return plain(value)
    except Exception as error:  # noqa: BLE001 - such as a lazy property of a nested item
        raise UnstorableError(
            "unstorable_type", f"{where}: {type(value).__qualname__}: {safe_str(error):.200}"
        ) from None


def _nested(value: Any, room: ItemRoom, where: str, depth: int) -> Any:
    if depth >= MAX_DEPTH:
        raise UnstorableError("too_deep", f"{where[:200]}: nested deeper than {MAX_DEPTH} levels")
    if isinstance(value, dict):
        return storable(value, room, f"{where}.", depth + 1)
    room.take(len(value))
    return [_storable(each, room, where, depth + 1) for each in value]


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


def _check_name(name: Any, where: str) -> None:
    if not isinstance(name, str) or not name or name[0] == "$" or "." in name or "\0" in name:
        raise UnstorableError("field_name", f"{where}: field name {name!r:.80} is empty, no text, or has $ . or NUL")
    _check_text(name, where)
