"""Readers of single values that people write in TOML or as a setting: value in, checked value out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

Reader = Callable[[Any], Any]


class BadValueError(Exception):
    """An invalid value: the value, what was expected, and its place below the key."""

    def __init__(self, value: object, expected: str, path: tuple[str, ...] = ()) -> None:
        super().__init__(expected)
        self.value = value
        self.expected = expected
        self.path = path


def boolean(raw: Any) -> bool:
    """true or false."""
    if not isinstance(raw, bool):
        raise BadValueError(raw, "true or false")
    return raw


def number(low: float, high: float) -> Reader:
    """A reader for numbers in [low, high]."""

    def reader(raw: Any) -> float:
        if isinstance(raw, bool) or not isinstance(raw, (int, float)) or not low <= raw <= high:
            raise BadValueError(raw, f"a number from {low} to {high}")
        return float(raw)

    return reader


def integer(low: int, high: int) -> Reader:
    """A reader for integers in [low, high]."""

    def reader(raw: Any) -> int:
        if isinstance(raw, bool) or not isinstance(raw, int) or not low <= raw <= high:
            raise BadValueError(raw, f"an integer from {low} to {high}")
        return raw

    return reader


def choice(*allowed: str) -> Reader:
    """A reader for one of the *allowed* words."""

    def reader(raw: Any) -> str:
        if raw not in allowed:
            raise BadValueError(raw, "one of " + ", ".join(allowed))
        return str(raw)

    return reader


def table(raw: Any, readers: Mapping[str, Reader]) -> dict[str, Any]:
    """The values of a table whose keys are those of *readers*."""
    if not isinstance(raw, dict):
        raise BadValueError(raw, "a table of " + ", ".join(readers))
    values: dict[str, Any] = {}
    for key, value in raw.items():
        if key not in readers:
            raise BadValueError(key, "one of " + ", ".join(readers), (str(key),))
        try:
            values[key] = readers[key](value)
        except BadValueError as error:
            raise BadValueError(error.value, error.expected, (key, *error.path)) from None
    return values
