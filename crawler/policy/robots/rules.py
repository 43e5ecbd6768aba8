"""Which URLs the rules of one group of a robots.txt allow, as in RFC 9309 and in Protego.

Protego asks each rule in turn: a file of 500 KB took 0.1 s a URL, and up to a second to parse. Here a URL is looked up
among the plain rules, and of the others only those are matched that share their longest part with it; these are found
by the last characters of that part. A file may have tens of thousands of them, made for one URL: beyond MOST_COMPARED
those left count as matching if they are a Disallow, so that what is forbidden is never fetched.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple
from urllib.parse import quote, urlsplit

MOST_COMPARED: Final = 5_000  # texts of patterns with `*` per URL; real files need a few dozen
PROBE: Final = 4  # characters of a pattern by which it is looked up
_PLAIN_URL: Final = re.compile(r"https?://[^/?#]*(/(?!/)[A-Za-z0-9_.~/=-]*)")
_PLAIN_PATTERN: Final = re.compile(r"[A-Za-z0-9_.~/=*-]+\$?")
_ESCAPE: Final = re.compile(rb"%([0-9A-Fa-f]{2})")
_STARS: Final = re.compile(r"\*+")
_INDEX: Final = "index.html"
_DOLLAR: Final = "%24"
# Escaped, these mean something else than themselves.
_IN_URL: Final = "/%"
_IN_PATTERN: Final = "/%*"


class _Wild(NamedTuple):
    """A pattern with `*` in it, by the texts between; *key* is the rarest of them."""

    key: str
    priority: int
    allows: bool
    start: str
    middle: tuple[str, ...]
    end: str
    anchored: bool  # at the end of the URL

    def matches(self, path: str) -> bool:
        """Whether the whole pattern does."""
        if not path.startswith(self.start):
            return False
        at = len(self.start)
        for part in self.middle:
            found = path.find(part, at)
            if found < 0:
                return False
            at = found + len(part)
        if self.anchored:
            return len(path) - len(self.end) >= at and path.endswith(self.end)
        return path.find(self.end, at) >= 0


class PathRules:
    """The longest pattern that matches a URL decides, of equally long ones an `Allow`; without any it is allowed."""

    def __init__(self, rules: Iterable[tuple[bool, str]]) -> None:
        """*rules* are pairs: whether it is an `Allow`, and its value."""
        found: dict[str, bool] = {}
        for allows, value in rules:
            for pattern in _patterns(value, allows=allows):
                found[pattern] = allows or found.get(pattern, False)
        self._prefixes = {one: allows for one, allows in found.items() if "*" not in one and one[-1] != "$"}
        self._lengths = sorted({len(one) for one in self._prefixes}, reverse=True)
        self._whole = {one[:-1]: allows for one, allows in found.items() if "*" not in one and one[-1] == "$"}
        wild = [_wild(one, allows) for one, allows in found.items() if "*" in one]
        self._wild = sorted(wild, key=lambda one: (one.priority, one.allows), reverse=True)
        self._places: dict[str, list[int]] = {}  # in `_wild`, by the end of their keys
        for place, rule in enumerate(self._wild):
            self._places.setdefault(rule.key[-PROBE:] if len(rule.key) >= PROBE else rule.key[-1:], []).append(place)
        self._sizes = {len(probe) for probe in self._places}

    def allow(self, url: str) -> bool:
        """Whether they do."""
        path = _path(url)
        if path == "/robots.txt":
            return True
        best = self._plain(path)
        left = MOST_COMPARED
        for place in self._candidates(path):
            rule = self._wild[place]
            if (rule.priority, rule.allows) <= best:
                break
            left -= 2 + len(rule.middle)
            if (rule.key in path and rule.matches(path)) if left > 0 else not rule.allows:
                return rule.allows
        return best[1]

    def _candidates(self, path: str) -> list[int]:
        """The places of the patterns with `*` that may match, best first."""
        found: list[int] = []
        for size in self._sizes:
            for probe in {path[at : at + size] for at in range(len(path) - size + 1)}:
                found += self._places.get(probe, ())
        found.sort()
        return found

    def _plain(self, path: str) -> tuple[int, bool]:
        """The priority of the best pattern without `*`, and whether it allows."""
        if path in self._whole:
            return len(path) + 1, self._whole[path]
        for length in self._lengths:
            if length <= len(path) and (allows := self._prefixes.get(path[:length])) is not None:
                return length, allows
        return -1, True


def _patterns(value: str, *, allows: bool) -> Iterator[str]:
    """What a rule means, normalized: a `$` may also be a plain character, and an index page stands for its folder."""
    if not value:
        return
    for one in (value, value.replace("$", _DOLLAR)) if "$" in value else (value,):
        pattern = _normalized_pattern(one)
        yield pattern
        if allows and pattern.endswith(f"/{_INDEX}"):
            yield f"{pattern.removesuffix(_INDEX)}$"


def _wild(pattern: str, allows: bool) -> _Wild:
    start, *middle, end = _STARS.sub("*", pattern.removesuffix("$")).split("*")
    key = max((start, *middle, end), key=lambda text: (_DOLLAR in text, len(text)))
    return _Wild(key, len(pattern), allows, start, tuple(middle), end, pattern[-1] == "$")


def _path(url: str) -> str:
    """Path and query, normalized."""
    if plain := _PLAIN_URL.fullmatch(url):
        return plain[1]
    url = url.partition("#")[0]
    parts = urlsplit(url)
    if parts.path == "/robots.txt":
        return parts.path
    path = _normalized(f"{parts.path}?{parts.query}" if "?" in url else parts.path, _IN_URL)
    return path if path.startswith("/") else f"/{path}"


def _normalized_pattern(pattern: str) -> str:
    if _PLAIN_PATTERN.fullmatch(pattern.removesuffix(_DOLLAR)):
        return pattern
    if pattern.startswith(("https://", "http://")):
        pattern = f"/{pattern}"
    anchor = "$" * pattern.endswith("$")
    return _normalized(pattern.removesuffix("$"), _IN_PATTERN) + anchor


def _normalized(text: str, kept: str) -> str:
    """*text* with each character escaped that has to be, and no other but *kept*."""
    if "%" in text:
        text = _ESCAPE.sub(lambda escape: _unescaped(escape, kept), text.encode(errors="replace")).decode(
            errors="replace"
        )
    return quote(text, safe=f"{kept}=", errors="replace")


def _unescaped(escape: re.Match[bytes], kept: str) -> bytes:
    char = bytes.fromhex(escape[1].decode())
    return escape[0].upper() if char.decode("latin-1") in kept else char
