"""Memory of what texts mean, bounded in bytes: how long an address or a word is, a site decides."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from hashlib import sha256
from typing import Final, ParamSpec, TypeVar

LONGEST: Final = 512  # bytes of a text that is remembered; addresses of more are rare

P = ParamSpec("P")
R = TypeVar("R")


def cached(entries: int, longest: int = LONGEST) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """An `lru_cache` for functions whose first argument is a text that comes from outside.

    A text of more than *longest* bytes is worked out anew each time, so that *entries* times *longest* bounds the
    memory. It must be given by position, as all arguments must.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        cached = lru_cache(entries)(function)

        @wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            text: str = args[0]  # type: ignore[assignment]
            short = len(text) <= longest if text.isascii() else 4 * len(text) <= longest
            return cached(*args, **kwargs) if short else function(*args, **kwargs)  # type: ignore[arg-type]

        return call

    return decorate


def key(text: str) -> str:
    """*text*, or its digest where it is long: for what remembers texts by themselves."""
    if len(text) <= LONGEST // 4:
        return text
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
