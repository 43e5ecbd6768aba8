"""The request that the code running now is about: noted where its download begins, before its callback and before its
errback, read where a line is logged.

Callbacks and timers inherit a context: once the task that it was noted in has ended they are not about this request any
more, and must not keep it in memory. Nor may a context keep its own task: that is a cycle, and each page, the result of
its task, would wait in memory for the garbage collector.
"""

from __future__ import annotations

import asyncio
from contextvars import ContextVar
from typing import Any
from weakref import ReferenceType, ref

from scrapy import Request

_current: ContextVar[tuple[ReferenceType[Request], ReferenceType[asyncio.Task[Any]]] | None] = ContextVar(
    "request", default=None
)


def note(request: Request | None) -> None:
    """From here on this task, and those that it starts while it runs, are about *request*; no task, no note."""
    if request is not None and (task := asyncio.current_task()) is not None:
        _current.set((ref(request), ref(task)))


def current() -> Request | None:
    """The request that this task is about."""
    noted = _current.get()
    task = noted[1]() if noted else None
    return noted[0]() if noted and task is not None and not task.done() else None
