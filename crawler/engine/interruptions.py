"""What code of a project raises that is no Exception: `asyncio.CancelledError`, the panic of a Rust library.

asyncio takes it for the cancellation of its own task, and Scrapy handles only Exceptions: the request would never end,
its worker never close, and nothing be logged.
"""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import Final

_ENDING: Final = (SystemExit, KeyboardInterrupt)  # they end the process, as they do everywhere


class InterruptedPageError(Exception):
    """A callback, middleware, handler or pipeline raised what is no Exception."""


class Uninterrupted:
    """A context that raises InterruptedPageError in place of what is no Exception and does not end the process.

    *cancellable*: except where its own task is cancelled.
    """

    __slots__ = ("_cancellable",)

    def __init__(self, *, cancellable: bool) -> None:
        self._cancellable = cancellable

    def __enter__(self) -> None:
        return

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if error is None or isinstance(error, (Exception, *_ENDING)) or _is_closing(error):
            return
        if self._cancellable and isinstance(error, asyncio.CancelledError) and _is_cancelled():
            return
        text = f"{type(error).__name__}({error!s:.200}) was raised, which is no Exception"
        raise InterruptedPageError(text) from error


UNINTERRUPTED: Final = Uninterrupted(cancellable=False)
CANCELLABLE: Final = Uninterrupted(cancellable=True)


def _is_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _is_closing(error: BaseException) -> bool:
    """Whether the interpreter closes a coroutine that will never be resumed."""
    if not isinstance(error, GeneratorExit):
        return False
    try:
        return asyncio.current_task() is None
    except RuntimeError:  # no event loop runs any more
        return True
