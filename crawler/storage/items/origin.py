"""Where an item comes from, by its page and request; items of other classes cannot carry this themselves."""

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
    """Note the origin of the items of *response*."""
    _known[response] = origin


def of(response: Response) -> Origin | None:
    """The noted origin."""
    return _known.get(response)


def current() -> Origin | None:
    """The origin of the item that this task has in the pipelines; None outside of them."""
    return _current.get()


@contextmanager
def being(origin: Origin) -> Iterator[None]:
    """Sets `current` around the pipelines of one item."""
    token = _current.set(origin)
    try:
        yield
    finally:
        _current.reset(token)
