"""Many short texts that are looked for in a page at once. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache, cached_property
from typing import Any, Final

import re2

PARTED_BYTES: Final = 8_192
PATTERN_SIGNS: Final = 2_000  # of one pattern: RE2 keeps states for what it has seen, and is slow once it has no room
SENTENCE_BYTES: Final = 1_024  # of a menu without full stops
SPREAD: Final = 3
MOST_SENTENCES: Final = 200
_END: Final = re.compile("[!?]|。|！|？|[.](?= )".encode())
_REST: Final = r"(?:[^.!?。！？]|[.][^ ])*"  # of a sentence; `1.2.3.4` does not end one
_ROOMY: Final = re2.Options()
_ROOMY.max_mem = 24 << 20
_EITHER: Final = re.compile(r"\[([^\]]*)\]")


class Signs(tuple[str, ...]):  # noqa: SLOT001 - a tuple can have no slot for the pattern
    """RE2 reads a page once for PATTERN_SIGNS of them, in linear time, where `in` reads it once for each: 174 signs
    cost 2 µs in a page of 1 KB instead of 60, and 1.5 ms instead of 130 in 1 MB of slashes. Compiled on first use."""

    def any_in(self, where: str | bytes) -> bool:
        """Whether one of them is in *where*; bytes are UTF-8, broken or not."""
        source = where.encode("utf-8", "replace") if isinstance(where, str) else where
        for search in self._searches:  # noqa: SIM110 - a generator would take three times as long
            if search(source) is not None:
                return True
        return False

    @cached_property
    def _searches(self) -> list[Callable[[bytes], object]]:
        parts = range(0, len(self), PATTERN_SIGNS)
        patterns = ["|".join(map(_form, self[part : part + PATTERN_SIGNS])) for part in parts]
        return [re2.compile(pattern, _ROOMY).search for pattern in patterns]


class Phrasings:
    """Signs in which `[a|b]` stands for either text, `*` for anything within a sentence, and ` & ` between parts says
    that one sentence has them all, in any order; three parts or more may be spread over two sentences.

    Those with `*` or `&` are tried one by one, and only if parts of them are there: in one pattern, RE2 would have to
    keep a state for each combination of beginnings that it has seen.
    """

    def __init__(self, phrases: Iterable[str]) -> None:
        self._phrases = tuple(phrases)
        plain = [phrase for phrase in self._phrases if " & " not in phrase]
        self._joint = [tuple(map(_part, phrase.split(" & "))) for phrase in self._phrases if " & " in phrase]
        self._parted = [phrase.replace("* ", "*") for phrase in plain if "*" in phrase]
        self._whole = Signs(one for phrase in plain if "*" not in phrase for one in _each(phrase))
        self._ends = Signs(one for phrase in self._parted for one in _each(phrase.rpartition("*")[2]))
        self._firsts = Signs(dict.fromkeys(one for parts in self._joint for one in parts[0]))
        self._near = Signs((*self._whole, *self._ends, *self._firsts))  # nearly every text has none of them

    def __iter__(self) -> Iterator[str]:
        return iter(self._phrases)

    def any_in(self, where: str) -> bool:
        """Whether one of them is in *where*; those with `*` or `&`, in its first PARTED_BYTES."""
        source = b" " + where.encode("utf-8", "replace") + b" "
        return self._near.any_in(source) and (
            self._whole.any_in(source) or self._any_parted(source) or self._any_joint(source[:PARTED_BYTES])
        )

    def _any_parted(self, source: bytes) -> bool:
        if not self._ends.any_in(source):
            return False
        source = source[:PARTED_BYTES]
        there = set(self._beginnings.Match(source) or ()).intersection(self._endings.Match(source) or ())
        return any(self._searches[index](source) is not None for index in there)

    def _any_joint(self, source: bytes) -> bool:
        if not self._firsts.any_in(source):
            return False
        there = cache(lambda part: part.any_in(source))
        return any(all(map(there, parts)) and _agree(parts, source) for parts in self._joint)

    @cached_property
    def _beginnings(self) -> Any:
        return _alternatives(phrase.partition("*")[0] for phrase in self._parted)

    @cached_property
    def _endings(self) -> Any:
        return _alternatives(phrase.rpartition("*")[2] for phrase in self._parted)

    @cached_property
    def _searches(self) -> list[Callable[[bytes], object]]:
        return [re2.compile(_REST.join(map(_either, phrase.split("*")))).search for phrase in self._parted]


def _alternatives(parts: Iterable[str]) -> Any:
    """What tells the numbers of those *parts* that a text has."""
    found = re2.Set.SearchSet(_ROOMY)
    for part in parts:
        found.Add(_either(part))
    found.Compile()
    return found


def _agree(parts: tuple[Signs, ...], text: bytes) -> bool:
    """Whether a sentence has all *parts*."""
    sentences = [b" " + sentence + b" " for sentence in _END.split(text, MOST_SENTENCES)[:MOST_SENTENCES]]
    pairs = zip(sentences, [*sentences[1:], b""], strict=True)
    spans = sentences if len(parts) < SPREAD else [one + two for one, two in pairs]
    return any(all(part.any_in(span[:SENTENCE_BYTES]) for part in parts) for span in spans)


@cache
def _part(phrase: str) -> Signs:
    return Signs(_each(phrase))


def _each(phrase: str) -> Iterator[str]:
    """The texts that *phrase*, which has no `*`, stands for."""
    first = _EITHER.search(phrase)
    if first is None:
        yield phrase
        return
    for text in first[1].split("|"):
        yield from _each(phrase[: first.start()] + text + phrase[first.end() :])


def _either(phrase: str) -> str:
    return "(?:" + "|".join(map(_form, _each(phrase))) + ")"


def _form(sign: str) -> str:
    return str(re2.escape(sign))
