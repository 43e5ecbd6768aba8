"""User-defined patterns for URLs: RE2's, in time linear in the URL."""

from __future__ import annotations

from typing import Final

import re2

LONGEST: Final = 1_000  # characters of a pattern
MEMORY: Final = 1 << 19  # bytes per compiled pattern


class BadPatternError(ValueError):
    """Why a text is not a valid pattern."""


class Pattern:
    """A compiled pattern; compared and pickled by its text."""

    __slots__ = ("_search", "text")

    def __init__(self, text: str) -> None:
        """Raises BadPatternError."""
        self.text = text
        self._search = _compiled(text).search

    def search(self, url: str) -> bool:
        """Whether it matches somewhere in *url*."""
        try:
            return self._search(url) is not None
        except UnicodeEncodeError:  # surrogates for bytes that are not UTF-8
            return self._search(url.encode("utf-8", "replace").decode()) is not None

    def __repr__(self) -> str:
        return f"Pattern({self.text!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Pattern) and other.text == self.text

    def __hash__(self) -> int:
        return hash(self.text)

    def __reduce__(self) -> tuple[type[Pattern], tuple[str]]:
        return Pattern, (self.text,)


def _compiled(text: str) -> re2._Regexp:
    if len(text) > LONGEST:
        raise BadPatternError(f"it has {len(text)} characters, at most {LONGEST} are allowed")
    options = re2.Options()
    options.max_mem, options.log_errors = MEMORY, False
    try:
        return re2.compile(text, options)
    except re2.error as error:
        reason = error.args[0] if error.args else error
        raise BadPatternError(reason.decode(errors="replace") if isinstance(reason, bytes) else str(reason)) from None
    except UnicodeEncodeError:
        raise BadPatternError("a lone surrogate") from None
