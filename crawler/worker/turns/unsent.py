"""Requests that wait for a look-up or a connection before they can be written."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class MissedError(Exception):
    """The turn was over before the request was written: the connection took too long, or the worker was frozen, or
    closes."""


class UnsentRequests:
    """A closing worker ends these waits: what is not on the wire goes back to the frontier. A name server that never
    answers would hold the process until its requests time out."""

    def __init__(self) -> None:
        self._waiting: set[asyncio.Task[Any]] = set()
        self.ended = False

    async def wait(self, step: Coroutine[Any, Any, T]) -> T:
        """The result of *step*; raises MissedError once `end` was called."""
        task = asyncio.current_task()
        assert task is not None
        if self.ended:
            step.close()
            raise MissedError
        self._waiting.add(task)
        try:
            return await step
        except asyncio.CancelledError:
            if task in self._waiting or task.uncancel():  # somebody else cancels it, too
                raise
            raise MissedError from None
        finally:
            self._waiting.discard(task)

    def end(self) -> None:
        """Nothing waits any longer, nor from now on."""
        self.ended = True
        while self._waiting:
            self._waiting.pop().cancel()
