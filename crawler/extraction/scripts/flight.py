"""State of React server components: `self.__next_f.push([1, "..."])`, the stream of a Next.js page's app router.

The strings of all calls make one stream of rows, `id:value`, of which only JSON and texts are read. A value may refer
to another row (`$1f`, `$L2`, `$1f:props:price`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, Final

MAX_CHUNKS: Final = 5_000
MAX_ROWS: Final = 20_000
MAX_NODES: Final = 50_000  # objects and lists searched for references
MAX_STEPS: Final = 20  # of a path in a reference

_PUSH: Final = re.compile(r"__next_f(?:\s{0,3}=[^;(){}]{1,60}\))?+\.push\(\s{0,9}+(?=\[1,)")
_ROW: Final = re.compile(rb"([\da-f]{1,8}+):([A-Z]{0,2}+)")
_LENGTH: Final = re.compile(rb"([\da-f]{1,8}+),")
_REFERENCE: Final = re.compile(r"\$[L@QW]?([\da-f]{1,8})((?::[^:]{1,60}){0,20})")
_ELEMENT: Final = "$"  # first in the list that stands for one
_decoder = json.JSONDecoder(strict=False, parse_float=str, parse_constant=lambda _: None)


def chunks(scripts: Iterable[str]) -> Iterator[str]:
    """The strings that *scripts* push onto the stream."""
    pushes = ((code, push) for code in scripts for push in _PUSH.finditer(code))
    for code, push in islice(pushes, MAX_CHUNKS):
        try:
            value = _decoder.raw_decode(code, push.end())[0]
        except (ValueError, RecursionError):
            continue
        if len(value) > 1 and isinstance(value[1], str):
            yield value[1]


def state(stream: Iterable[str]) -> dict[str, Any] | None:
    """The rows of a *stream* by id, references followed; None if it has none."""
    rows = dict(_rows("".join(stream).encode("utf-8", "replace")))
    _link(rows)
    return {"__next_f": rows} if rows else None


def _rows(stream: bytes) -> Iterator[tuple[str, Any]]:
    at = 0
    for _ in range(MAX_ROWS):
        row = _ROW.match(stream, at)
        if row is None:
            end = stream.find(b"\n", at)
            if end < 0:
                return
            at = end + 1
            continue
        name, at = row[1].decode(), row.end()
        length = _LENGTH.match(stream, at) if row[2] == b"T" else None
        if length is not None:  # a text of so many bytes, and no end of line
            at = length.end() + int(length[1], 16)
            yield name, stream[length.end() : at].decode("utf-8", "replace")
            continue
        end = stream.find(b"\n", at)
        end = len(stream) if end < 0 else end
        if row[2] in (b"", b"J") and (value := _parsed(stream[at:end])) is not None:
            yield name, value
        at = end + 1


def _parsed(row: bytes) -> Any:
    try:
        return _decoder.decode(row.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None


def _link(rows: dict[str, Any]) -> None:
    """Put what references mean in their place."""
    stack: list[Any] = [rows]
    for _ in range(MAX_NODES):
        if not stack:
            return
        of = stack.pop()
        for key, value in of.items() if type(of) is dict else enumerate(of):
            kind = type(value)
            if kind is str:
                if value[:1] == "$" and value != _ELEMENT and of is not rows:
                    of[key] = _meant(value, rows)  # of a key that is there already, so the loop goes on
            elif kind is dict or kind is list:
                stack.append(value)


def _meant(text: str, rows: Mapping[str, Any]) -> Any:
    """What a string that starts with a dollar sign stands for; a second one makes it text."""
    if text[1:2] == "$":
        return text[1:]
    reference = _REFERENCE.fullmatch(text)
    if reference is None:
        return text[2:] if text[1:2] in ("n", "D") else None
    value = rows.get(reference[1])
    for step in reference[2].split(":")[1:]:
        if isinstance(value, dict):
            value = value.get(step)
        elif isinstance(value, list) and value[:1] == [_ELEMENT] and step in ("type", "key", "props"):
            value = dict(zip(("type", "key", "props"), value[1:4], strict=False)).get(step)  # an element
        elif isinstance(value, list) and step.isdecimal() and int(step) < len(value):
            value = value[int(step)]
        else:
            return None
    return value
