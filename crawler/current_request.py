"""The request that the code running now is about: noted where its download begins, before its callback and before its
errback, read where a line is logged.

Callbacks and timers inherit a context: once the task that it was noted in has ended they are not about this request any
more, and must not keep it in memory.
"""

from __future__ import annotations

import asyncio
from contextvars import ContextVar
from typing import Any
from weakref import ReferenceType, ref

from scrapy import Request

_current: ContextVar[tuple[ReferenceType[Request], asyncio.Task[Any]] | None] = ContextVar("request", default=None)


def note(request: Request | None) -> None:
    """From here on this task, and those that it starts while it runs, are about *request*; no task, no note."""
    if request is not None and (task := asyncio.current_task()) is not None:
        _current.set((ref(request), task))


def current() -> Request | None:
    """The request that this task is about."""
    noted = _current.get()
    return noted[0]() if noted and not noted[1].done() else None
