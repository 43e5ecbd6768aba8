"""Keeps elements from nesting too deeply: finding the one that an end tag closes takes time in proportion to the depth.

Samples tell nearly every page from one that may be too deep; tags are counted in the others, and only where that does
not rule it out is the whole page read. What is unclosed, and too many attributes or names: tame.py.
"""

from __future__ import annotations

from collections import Counter
from random import randrange
from typing import Final

from crawler.extraction.source import tokens
from crawler.extraction.source.tokens import CLOSED, compiled

TAGS_UNCHECKED: Final = 10_000  # a page with fewer start tags cannot nest deep enough to matter
MAX_DEPTH: Final = 1_000  # of nested elements; browsers stop at 512
MAX_NESTED: Final = 260_000_000  # elements that may nest times other tags: steps of searches for an open one, 3 ns each
DOUBTED: Final = 2  # times what samples show of elements that may nest, before all are counted
MAX_NESTING: Final = 10_000  # elements: readers of the tree also pay for depth
APART: Final = 10_000  # bytes between samples of what may nest
SHORT: Final = 300  # bytes of these
AHEAD: Final = 200  # bytes behind one, in which what it opens may be closed
TAG: Final = 4_000  # bytes in which the end of a tag is looked for

_TAG = compiled(r"<(/?)([a-zA-Z][a-zA-Z\d-]{0,30})")
# Void elements, elements closed by the next one of their kind, and <form>, of which one is open at a time.
_NOT_NESTING: Final = frozenset(
    (
        "area", "base", "br", "col", "colgroup", "dd", "dt", "embed", "form", "hr", "img", "input", "li", "link",
        "meta", "option", "p", "param", "path", "source", "tbody", "td", "tfoot", "th", "thead", "tr", "track", "use",
        "wbr",
    )
)  # fmt: skip
# In <svg> and <math> these nest, unless they end with "/>"; the others above end both.
_NESTING_THERE: Final = _NOT_NESTING - frozenset(("br", "dd", "dt", "embed", "hr", "img", "li", "meta", "p"))
_FOREIGN: Final = frozenset(("svg", "math"))
_FLAT: Final = (b"<li>", b"<br>", b"<li ", b"<p>", b"<p ", b"<img ")  # the usual ones that nest in neither
_NESTING_ANYWHERE = compiled(r"<[a-zA-Z]")
# Start tags of elements that nest, except those closed by the next tag: an upper bound of the tree's depth.
_NESTING = compiled(rf"<(?!(?:{'|'.join(sorted(_NOT_NESTING))})[\s/>])(?P<name>[a-zA-Z][^\s/>]*+)(?!{CLOSED})")
# Those that nest in <svg>, too: of samples, for which nobody asks whether there is one.
_NESTING_SAMPLED = compiled(
    rf"<(?!(?:{'|'.join(sorted(_NOT_NESTING - _NESTING_THERE))})[\s/>])(?P<name>[a-zA-Z][^\s/>]*+)(?!{CLOSED})"
)
# Elements inside these do not see what is open outside, and their end closes all of them; also for raw text.
_WALLS: Final = frozenset(
    (
        "applet", "caption", "iframe", "marquee", "object", "script", "style", "table", "template", "textarea", "title",
        "xmp",
    )
)  # fmt: skip
# Their end closes what is open inside them, up to a barrier. End tags of other names do not look beyond these.
_BLOCKS: Final = frozenset(
    (
        "address", "article", "aside", "blockquote", "button", "center", "details", "dialog", "dir", "div", "dl",
        "fieldset", "figcaption", "figure", "footer", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hgroup", "listing",
        "main", "menu", "nav", "ol", "pre", "search", "section", "select", "summary", "ul",
    )
)  # fmt: skip
_SPECIAL: Final = _BLOCKS | _WALLS | {"noscript"}


