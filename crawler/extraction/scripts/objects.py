"""The object around a place in a script, found by its braces: most scripts are programs, and not parsed."""

from __future__ import annotations

import re
from typing import Final

AROUND: Final = 400  # characters on each side of a place that are looked at
MIN_NAME: Final = 6  # letters of a title or identifier that is surely the product's

_BRACE: Final = re.compile(r"[{}]")
_INNER: Final = re.compile(r"\{[^{}]*\}")
LEVELS: Final = 4  # of objects in an object


def opened(before: str) -> str:
    """What *before* has of the object that is still open at its end."""
    depth = 0
    for found in _BRACE.finditer(before[::-1]):
        depth += 1 if found[0] == "}" else -1
        if depth < 0:
            return before[len(before) - found.start() :]
    return before


def closed(after: str, depth: int) -> str:
    """What *after* has of the object that is open at its start, *depth* objects further out."""
    for found in _BRACE.finditer(after):
        depth += 1 if found[0] == "{" else -1
        if depth < 0:
            return after[: found.start()]
    return after


def without_inner(text: str) -> str:
    """*text*, the inside of an object, without the objects in it: as far as they end in it, and at most four deep."""
    for _ in range(LEVELS):
        text = _INNER.sub("", text)
    return text
