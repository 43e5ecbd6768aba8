"""A page may close its spider and wait for that: in Scrapy each waits for the other, for ever.

An engine closes once all pages have ended, the one that awaits `engine.close_spider_async()` among them. Known
weakness: a page that awaits `engine.stop_async()` still waits for ever, as in Scrapy.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextvars import Context
from functools import partial
from typing import Any, Final

from scrapy.core.engine import ExecutionEngine

from crawler.current_request import current

_closing: Final[set[asyncio.Task[None]]] = set()


def install(engine: ExecutionEngine) -> None:
    """For *engine*: what a page closes goes on without it, and the page ends as it would have."""
    engine.close_spider_async = partial(_close, engine.close_spider_async)  # type: ignore[method-assign]
    engine.stop_async = partial(_stop, engine.stop_async)  # type: ignore[method-assign]


async def _close(close: Callable[..., Coroutine[Any, Any, None]], **named: Any) -> None:
    if current() is None:
        await close(**named)
        return
    task = asyncio.create_task(close(**named), context=Context())  # it is nothing that this page does
    _closing.add(task)
    task.add_done_callback(_closing.discard)


async def _stop(stop: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Waits for the end in any case: Python runs the handler of a signal in the context of a page."""
    await asyncio.create_task(stop(), context=Context())
