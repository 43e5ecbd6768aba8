"""Lets a page close its own spider, or stop its crawl: `await self.crawler.engine.close_spider_async()` in a callback.

A spider is closed once all its pages have come to their end. In Scrapy a page that waits for that waits for itself, for
ever, and no signal but the second ends the process.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from contextvars import Context, ContextVar
from functools import partial
from typing import Any, Final

from scrapy.core.engine import ExecutionEngine

from crawler.current_request import current

METHODS: Final = ("close_spider_async", "stop_async")

_waited_for: Final = ContextVar("waited_for", default=False)


@contextmanager
def waited_for() -> Iterator[None]:
    """What runs here is part of no page, and yet a spider that closes waits for it."""
    token = _waited_for.set(True)
    try:
        yield
    finally:
        _waited_for.reset(token)


def install(engine: ExecutionEngine) -> None:
    """Let neither of *engine*'s methods make a page, or a download beside it, wait for its own end."""
    closing: set[asyncio.Task[None]] = set()  # the event loop alone would not keep them
    for name in METHODS:
        setattr(engine, name, partial(_unawaited, getattr(engine, name), closing))


async def _unawaited(
    close: Callable[..., Coroutine[Any, Any, None]], closing: set[asyncio.Task[None]], **named: Any
) -> None:
    if current() is None and not _waited_for.get():
        await close(**named)
        return
    # about no request: what it calls waits for the pages
    task = asyncio.get_running_loop().create_task(close(**named), context=Context())
    closing.add(task)
    task.add_done_callback(closing.discard)
