"""Memory of what texts mean, bounded in bytes: how long an address or a word is, a site decides."""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from hashlib import sha256
from inspect import signature
from typing import Any, Final, Generic, ParamSpec, TypeVar, cast

LONGEST: Final = 512  # bytes of a text that is remembered; addresses of more are rare

P = ParamSpec("P")
R = TypeVar("R")


class Memo(dict[Any, R], Generic[R]):
    """What *function* gave for its argument: at most *entries* of them, none for a text of over *longest* bytes.

    A dict that asks the function for what it lacks, so that what is remembered costs no call of Python code. A full one
    starts anew: what is used comes back at once. An error is not remembered.
    """

    __slots__ = ("_entries", "_function", "_longest")

    def __init__(self, function: Callable[[Any], R], entries: int, longest: int) -> None:
        self._function = function
        self._entries = entries
        self._longest = longest

    def __missing__(self, argument: Any) -> R:
        found = self._function(argument)
        text: str = argument[0] if type(argument) is tuple else argument
        if (len(text) if text.isascii() else 4 * len(text)) <= self._longest:
            if len(self) >= self._entries:
                self.clear()
            self[argument] = found
        return found


def cached(entries: int, longest: int = LONGEST) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """A memory for functions of texts from outside: see `Memo`. The first argument is the text.

    All arguments must be given by position.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        if len(signature(function).parameters) == 1:
            return cast("Callable[P, R]", Memo(function, entries, longest).__getitem__)
        anyway = cast("Callable[..., R]", function)
        memo: Memo[R] = Memo(lambda arguments: anyway(*arguments), entries, longest)

        def call(*arguments: Any) -> R:
            return memo[arguments]

        return cast("Callable[P, R]", update_wrapper(call, function))

    return decorate


def key(text: str) -> str:
    """*text*, or its digest where it is long: for what remembers texts by themselves."""
    if len(text) <= LONGEST // 4:
        return text
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
