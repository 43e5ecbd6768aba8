"""Keeps texts from growing piece by piece: each piece copies what the parser has of that text so far.

A parser ignores some tags: the end of what is not open, <td> outside tables, <form> in a form. The texts around them
are one text to it, which is copied whenever a value, a comment or another text has been stored since: 1 MB of
`</b a=b>x` takes 5 GB. So does text between the rows of a table, which is put before the table, and text behind
</body>. Where copies may be too many, an element parts texts that are too long for the number of tags. Behind
<frameset>, and <col> in a template, all tags are ignored: a long page loses those two.

Reading all tags takes longer than parsing, so pages are sampled, at more length where the first samples have such tags.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from random import randrange
from typing import Final

from crawler.extraction.source import tokens
from crawler.extraction.source.tokens import ATTRIBUTE, RAW, SCRIPT_TEXT, Token, compiled

SMALL: Final = 120_000  # bytes; a shorter page cannot take too much
# Bytes copied, at so many for each tag: the memory it takes, though less with fewer than three values between texts.
MOST: Final = 200_000_000
MOST_LIKELY: Final = 230_000_000  # the same by samples, before all tags are read
EVERY: Final = 10_000  # bytes between samples
SAMPLE: Final = 300  # bytes
SELDOM: Final = 20_000  # bytes between longer samples
OFTEN: Final = 5_000  # the same where these find much: all that they tell of may stand in a few places
LONG: Final = 2_000  # bytes of one; with texts longer than that there are too few to harm
PARTING: Final = b"<!----><embed>"  # the one parts what is in a table, the other what is put before it

_CELLS: Final = frozenset((b"td", b"th", b"caption"))
_ROWS: Final = frozenset((b"tr", b"tbody", b"thead", b"tfoot", b"col", b"colgroup"))
# They are ignored, or they stay in a table while texts around them do not.
_PASSED: Final = frozenset(
    (b"body", b"form", b"frame", b"frameset", b"head", b"html", b"image", b"input", b"script", b"style")
)
_UNCERTAIN: Final = frozenset((b"select", b"template"))  # what looks like a table in them may be none
_NAMES: Final = (
    r"(?=[bcfhist][a-fhmnort])"  # most tags fail here
    r"(?:body|caption|col(?:group)?+|form|frame(?:set)?+|head|html|image|input|script|style"
    r"|t(?:body|d|emplate|foot|h|head|r))[\s/>]"
)
_SIGN = compiled(rf"</(?:[^>]*=|[^a-zA-Z>])|<[!?]|<{_NAMES}", re.IGNORECASE)
_TAG = compiled(r"</?[a-zA-Z][^<>]*+>")
IGNORING: Final = r"(?:[fF][rR][aA][mM][eE][sS][eE][tT]|[cC][oO][lL])(?=[\s/>])"  # any case, in half the time
_IGNORING = compiled(f"<{IGNORING}")
_TEMPLATE = compiled(r"<template[\s/>]", re.IGNORECASE)
_FRAMESET = compiled(r"<frameset(?=[\s/>])", re.IGNORECASE)
_PARTS = compiled(rf"<(?!{_NAMES})[a-z]", re.IGNORECASE)
_SCRIPT = compiled(r"<s(?:cript|tyle)[\s/>]", re.IGNORECASE)
# Scripts and styles with their texts; comments and other tags are matched so that nothing in them looks like one.
_SCRIPTS = compiled(
    rf"<(?:!--(?!-?>)(?:[^-]|-(?!->))*+|s(?:cript|tyle)(?=[\s/>]){ATTRIBUTE}*+[\s/]*+>\s*+([^<\s])"
    rf"|/?[a-zA-Z][^\s/>]*+{ATTRIBUTE}*+)",
    re.IGNORECASE,
)
_TEXT = compiled(r">(?:\s*+(?:[^<\s]|<(?![a-zA-Z/!?]))|\s++<(?:/[^>]*=|body|form|frame|head|html))", re.IGNORECASE)
# Spaces stay in tables; outside of them they are copied if such a tag has a value.
_VALUED = compiled(r"<(?:caption|col(?:group)?+|image|t(?:body|d|foot|h|head|r))[\s/][^<>]*=", re.IGNORECASE)
_SPACES = compiled(r">\s++<")
# All but text: raw text elements with theirs, comments, tags.
_MARKUP = compiled(
    rf"<(?:!--(?:-?>|(?:[^-]|-(?!-!?>))*+)|[!?][^>]*+|/[^a-zA-Z>][^>]*+|script(?=[\s/>]){ATTRIBUTE}*+[\s/]*+>{SCRIPT_TEXT}"
    rf"|(?P<raw>{RAW})(?=[\s/>]){ATTRIBUTE}*+[\s/]*+>[^<]*+(?:<(?!/(?P=raw)[\s/>])[^<]*+)*+"
    rf"|/?[a-zA-Z][^\s/>]*+{ATTRIBUTE}*+)",
    re.IGNORECASE,
)


def heeding_all(page: bytes) -> bytes:
    """*page* without what lets a parser ignore all tags behind it: <frameset>, and <col> if there is a template."""
    return (_IGNORING if _TEMPLATE.search(page) else _FRAMESET).sub(b"<embed", page)


def bounded(page: bytes) -> bytes:
    """*page*, which is `heeding_all`, nearly always unchanged."""
    if len(page) <= SMALL:
        return page
    few = MOST_LIKELY // len(page)
    if _signs(page) <= few or (grown := _grown(page, SELDOM)) <= few:
        return page
    few = MOST_LIKELY // max(1, _sampled_text(page))  # half of it is markup, mostly
    if grown <= few or (grown := _grown(page, OFTEN)) <= few:
        return page
    page = tokens.without_foreign(page)
    return page if grown * text_length(page) <= MOST_LIKELY else _parted(page)


def _signs(page: bytes) -> int:
    """About how many tags and comments may not part texts."""
    return sum(len(_SIGN.findall(page, place, place + SAMPLE)) for place in _places(page, EVERY)) * EVERY // SAMPLE


def _grown(page: bytes, every: int) -> int:
    """About how many texts come after another with nothing but such tags between them, by samples *every* so many
    bytes; those in scripts do not."""
    grown = 0
    for place in _places(page, every):
        end = place + LONG
        texts = _behind(_SIGN, _TEXT, page, place, end)
        if texts and _SCRIPT.search(page, place, end):  # few samples have one
            texts = max(texts - len(list(filter(None, _SCRIPTS.findall(page, place, end)))), 0)
        grown += texts + _behind(_VALUED, _SPACES, page, place, end)
    return grown * every // LONG


def _behind(sign: re.Pattern[bytes], text: re.Pattern[bytes], page: bytes, start: int, end: int) -> int:
    """How many texts there, in parts with such tags, as many as these at most. Most have none: their texts are not
    asked for."""
    signs = [found.start() for found in sign.finditer(page, start, end)]
    parts = [start, *(found.end() for found in _PARTS.finditer(page, start, end)), end] if signs else []
    counted = Counter(bisect_right(parts, sign) for sign in signs)
    return sum(min(many, len(text.findall(page, parts[at - 1], parts[at]))) for at, many in counted.items())


def _sampled_text(page: bytes) -> int:
    """How much of *page* may be text, which alone is copied, by samples: rather more than there is."""
    if b"<![CDATA[" in page:
        return len(page)
    return sum(len(_TAG.sub(b"", page[place : place + LONG])) for place in _places(page, SELDOM)) * SELDOM // LONG


def text_length(page: bytes) -> int:
    """How much text *page* has in elements, not less; it is `without_foreign`."""
    return len(_MARKUP.sub(b"", page))


def _places(page: bytes, every: int) -> range:
    return range(randrange(every), len(page), every)  # noqa: S311 - nobody is to know them, nothing more


def _parted(page: bytes) -> bytes:
    texts, pieces, taken = _Texts(MOST // page.count(b"<")), list[bytes](), 0
    before = Token(0, 0, ends=False, name=b"", attributes=b"")  # the start of the page
    for token in tokens.tokens(page):
        if texts.add(page[before.end : token.start].lstrip(b"/>")):
            place = page.find(b">", before.end, token.start) + 1 if before.name else before.end
            pieces += (page[taken:place], PARTING)
            taken = place
        texts.pass_by(token)
        before = token
    return b"".join((*pieces, page[taken:])) if pieces else page


class _Texts:
    """How long the texts are that a parser may still add to: where it is, and before the table it is in. Too long
    rather than too short; none longer than *longest* is copied."""

    def __init__(self, longest: int) -> None:
        self._longest = longest
        self._here = self._outside = 0
        self._stored = False  # something, since the last text
        self._tables = 0
        self._in_cell = False

    def add(self, text: bytes) -> bool:
        """Whether *text* has to be parted from what is before it."""
        if not text:
            return False
        outside = self._tables > 0 and not self._in_cell and not text.isspace()
        length = self._outside if outside else self._here
        parted = self._stored and length > self._longest
        length = len(text) + (0 if parted else length)
        if outside:
            self._outside, self._stored = length, False
        else:
            self._here, self._stored = length, self._tables > 0  # stored between those outside
        return parted

    def pass_by(self, token: Token) -> None:
        """Go on behind *token*."""
        name = token.name.lower()
        self._stored = self._stored or not name or b"=" in token.attributes
        if name in _UNCERTAIN:
            self._tables, self._in_cell, self._stored = 0, False, True
        elif name == b"table":
            self._table(token)
        elif name in _CELLS or name in _ROWS:
            self._stored = True  # the text of another cell
            self._in_cell = self._tables > 0 and name in _CELLS and not token.ends
            if self._tables and not token.ends:
                self._here = 0
        elif not token.ends and name and name not in _PASSED:
            self._here = 0

    def _table(self, token: Token) -> None:
        if token.ends:
            self._tables = max(self._tables - 1, 0)
            self._in_cell = self._tables > 0
        else:
            self._tables += self._in_cell or not self._tables
            self._in_cell = False
            self._here = 0
