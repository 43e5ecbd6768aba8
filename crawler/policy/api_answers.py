"""Finds fields in the responses of scraping APIs. Pure."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


class AnswerError(Exception):
    """A provider's response does not have the configured form."""


@dataclass(frozen=True, slots=True)
class PageFound:
    """The target's response, as reported by a provider."""

    status: int
    headers: Sequence[tuple[str, str]]
    body: bytes
    cost: float


def at(document: Any, path: str) -> Any:
    """The value at *path* (`page.headers`, `results.0.url`); None if there is none."""
    for part in path.split(".") if path else ("",):
        if isinstance(document, list) and part.isdecimal() and len(part) < 9 and int(part) < len(document):
            document = document[int(part)]
        elif isinstance(document, dict):
            document = document.get(part)
        else:
            return None
    return document


def pairs(told: Any) -> list[tuple[str, str]]:
    """Headers as a map, a map of lists, or a list of names and values; each line of a value becomes a value, as
    browsers join several, so that a value sent back (a cookie) has no line break. A name with one is left out."""
    if isinstance(told, list):
        told = {str(one.get("name")): one.get("value") for one in told if isinstance(one, dict)}
    if not isinstance(told, dict):
        return []
    several = {name: value if isinstance(value, list) else [value] for name, value in told.items()}
    texts = [(_text(name), _text(value).replace("\0", " ")) for name, values in several.items() for value in values]
    return [(name, line) for name, text in texts if len(name.splitlines()) == 1 for line in text.splitlines()]


def _text(told: Any) -> str:
    """*told* as a text that can be encoded: JSON may hold half of a surrogate pair."""
    return str(told).encode("utf-8", "replace").decode()


def parsed(answer: bytes) -> Any:
    """*answer* parsed as JSON; raises AnswerError."""
    try:
        return json.loads(answer)
    except (ValueError, RecursionError):
        raise AnswerError("the answer is not JSON") from None
