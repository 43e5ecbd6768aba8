"""Connections that were lost right before somebody wrote to them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from redis.exceptions import ConnectionError as RedisConnectionError


@contextmanager
def naming_lost() -> Iterator[None]:
    """Raise redis-py's error for a lost connection where redis-py lets another one pass."""
    try:
        yield
    except (RuntimeError, AttributeError) as error:
        if not _was_closed(error):
            raise
        raise RedisConnectionError("the connection was closed") from error


def _was_closed(error: RuntimeError | AttributeError) -> bool:
    """Whether it is uvloop's error for that (after a reset), or redis-py's None in place of a stream: a Cluster client
    closes all connections at once, including those that other tasks are about to write to."""
    if isinstance(error, AttributeError):
        return error.obj is None and error.name is not None
    return "the handler is closed" in str(error)
