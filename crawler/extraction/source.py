"""The source of a page in one pass: where its scripts are, and its markup without what only scripts and styles hold.

Half of a shop's page is code. Whoever looks for something in the markup looks at half as much, and the parser builds
the same tree, with empty scripts.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, NamedTuple

COMMENT: Final = r"!--(?!-?>)[^-]*+(?:-(?!-!?>)[^-]*+)*+"  # after its "<", up to its end
RAW: Final = r"[\s/>][^<]*+(?:<(?!/(?P=raw)[\s/>])[^<]*+)*+"  # the rest of an element that holds text only, named `raw`

# Attributes of a tag that ends for certain at its first ">", whatever the parser takes its quotes for.
_ATTRIBUTES: Final = r"((?=[\s/>])[^<>\"']*+(?:\"[^\"<>]*+\"[^<>\"']*+|'[^'<>]*+'[^<>\"']*+)*+)>"
_CODE = re.compile(
    rf"<(?:{COMMENT}|(script|style){_ATTRIBUTES}([^<]*+(?:<(?!/\1[\s/>])(!--|script)?+[^<]*+)*+))",
    re.IGNORECASE,
)


class Script(NamedTuple):
    """A script's attributes as they are written, and where its content is in the source of the page."""

    attributes: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Source:
    """`scripts` are in document order, without those inside comments."""

    markup: str
    scripts: tuple[Script, ...]


def read(html: str) -> Source:
    """Take *html* apart. Linear in its size.

    A script that has something like another in it keeps its content: its end may be no end. Known weakness:
    `<script>` in a quoted attribute or a textarea is taken for one. One without an end is none.
    """
    scripts: list[Script] = []
    pieces: list[str] = []
    taken = 0
    for found in _CODE.finditer(html):
        start, end = found.span(3)
        if start < 0 or end == len(html):
            continue
        if found[1] not in ("style", "STYLE"):
            scripts.append(Script(found[2], start, end))
        if start < end and found[4] is None:
            pieces.append(html[taken:start])
            taken = end
    return Source("".join((*pieces, html[taken:])) if pieces else html, tuple(scripts))
