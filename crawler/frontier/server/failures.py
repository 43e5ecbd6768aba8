"""Turns redis-py's errors into the frontier's own: code outside `frontier/` does not know the driver."""

from __future__ import annotations

import inspect
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, Final

from redis.exceptions import (
    AskError,
    ClusterError,
    ExecAbortError,
    OutOfMemoryError,
    ReadOnlyError,
    RedisClusterException,
    RedisError,
    ResponseError,
    TryAgainError,
)

from crawler.frontier.errors import (
    FrontierError,
    FrontierFullError,
    FrontierRefusedError,
    FrontierUnavailableError,
)

# Refusals of a server that is failing over, full, or cannot write its disk: they end once that is fixed.
_PASSING: Final = (ReadOnlyError, OutOfMemoryError, ClusterError, TryAgainError, AskError, ExecAbortError)
_PASSING_CODES: Final = frozenset({"MISCONF", "NOREPLICAS", "BUSY", "LOADING", "UNKILLABLE"})


def translated(error: Exception) -> FrontierError:
    """The frontier's error for the driver's *error*."""
    if isinstance(error, OutOfMemoryError):
        return FrontierFullError(str(error))
    if isinstance(error, ResponseError) and not _passes(error):
        return FrontierRefusedError(f"Redis refuses what this worker asks for, and waiting would not help: {error}")
    return FrontierUnavailableError(str(error) or type(error).__name__)


def _passes(error: ResponseError) -> bool:
    return isinstance(error, _PASSING) or str(error).partition(" ")[0] in _PASSING_CODES


@contextmanager
def translating() -> Iterator[None]:
    """Translates the driver's errors raised inside."""
    try:
        yield
    except (RedisError, RedisClusterException, OSError) as error:
        raise translated(error) from error


class Commands:
    """A client whose commands raise the frontier's errors. Its pipelines need `translating` around them."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(self._client, name)
        if not callable(attribute):
            return attribute

        def command(*arguments: Any, **options: Any) -> Any:
            result = attribute(*arguments, **options)
            return _served(result) if inspect.iscoroutine(result) else result

        return command


async def _served(call: Coroutine[Any, Any, Any]) -> Any:
    with translating():
        return await call
