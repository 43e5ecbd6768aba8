"""TOML files that people write: their tables, and the line of a key, for errors."""

from __future__ import annotations

import re
import tomllib
from typing import Any

_HEADER = re.compile(r"\s*\[\s*(.*?)\s*\]\s*(?:#.*)?$")
_KEY = re.compile(r"\s*((?:\"[^\"]*\"|'[^']*'|[\w.-]+|\s*\.\s*)+)\s*=")
_PART = re.compile(r"\"([^\"]*)\"|'([^']*)'|([\w-]+)")
_AT_LINE = re.compile(r"at line (\d+)")


class TomlTextError(Exception):
    """A text that is no TOML: why, the number of the line, and the line itself."""

    def __init__(self, why: str, line: int, text: str) -> None:
        super().__init__(why)
        self.line = line
        self.text = text


def tables(text: str) -> dict[str, Any]:
    """What *text* says; raises TomlTextError."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        why = str(error)
    except RecursionError:
        why = "brackets are nested too deep"
    except ValueError as error:  # a number with thousands of digits, a date that does not exist
        why = str(error).partition(";")[0]
    lines = text.splitlines() or [""]
    found = _AT_LINE.search(why)
    number = min(int(found[1]) if found else len(lines), len(lines))
    raise TomlTextError(why, number, lines[number - 1].strip())


def line_of(text: str, path: tuple[str, ...]) -> int:
    """The line of the key at *path*, or of its nearest parent, which tomllib does not give. Reads the whole text: only
    for errors."""
    best, line = 0, 1
    table: tuple[str, ...] = ()
    for number, source in enumerate(text.splitlines(), 1):
        if header := _HEADER.match(source):
            table = _parts(header[1])
            here = table
        elif key := _KEY.match(source):
            here = table + _parts(key[1])
        else:
            continue
        if len(here) > best and here == path[: len(here)]:
            best, line = len(here), number
    return line


def _parts(dotted: str) -> tuple[str, ...]:
    return tuple(next(part for part in match if part) for match in _PART.findall(dotted) if any(match))
