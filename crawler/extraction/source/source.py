"""The source of a page in one pass: where its scripts are, and its markup without what only scripts and styles hold.

Half of a shop's page is code. Searches in the markup read half as much, and the parser builds the same tree with empty
scripts.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from crawler.extraction.source import shadow, tame

COMMENT: Final = r"!--(?!-?>)[^-]*+(?:-(?!-!?>)[^-]*+)*+"  # after its "<", up to its end
RAW: Final = r"[\s/>][^<]*+(?:<(?!/(?P=raw)[\s/>])[^<]*+)*+"  # the rest of an element that holds text only, named `raw`

# Attributes of a tag that ends for certain at its first ">", whatever the parser takes its quotes for.
_ATTRIBUTES: Final = r"((?=[\s/>])[^<>\"']*+(?:\"[^\"<>]*+\"[^<>\"']*+|'[^'<>]*+'[^<>\"']*+)*+)>"
_SCRIPT: Final = r"[sS](?:[cC][rR][iI][pP][tT]|[tT][yY][lL][eE])"
# A comment with a "<" in it, from its "!" on: others hide nothing.
_HIDING: Final = r"!--(?!-?>)[^-<]*+(?:-(?!-!?>)[^-<]*+)*+<[^-]*+(?:-(?!-!?>)[^-]*+)*+"
# Also no script or style that is empty.
_CODE = re.compile(
    rf"<{tame.LIKELY}(?:{_HIDING}|({_SCRIPT}){_ATTRIBUTES}(?!</\1[\s/>])"
    rf"|{tame.STRAY})",
    re.ASCII,
)
# What is inside such an element from its first "<" on.
_REST: Final = {
    name: re.compile(rf"(?:<(?!/{name}[\s/>])(!--|script)?+[^<]*+)*+", re.ASCII | re.IGNORECASE)
    for name in ("script", "style")
}


class Script(NamedTuple):
    """A script's attributes as written, and the place of its content in the page's source."""

    attributes: str
    start: int
    end: int


class Source(NamedTuple):
    """`scripts` are in document order, without those inside comments; `strays` as of tame.py, of the markup."""

    markup: str
    scripts: tuple[Script, ...]
    strays: tuple[str, ...]


def read(html: str) -> Source:
    """Split *html*. Linear in its size.

    A script that seems to contain another one keeps its content, as its end may not be one. Known weakness: `<script>`
    in a quoted attribute or a textarea is taken for a script. An unterminated one is ignored.
    """
    scripts: list[Script] = []
    pieces: list[str] = []
    strays: list[str] = []
    taken = place = 0
    while found := _CODE.search(html, place):
        start = place = found.end()
        if stray := found["name"] or found["ignoring"]:
            strays.append(stray)
            continue
        if found[1]:
            kind = found[1].lower()
            place, is_certain = _end(html, start, kind)
            if start < place < len(html):
                if kind == "script":
                    scripts.append(Script(found[2], start, place))
                if is_certain:
                    pieces.append(html[taken:start])
                    taken = place
                    continue
        if html.find("<", found.start() + 1, place) >= 0:  # a comment, or code, and a parser may not think so
            strays += tame.strays(html[found.start() : place].encode(errors="ignore"))
    markup = "".join((*pieces, html[taken:])) if pieces else html
    if markup.find(shadow.MARK, 0, shadow.REACH) >= 0:
        markup = shadow.opened(markup)
    return Source(markup, tuple(scripts), tuple(strays))


def _end(html: str, start: int, kind: str) -> tuple[int, bool]:
    """Where the text that begins at *start* in a *kind* of element ends, and whether that is certain."""
    first = html.find("<", start)  # the end tag, mostly, and found at a fraction of an expression's cost
    rest = _REST[kind].match(html, first) if first >= 0 else None
    return (rest.end(), rest[1] is None) if rest else (len(html), True)
