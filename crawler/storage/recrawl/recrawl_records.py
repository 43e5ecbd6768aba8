"""What `recrawl` reads of documents and of its own records, where another program may have left values of any type.

A text is one whose type is str: BSON's Code is a subclass that has no hash.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from math import isfinite
from typing import Any

from crawler.storage.items.run_items import version
from crawler.storage.items.update import AHEAD


@dataclass(frozen=True, slots=True)
class Visit:
    """The last visit of a document."""

    id: str
    url: str
    at: datetime
    version: int


def visit(document: Mapping[str, Any], now: datetime) -> Visit | None:
    """The last visit of *document*; None if it does not say when that was."""
    key, url, at = document["_id"], document.get("url"), document.get("last_seen_at")
    if not (type(key) is str and isinstance(at, datetime) and at <= now + AHEAD):
        return None
    return Visit(key, url if type(url) is str and url else key, at, version(document))


def spider_of(document: Mapping[str, Any]) -> object:
    """Who stored it."""
    source = document.get("source")
    return source.get("spider") if isinstance(source, Mapping) else None


def is_record(stored: Mapping[str, Any]) -> bool:
    """Whether it is a record as `Recrawl` writes them; another is made anew with the next visit."""
    known = type(stored.get("url")) is str and isinstance(stored.get("visited_at"), datetime)
    return known and isinstance(stored.get("version"), int) and is_estimate(stored)


def is_key(key: object) -> bool:
    """Whether it is the `_id` of the record of a document."""
    return isinstance(key, Mapping) and all(isinstance(key.get(name), str) for name in ("c", "id"))


def is_estimate(stored: Mapping[str, Any]) -> bool:
    """Whether it says how often its document changes."""
    return _is_count(stored.get("changes")) and _is_count(stored.get("seconds"))


def _is_count(value: object) -> bool:
    return isinstance(value, int | float) and isfinite(value) and value > 0
