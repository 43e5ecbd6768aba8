"""The source of a page in one pass: where its scripts are, and its markup without what only scripts and styles hold.

Half of a shop's page is code. Searches in the markup read half as much, and the parser builds the same tree with empty
scripts.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from crawler.extraction import tame

COMMENT: Final = r"!--(?!-?>)[^-]*+(?:-(?!-!?>)[^-]*+)*+"  # after its "<", up to its end
RAW: Final = r"[\s/>][^<]*+(?:<(?!/(?P=raw)[\s/>])[^<]*+)*+"  # the rest of an element that holds text only, named `raw`

# Attributes of a tag that ends for certain at its first ">", whatever the parser takes its quotes for.
_ATTRIBUTES: Final = r"((?=[\s/>])[^<>\"']*+(?:\"[^\"<>]*+\"[^<>\"']*+|'[^'<>]*+'[^<>\"']*+)*+)>"
_SCRIPT: Final = r"[sS](?:[cC][rR][iI][pP][tT]|[tT][yY][lL][eE])"
_CODE = re.compile(
    rf"<{tame.NO_FORMATTING}(?:{COMMENT}"
    rf"|({_SCRIPT}){_ATTRIBUTES}([^<]*+(?:<(?!/(?i:\1)[\s/>])(!--|[sS][cC][rR][iI][pP][tT])?+[^<]*+)*+)"
    rf"|(?P<name>{tame.FORMATTING})(?!{tame.CLOSED}))",
    re.ASCII,
)


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
    taken = 0
    for found in _CODE.finditer(html):
        if found.lastgroup:
            strays.append(found[0][1:])
            continue
        start, end = found.span(3)
        if 0 <= start < end < len(html):
            if found[1] not in ("style", "STYLE"):
                scripts.append(Script(found[2], start, end))
            if found[4] is None:
                pieces.append(html[taken:start])
                taken = end
                continue
        if html.find("<", found.start() + 1, found.end()) >= 0:  # a comment, or code, and a parser may not think so
            strays += tame.strays(found[0].encode(errors="ignore"))
    return Source("".join((*pieces, html[taken:])) if pieces else html, tuple(scripts), tuple(strays))
