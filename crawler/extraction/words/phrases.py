"""Finds the few among many short texts that may say one of some phrases, without trying a pattern on each.

A pattern of a hundred phrases takes 100 ns for each letter of a page, a search for letters that a phrase must have
takes 0.5 ns.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, cached_property
from itertools import accumulate
from typing import Final

LEAST: Final = 3  # letters that pay; fewer of scripts whose letters are rare on a page

_PIECE: Final = re.compile(r"\\.|\[(?:\\.|[^]\\])*\]|\{[^}]*\}|\((?:\?[a-z]*:|\?<?[=!])?|.", re.DOTALL)

Runs = frozenset[str]


class Phrases:
    """What texts must contain to match one of some patterns."""

    def __init__(self, patterns: Iterable[str]) -> None:
        needed = {pattern: letters(pattern) for pattern in patterns}
        others = [pattern for pattern, found in needed.items() if not found]
        every = {each for found in needed.values() for each in found}
        self._letters: list[str] = []  # none of them part of another: that is found with it
        for each in sorted(every, key=lambda run: (len(run), run)):
            if not any(run in each for run in self._letters):
                self._letters.append(each)
        self._others = re.compile("|".join(others), re.MULTILINE) if others else None

    def among(self, texts: Sequence[str]) -> list[int]:
        """Which of *texts* may match, in order; each that matches is among them."""
        searched = _Lines(texts)
        found = {line for each in self._letters if each in searched.joined for line in searched.with_letters(each)}
        if self._others is not None:
            found.update(searched.like(self._others))
        return sorted(found)

    def may_be_in(self, text: str) -> bool:
        """Whether one *text* may match."""
        return any(each in text for each in self._letters) or bool(self._others and self._others.search(text))


class _Lines:
    """Texts as lines of one: a search in each costs more than one in all."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = texts
        self.joined = "\n".join(texts)

    @cached_property
    def _ends(self) -> list[int]:
        return list(accumulate(len(text) + 1 for text in self._texts))

    def with_letters(self, letters: str) -> Iterator[int]:
        at = self.joined.find(letters)
        while at >= 0:
            line = bisect_right(self._ends, at)
            yield line
            at = self.joined.find(letters, self._ends[line])

    def like(self, pattern: re.Pattern[str]) -> Iterator[int]:
        match = pattern.search(self.joined)
        while match is not None and match.start() < len(self.joined):
            line = bisect_right(self._ends, match.start())
            yield line
            match = pattern.search(self.joined, self._ends[line])


@cache  # languages share those of English; all are of the program
def letters(pattern: str) -> Runs:
    """Runs of letters, one of which each match of *pattern* has; none if they would be too short to be rare."""
    found, _ = _alternatives(_PIECE.findall(pattern), 0)
    return found if all(map(_is_rare, found)) else frozenset()


def _is_rare(run: str) -> bool:
    return len(run) >= (LEAST if run.isascii() else LEAST // 2 + 1)


def _alternatives(pieces: Sequence[str], at: int) -> tuple[Runs, int]:
    """(runs, place behind) of the alternatives that begin *at* a place and end with their group; {""} if one has
    none."""
    found: Runs = frozenset()
    while True:
        runs, at = _sequence(pieces, at)
        found |= runs
        if at >= len(pieces) or pieces[at] == ")":
            return found, at + 1
        at += 1


def _sequence(pieces: Sequence[str], at: int) -> tuple[Runs, int]:
    """(the rarest that each match has, place of its end) of one alternative: a run, or those of a group's
    alternatives."""
    has: list[Runs] = []
    run = ""
    while at < len(pieces) and pieces[at] not in ("|", ")"):
        piece, at = pieces[at], at + 1
        inside, at = _alternatives(pieces, at) if piece[0] == "(" else (frozenset[str](), at)
        following = pieces[at][0] if at < len(pieces) else ""
        is_optional = following != "" and following in "?*{"
        is_letter = (len(piece) == 1 and piece not in "^$.") or (piece[0] == "\\" and not piece[1].isalnum())
        if is_letter and not is_optional and not inside:
            run += piece[-1]
            if following != "+":
                continue
        has.append(frozenset((run,)))
        run = ""
        if piece in ("(", "(?:", "(?m:") and not is_optional:
            has.append(inside)
        while at < len(pieces) and pieces[at][0] in "?*+{":
            at += 1
    return max(*has, frozenset((run,)), frozenset(("",)), key=lambda runs: min(map(len, runs))), at
