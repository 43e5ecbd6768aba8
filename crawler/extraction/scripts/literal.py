"""JavaScript object literals that are not JSON, read as data: `{name: 'Knife', price: 12.50, sold: !1, at: f()}`.

Nothing is executed: an expression becomes None, but for the parameters of a function that only returns a literal, which
is how Nuxt 2 writes its state. One pass over tokens, without recursion; the number of tokens is bounded.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

MAX_TOKENS: Final = 40_000  # per page, some 25 ms
MAX_DEPTH: Final = 200
MAX_PARAMETERS: Final = 5_000
IN_VAIN: Final = 100  # characters read as JSON in the time of a token

DECODER: Final = json.JSONDecoder(strict=False, parse_float=str, parse_constant=lambda _: None)

_TOKEN: Final = re.compile(
    r"(?:[\s\ufeff]++|//[^\n]*+|/\*[^*]*+(?:\*(?!/)[^*]*+)*+\*/)*+(?:"
    r"(?P<string>\"[^\"\\\n]*+(?:\\[\s\S][^\"\\\n]*+)*+\"|'[^'\\\n]*+(?:\\[\s\S][^'\\\n]*+)*+'|`[^`\\$]*+(?:\\[\s\S][^`\\$]*+)*+`)"
    r"|(?P<number>-?(?:0[xX][\da-fA-F]{1,15}+|\d{1,40}+(?:\.\d{0,40}+)?+(?:[eE][+-]?\d{1,3}+)?+|\.\d{1,40}+))(?![\w$])"
    r"|(?P<word>[^\W\d]|\$)(?P<rest>[\w$]{0,80}+)|(?P<sign>[\[\]{}(),:])|(?P<other>=>|(?!/\*)[^\s\"'`]))"
)
_ESCAPE: Final = re.compile(r"\\(?:u([\da-fA-F]{4})|x([\da-fA-F]{2})|\r?\n|([\s\S]))")
_PLAIN_ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": ""}
_CONSTANTS: Final = {"true": True, "false": False, "null": None, "undefined": None, "NaN": None, "Infinity": None}
_CALLED: Final = re.compile(r"\(function\(([\w$,\s]{0,60000}+)\)\s{0,9}+\{")
_RETURN: Final = re.compile(r"\breturn\s{0,9}+(?=[{\[])")
_JSON: Final = frozenset('"{[')  # after the bracket of what may be JSON
_OPEN: Final = frozenset("[{(")
_CLOSE: Final = frozenset("]})")


class _Name(str):
    """A variable in place of a value."""

    __slots__ = ()


@dataclass(slots=True)
class Allowance:
    """Tokens that may still be read of a page."""

    tokens: int = MAX_TOKENS


@dataclass(slots=True)
class _Reader:
    """Reads one literal; `names` are the places where a variable stands."""

    text: str
    at: int
    budget: Allowance
    names: list[tuple[Any, Any, str]] = field(default_factory=list)

    def token(self) -> tuple[str, str]:
        """(kind, text) of the next one; raises ValueError if there is none or too many were read."""
        found = _TOKEN.match(self.text, self.at)
        self.budget.tokens -= 1
        if found is None or self.budget.tokens < 0:
            raise ValueError("no literal")
        self.at = found.end()
        kind = found.lastgroup or ""
        return ("word", found["word"] + found["rest"]) if kind == "rest" else (kind, found[kind])

    def value(self) -> Any:
        """The object or list that begins here; raises ValueError if it does not end."""
        stack = [self._opened(self.token()[1])]
        while True:
            of = stack[-1]
            key = self._key() if isinstance(of, dict) else self._member()
            if key is None:
                stack.pop()
                if not stack:
                    return of
                self._end_of_value()
                continue
            before = self.at
            kind, text = self.token()
            if kind == "sign" and text in "[{" and len(stack) < MAX_DEPTH:
                if self.text[self.at : self.at + 1] in _JSON and (inner := self._json(self.at - 1)) is not None:
                    _put(of, key, inner)
                    self._end_of_value()
                    continue
                inner = self._opened(text)
                _put(of, key, inner)
                stack.append(inner)
                continue
            value = self._scalar(kind, text, before)
            _put(of, key, value)
            if isinstance(value, _Name):
                self.names.append((of, key if isinstance(of, dict) else len(of) - 1, value))

    def _json(self, start: int) -> Any:
        """The object or list at *start* if it is JSON, read at a fifth of the cost; else None.

        What was read in vain counts as tokens.
        """
        try:
            value, self.at = DECODER.raw_decode(self.text, start)
        except json.JSONDecodeError as error:
            end = len(self.text) if error.msg.startswith("Unterminated") else error.pos  # then it was read to the end
            self.budget.tokens -= 1 + (end - start) // IN_VAIN
        except (ValueError, RecursionError):  # a number of thousands of digits; too deep
            self.budget.tokens -= IN_VAIN
        else:
            return value
        return None

    def _opened(self, sign: str) -> Any:
        if sign not in ("{", "["):
            raise ValueError("no object")
        return {} if sign == "{" else []

    def _key(self) -> str | None:
        """The next key and its colon; None at the end of the object. A method or a spread is passed over."""
        while True:
            kind, text = self.token()
            if kind == "sign" and text == "}":
                return None
            if kind == "sign" and text == ",":
                continue
            before = self.at
            if kind in ("string", "word", "number") and self.token() == ("sign", ":"):
                return _unquoted(text) if kind == "string" else text
            self.at = before
            self._end_of_value()

    def _member(self) -> bool | None:
        """True if the list goes on, None at its end."""
        while True:
            before = self.at
            token = self.token()
            if token == ("sign", "]"):
                return None
            if token != ("sign", ","):
                self.at = before
                return True

    def _scalar(self, kind: str, text: str, before: int) -> Any:
        """The value that begins with this token, and ends at a comma or a bracket; None for an expression."""
        value: Any = None
        if kind == "string":
            value = _unquoted(text)
        elif kind == "number":
            value = _number(text)
        elif kind == "word":
            value = _CONSTANTS.get(text) if text in _CONSTANTS else _Name(text)
        elif kind == "other" and text == "!":
            kind, text = self.token()
            value = {"0": True, "1": False}.get(text)
        else:
            self.at = before
        return value if self._end_of_value() else None

    def _end_of_value(self) -> bool:
        """Go on to the next comma or closing bracket; whether there was nothing before it."""
        depth, plain = 0, True
        while True:
            before = self.at
            kind, text = self.token()
            if kind == "sign" and depth == 0 and text in ",]}":
                self.at = before
                return plain
            plain = False
            if kind == "sign" and text in _OPEN:
                depth += 1
            elif kind == "sign" and text in _CLOSE:
                depth -= 1
                if depth < 0:
                    raise ValueError("brackets do not match")


def read(text: str, start: int, budget: Allowance) -> tuple[Any, int]:
    """(value, end) of the literal at *start* of *text*; numbers with a fraction stay strings, variables are None.

    Raises ValueError if there is none, or if *budget* is used up.
    """
    reader = _Reader(text, start, budget)
    value = reader.value()
    _fill(reader.names, {})
    return value, reader.at


def string(text: str, start: int, budget: Allowance) -> tuple[str, int]:
    """(value, end) of the string at *start* of *text*, in quotes of any kind; raises ValueError if there is none."""
    reader = _Reader(text, start, budget)
    kind, written = reader.token()
    if kind != "string":
        raise ValueError("no string")
    return _unquoted(written), reader.at


def returned(text: str, start: int, budget: Allowance) -> Any:
    """What `(function(a,b){return {x: a}}(1,2))` at *start* of *text* returns; None for anything else."""
    called = _CALLED.match(text, start)
    body = _RETURN.search(text, called.end()) if called else None
    if called is None or body is None:
        return None
    reader = _Reader(text, body.end(), budget)
    value = reader.value()
    for sign in "}(":
        if ";" in text[reader.at : reader.at + 3]:
            reader.at = text.index(";", reader.at) + 1
        if reader.token() != ("sign", sign):
            return None
    names = [each.strip() for each in called[1].split(",", MAX_PARAMETERS)]
    _fill(reader.names, dict(zip(names, _arguments(reader), strict=False)))
    return value


def _arguments(reader: _Reader) -> Iterator[Any]:
    """The values up to the closing parenthesis."""
    while True:
        before = reader.at
        kind, text = reader.token()
        if kind == "sign" and text in "{[":
            inner = _Reader(reader.text, before, reader.budget)
            value = inner.value()
            _fill(inner.names, {})
            reader.at = inner.at
        elif (kind, text) == ("sign", ")"):
            return
        elif (kind, text) == ("sign", ","):
            continue
        elif kind == "word" and text == "void":
            reader.token()
            value = None
        else:
            value = _argument(reader, kind, text)
        yield value


def _argument(reader: _Reader, kind: str, text: str) -> Any:
    if kind == "string":
        return _unquoted(text)
    if kind == "number":
        return _number(text)
    return {"0": True, "1": False}.get(reader.token()[1]) if text == "!" else _CONSTANTS.get(text)


def _fill(places: list[tuple[Any, Any, str]], values: dict[str, Any]) -> None:
    for of, key, name in places:
        of[key] = values.get(name)


def _put(of: Any, key: Any, value: Any) -> None:
    if isinstance(of, dict):
        of[key] = value
    else:
        of.append(value)


def _number(text: str) -> Any:
    return int(text, 16) if text[:2].lower() == "0x" else int(text) if text.lstrip("-").isdecimal() else text


def _unquoted(text: str) -> str:
    inside = text[1:-1]
    if "\\" not in inside:
        return inside
    if text[0] == '"':
        try:
            return str(json.loads(text, strict=False))
        except ValueError:
            return _ESCAPE.sub(_unescaped, inside)  # it has escapes that JSON has not
    return _ESCAPE.sub(_unescaped, inside)


def _unescaped(escape: re.Match[str]) -> str:
    if code := escape[1] or escape[2]:
        return chr(int(code, 16))
    return _PLAIN_ESCAPES.get(escape[3], escape[3]) if escape[3] else ""
