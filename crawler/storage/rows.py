"""Stored documents as lines of text: JSON Lines, or CSV whose columns are the same for every export."""

from __future__ import annotations

import csv
import dataclasses
import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any, TextIO

from crawler.items import PageItem, ProductItem

_BOOKKEEPING = ("content_hash", "first_seen_at", "last_seen_at", "last_changed_at", "version")


class JsonLines:
    """One JSON object per line. Decimals are strings, so that no digit is lost; times are ISO 8601."""

    def __init__(self, target: TextIO) -> None:
        self._target = target

    def write(self, document: Mapping[str, Any]) -> None:
        self._target.write(json.dumps(document, ensure_ascii=False, default=text) + "\n")


class Csv:
    """Comma-separated with a header (RFC 4180). Nested values are JSON, absent ones are empty."""

    def __init__(self, target: TextIO, columns: Sequence[str]) -> None:
        self._writer = csv.writer(target)  # \r\n, else a bare \r would go unquoted
        self._columns = columns
        self._writer.writerow(columns)

    def write(self, document: Mapping[str, Any]) -> None:
        self._writer.writerow([_cell(document.get(column)) for column in self._columns])


def columns(collection: str) -> list[str] | None:
    """The columns of our own item classes; None for another collection, which has no fixed ones."""
    for kind in (ProductItem, PageItem):
        if kind.collection == collection:
            return ["_id", *(field.name for field in dataclasses.fields(kind)), *_BOOKKEEPING]
    return None


def text(value: Any) -> str:
    """What JSON has no form for, as text."""
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Decimal):
        return f"{value:f}"
    if isinstance(value, bytes):
        return value.hex()
    return str(value)


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, (dict, list, bool)):
        return json.dumps(value, ensure_ascii=False, default=text)
    return text(value)
