"""The errors of what runs without Scrapy: to load it takes 0.3 s and 20 MB in each supervisor of a bundled server.

Everywhere else they are imported from `errors.py`.
"""

from __future__ import annotations

from typing import Final

_SHOWN: Final = 300  # characters of a wrong value
_END: Final = 100  # of these: a path, and a URL, ends with what tells it from others


class ShoalError(Exception):
    """Something a person has to fix; commands print it as one line and exit with status 2."""


class ConfigError(ShoalError):
    """A setting, rule file or environment variable has an invalid value. *expected* completes "expected ..."."""

    def __init__(self, name: str, value: object, expected: str) -> None:
        super().__init__(f"{name} = {shown(value)} is invalid: expected {expected}")
        self.name = name
        self.value = value
        self.expected = expected


def shown(value: object) -> str:
    """*value* for a message, however long it is."""
    return clipped(repr(value))


def clipped(text: str) -> str:
    """*text* in a line that can be read."""
    if len(text) <= _SHOWN:
        return text
    return f"{text[: _SHOWN - _END]}...{text[-_END:]} ({len(text)} characters)"


class ServiceError(ShoalError):
    """Redis or MongoDB cannot be reached, or the embedded servers cannot be started."""