def bounded(page: bytes, tags: float) -> bytes:
    """*page* up to the point where its elements nest too deeply; nearly always unchanged. *tags*: about so many, by
    samples."""
    if tags > TAGS_UNCHECKED and _seems_deep(page, tags) and _may_be_deep(page):
        return _not_too_deep(page)
    return page


def _seems_deep(page: bytes, tags: float) -> bool:
    """Whether DOUBTED times the elements that may nest, by samples, among about so many *tags*, may cost too much.

    To count them all takes half as long as parsing. Each sample has a random place of its own: they may be anywhere.
    """
    nesting = 0
    for start in range(0, len(page), APART):
        place = start + randrange(APART)  # noqa: S311 - as in _places
        sample = page[place : place + SHORT + AHEAD]
        nesting += sum(found.start() < SHORT for found in _NESTING_SAMPLED.finditer(sample))
    return _is_deep(DOUBTED * nesting * APART / SHORT, tags)


def _may_be_deep(page: bytes) -> bool:
    tags = page.count(b"<")
    nesting = tags - page.count(b"</")  # at most
    for flat in _FLAT:  # a count takes a tenth of the time of the expression
        if not _is_deep(nesting, tags):
            return False
        nesting -= page.count(flat)
    return _is_deep(len((_NESTING_ANYWHERE if tokens.has_foreign(page) else _NESTING).findall(page)), tags)


def _is_deep(nesting: float, tags: float) -> bool:
    """Whether *nesting* elements or fewer, among so many *tags*, may cost too much."""
    return nesting > MAX_NESTING or min(nesting, tags / 2) * max(tags - nesting, tags / 2) > MAX_NESTED


def _not_too_deep(page: bytes) -> bytes:
    """*page* up to the point where its elements nest too deeply."""
    nesting, foreign = _Nesting(), False
    for tag in _TAG.finditer(page):
        name = tag[2].lower().decode()
        if name in _NOT_NESTING and not (name in _NESTING_THERE and foreign and not _closes_itself(page, tag.end())):
            continue
        foreign = foreign or name in _FOREIGN
        if tag[1]:
            nesting.close(name)
        elif nesting.open(name) > MAX_DEPTH:
            return page[: tag.start()]
    return page


def _closes_itself(page: bytes, place: int) -> bool:
    end = page.find(b">", place, place + TAG)
    return page[end - 1 : end] == b"/"


class _Nesting:
    """An upper bound of a parser's depth, from tags alone.

    Merely counting start and end tags takes `<div><table></div>` for flat, even 200 KB of it. The result here is never
    too low; it is too high where elements are closed by others that start.
    """

    def __init__(self) -> None:
        self._open: list[str] = []
        self._walls: list[str] = []
        self._blocks: Counter[str] = Counter()  # open special elements since the last wall
        self._inline: Counter[str] = Counter()  # other open elements since the last special one
        self._outer: list[
            tuple[Counter[str], Counter[str]]
        ] = []  # both, as they were outside each open special element

    def open(self, name: str) -> int:
        """The depth after opening one more element."""
        self._open.append(name)
        if name not in _SPECIAL:
            self._inline[name] += 1
            return len(self._open)
        self._blocks[name] += 1
        self._outer.append((self._blocks, self._inline))
        self._inline = Counter()
        if name in _WALLS:
            self._walls.append(name)
            self._blocks = Counter()
        return len(self._open)

    def close(self, name: str) -> None:
        """Close what an end tag certainly closes."""
        if name in _WALLS:
            if not self._walls or self._walls[-1] != name:
                return
            self._walls.pop()
        elif not (self._blocks if name in _BLOCKS else self._inline)[name]:
            return
        while self._pop() != name:
            pass

    def _pop(self) -> str:
        name = self._open.pop()
        if name in _SPECIAL:
            self._blocks, self._inline = self._outer.pop()
            self._blocks[name] -= 1
        else:
            self._inline[name] -= 1
        return name
