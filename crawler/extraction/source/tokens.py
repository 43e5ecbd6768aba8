"""The tags of a page's source (UTF-8) as a parser sees them, without a tree."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

VALUE: Final = r"(?:\s*+=\s*+(?:\"[^\"]*+\"|'[^']*+'|[^\s>]*+))?+"
ATTRIBUTE: Final = rf"(?:[\s/]*+[^\s/>][^\s/>=]*+{VALUE})"
# The rest of a tag that ends for certain at its first ">": no quote begins a value but behind a name and "=", and no
# other "=" is taken for one.
_PLAIN: Final = r"[^<>\"'=]*+(?:(?<=[^\s/\"'])=(?:\"[^\"<>]*+\"|'[^'<>]*+'|[^\s<>\"']++(?=[\s>]))[^<>\"'=]*+)*+>"
# Containing only text, void elements, and elements that contain only text.
_INSIDE: Final = (
    rf"(?:<(?:(?:br|img|wbr|input){_PLAIN}|(?P<in>[a-zA-Z][^\s/>]*+)(?=[\s/>]){_PLAIN}[^<]*+</(?P=in)\s*+>)[^<]*+)"
)
CLOSED: Final = rf"{_PLAIN}[^<]*+{_INSIDE}{{0,5}}+</(?P=name)\s*+>"  # after the element's `name`
# What is in a script: in what looks like a comment, the end of a script in it is none ("script data double escaped").
_SCRIPT_IN_COMMENT: Final = r"<script[\s/>](?:[^<-]|-(?!->)|<(?!/script[\s/>]))*+(?:</script(?=[\s/>]))?+"
_COMMENT_IN_SCRIPT: Final = rf"<!(?=--)(?:[^<-]|-(?!->)|<(?!/?script[\s/>])|{_SCRIPT_IN_COMMENT})*+(?:-->)?+"
SCRIPT_TEXT: Final = rf"(?:[^<]|<(?!!--|/script[\s/>])|{_COMMENT_IN_SCRIPT})*+"
NESTED_IN_ICON: Final = 100  # elements; groups, mostly
RAW: Final = "script|style|textarea|title|xmp|iframe|noembed|noframes"  # raw text elements


def compiled(pattern: str, flags: re.RegexFlag = re.NOFLAG) -> re.Pattern[bytes]:
    """The expression for a page's bytes."""
    return re.compile(pattern.encode(), flags)


_RAW_ENDS: Final = {
    name.encode(): compiled(rf"</{name}(?=[\s/>]){ATTRIBUTE}*+", re.IGNORECASE) for name in RAW.split("|")
}
_SCRIPT: Final = compiled(SCRIPT_TEXT, re.IGNORECASE)
_ENDS_AT_ONCE: Final = compiled(r"-?>")
_COMMENT_END: Final = compiled(r"--!?>")
# A comment; what a parser takes for one, up to the first ">"; a tag with its attributes, which end tags have, too.
_MARKUP = compiled(rf"<(?:(!--)|[!?][^>]*+|/[^a-zA-Z>][^>]*+|(/?)([a-zA-Z][^\s/>]*+)({ATTRIBUTE}*+))")
_FOREIGN = compiled(r"(</?)(?:svg|math)(?=[\s/>])", re.IGNORECASE)
_ROOTS: Final = frozenset((b"svg", b"math"))
_FOREIGN_START = compiled(r"<(?:svg|math)(?=[\s/>])", re.IGNORECASE)
# Shapes, comments and titles alone, which end for certain: a parser reads on behind them as behind a <span>.
_SHAPES: Final = (
    "animate(?:transform)?|circle|clippath|defs|ellipse|g|image|line|(?:linear|radial)gradient|mask|path"
    "|poly(?:gon|line)|rect|stop|symbol|use"
)
# Start tags in one that may nest, which none does that has "/" behind a space or a quote.
_NESTING_IN_ICON = compiled(rf"<(?P<name>[a-zA-Z][^\s/>]*+)(?!{CLOSED}|{_PLAIN}(?<=[\s\"']/>))", re.IGNORECASE)
_ICON = compiled(
    rf"<svg(?=[\s/>]){_PLAIN}(?:\s++|</?(?:{_SHAPES})(?=[\s/>]){_PLAIN}|<title(?=[\s/>]){_PLAIN}[^<]*+</title>"
    r"|<!--[^<>-][^<>]*+(?<=--)>)*+</svg\s*+>",
    re.IGNORECASE,
)


class Token(NamedTuple):
    """A tag or, with an empty name, a comment or the like; a raw text element is one with its text."""

    start: int
    end: int  # a tag's ">" comes right after it
    ends: bool
    name: bytes
    attributes: bytes


def tokens(page: bytes) -> Iterator[Token]:
    """Those of *page*, which is `without_foreign`, read from its start."""
    place: int | None = 0
    while place is not None:
        found_all, place = _MARKUP.finditer(page, place), None
        for found in found_all:
            comment, ends, name, attributes = found.groups(b"")
            if comment:
                place = behind_comment(page, found.end(1))
            elif not ends and name.lower() in _RAW_ENDS:
                place = behind_raw(page, name, found.end())
            yield Token(found.start(), found.end() if place is None else place, ends != b"", name, attributes)
            if place is not None:
                break


def has_foreign(page: bytes) -> bool:
    """Whether *page* contains <svg> or <math>."""
    return _FOREIGN.search(page) is not None


def without_foreign(page: bytes) -> bytes:
    """*page* with <span> for <svg> and <math>, in which raw text elements hold markup and comments may be none.

    As it is if all are icons, in which nothing is read otherwise: so are most of pages with JSON in an attribute, which
    raises doubt.
    """
    if len(_FOREIGN_START.findall(page)) == len(_ICON.findall(page)):
        return page
    return _FOREIGN.sub(rb"\1span", page)


def without_icons(page: bytes) -> bytes:
    """*page* without icons in which little nests, if all <svg> in it are icons and start tags, and not in values."""
    starts = [found.start() for found in _ICON.finditer(page)]
    if starts != [token.start for token in tokens(page) if token.name.lower() in _ROOTS and not token.ends]:
        return page
    return _ICON.sub(lambda icon: icon[0] if len(_NESTING_IN_ICON.findall(icon[0])) > NESTED_IN_ICON else b"", page)


def behind_comment(page: bytes, place: int) -> int:
    """Where the comment ends whose text begins there, or the page."""
    if at_once := _ENDS_AT_ONCE.match(page, place):
        return at_once.end()
    found = _COMMENT_END.search(page, place)
    return found.end() if found else len(page)


def behind_raw(page: bytes, name: bytes, place: int) -> int:
    """Where a raw text element ends, with its end tag up to the ">"."""
    place = _SCRIPT.match(page, place).end() if (name := name.lower()) == b"script" else place  # type: ignore[union-attr]  # it matches nothing, too
    found = _RAW_ENDS[name].search(page, place)
    return found.end() if found else len(page)
