"""Ends tasks even if a client library swallows their cancellation, or a name server never answers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Final, TypeVar

from crawler.utils.lookups import MOST_AT_ONCE, LookupThreads, start_apart

AGAIN_SECONDS: Final = 0.5

T = TypeVar("T")


async def end(*tasks: asyncio.Task[Any]) -> None:
    """Cancel *tasks* until each has ended; their results are left to the caller.

    Python 3.11's `asyncio.wait_for`, which the Redis and MongoDB clients use, swallows a cancellation that arrives as
    it ends: a task with a loop would run for ever, and so would whoever waits for it.
    """
    pending = {task for task in tasks if not task.done()}
    while pending:
        for task in pending:
            task.cancel()
        _, pending = await asyncio.wait(pending, timeout=AGAIN_SECONDS)


async def finished(task: asyncio.Task[Any]) -> None:
    """End *task*, whose failure is nobody's any more."""
    await end(task)
    if not task.cancelled():
        task.exception()


def run(main: Coroutine[Any, Any, T]) -> T:
    """`asyncio.run` whose first Ctrl-C ends *main*, and what it leaves running, for certain (see `end`), and raises
    KeyboardInterrupt."""
    return asyncio.run(_interruptible(main))


def run_apart(main: Coroutine[Any, Any, T]) -> T:
    """`run` in a thread: this one has an event loop already, which does not run yet. Ctrl-C does not wait for it."""
    return start_apart(lambda: run(main), "apart").result()


async def apart(work: Callable[[], T]) -> T:
    """What *work* returns or raises, in a thread: Ctrl-C, which ends who waits for it, does not wait itself."""
    return await asyncio.wrap_future(start_apart(work, "apart"))


async def _interruptible(main: Coroutine[Any, Any, T]) -> T:
    LookupThreads(MOST_AT_ONCE).serve(asyncio.get_running_loop())
    task = asyncio.ensure_future(main)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await end(task)
        if not task.cancelled() and (error := task.exception()):
            raise error from None
        raise
    finally:  # `asyncio.run` cancels the others only once, and waits for them without end
        await end(*(asyncio.all_tasks() - {asyncio.current_task()}))
