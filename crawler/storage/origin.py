"""Where an item comes from, according to its page and request. Items of other classes
cannot carry this themselves."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final
from weakref import WeakKeyDictionary

from scrapy.http import Response


@dataclass(frozen=True, slots=True)
class Origin:
    """*url* of the page, empty for an item without one; *fetched_at* is aware."""

    url: str
    fetched_at: datetime
    source: dict[str, Any] = field(default_factory=dict)  # spider, worker, request_id, tier, generation


_known: Final[WeakKeyDictionary[Response, Origin]] = WeakKeyDictionary()
_current: Final[ContextVar[Origin | None]] = ContextVar("origin", default=None)


def note(response: Response, origin: Origin) -> None:
    """The items of *response* are of that origin."""
    _known[response] = origin


def of(response: Response) -> Origin | None:
    """What was noted."""
    return _known.get(response)


def current() -> Origin | None:
    """That of the item that is in the pipelines now, in this task; None outside of them."""
    return _current.get()


@contextmanager
def being(origin: Origin) -> Iterator[None]:
    """Around the pipelines of one item."""
    token = _current.set(origin)
    try:
        yield
    finally:
        _current.reset(token)
