"""Stored documents as lines of text: JSON Lines, or CSV whose columns are the same for every export."""

from __future__ import annotations

import csv
import dataclasses
import json
import math
from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any, Final, TextIO

from crawler.items import PageItem, ProductItem

# How formulas start, from OWASP's "CSV injection"; the full-width forms are typed in East Asia.
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
_BOOKKEEPING = ("content_hash", "first_seen_at", "last_seen_at", "last_changed_at", "version")


class JsonLines:
    """One JSON object per line. Decimals are strings, to keep every digit, as are NaN and the infinities, which JSON
    lacks; times are ISO 8601."""

    def __init__(self, target: TextIO) -> None:
        self._target = target

    def write(self, document: Mapping[str, Any]) -> None:
        self._target.write(_json(document) + "\n")


class Csv:
    """Comma-separated with a header (RFC 4180). Nested values are JSON, absent ones empty; the column `item.title` is
    that field of `item`.

    Text that spreadsheets would run as a formula gets a leading `'`, which marks it as text: page content is untrusted.
    *raw*: unchanged.
    """

    def __init__(self, target: TextIO, columns: Sequence[str], *, raw: bool = False) -> None:
        self._writer = csv.writer(target)  # \r\n, otherwise a bare \r would not be quoted
        self._columns = columns
        self._text = str if raw else _defused
        self._writer.writerow(map(self._text, columns))

    def write(self, document: Mapping[str, Any]) -> None:
        self._writer.writerow([self._cell(_value(document, column)) for column in self._columns])

    def _cell(self, value: Any) -> str:
        return self._text(value) if isinstance(value, str) else _cell(value)


def columns(collection: str) -> list[str] | None:
    """The columns of our item classes; None for other collections, which have no fixed ones."""
    for kind in (ProductItem, PageItem):
        if kind.collection == collection:
            return ["_id", *(field.name for field in dataclasses.fields(kind)), *_BOOKKEEPING]
    return None


def text(value: Any) -> str:
    """Values without a JSON form, as text."""
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Decimal):
        return f"{value:f}"
    if isinstance(value, bytes):
        return value.hex()
    return str(value)


def _value(document: Mapping[str, Any], column: str) -> Any:
    outer, _, inner = column.partition(".")
    if column in document or not isinstance(within := document.get(outer), Mapping):
        return document.get(column)
    return within.get(inner)


def _defused(value: str) -> str:
    return f"'{value}" if value.startswith(_FORMULA) else value


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, (dict, list, bool)):
        return _json(value)
    return text(value)


def _json(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, default=text, allow_nan=False)
    except ValueError:  # numbers that JSON lacks: rare, so others need not be looked through
        return json.dumps(_finite(value), ensure_ascii=False, default=text)


def _finite(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else f"{'-' if value < 0 else ''}Infinity"  # as decimals are written
    if isinstance(value, Mapping):
        return {name: _finite(each) for name, each in value.items()}
    return [_finite(each) for each in value] if isinstance(value, list) else value
