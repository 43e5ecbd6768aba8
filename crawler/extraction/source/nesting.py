"""Keeps elements from nesting too deeply: finding the one that an end tag closes takes time in proportion to the depth.

Samples tell nearly every page from one that may be too deep; tags are counted in the others, and only where that does
not rule it out is the page tried: which tags nest, and which end what, only a parser knows. It is parsed piece by
piece, since a piece is too short to take long, and the depths of the pieces are added. What is unclosed, and too many
attributes or names: tame.py.
"""

from __future__ import annotations

import re
from random import randrange
from typing import Final

from selectolax.lexbor import LexborDocumentOptions, LexborHTMLParser, LexborNode

from crawler.extraction.source import tokens
from crawler.extraction.source.tokens import CLOSED, compiled

TAGS_UNCHECKED: Final = 10_000  # a page with fewer start tags cannot nest deep enough to matter
MAX_DEPTH: Final = 1_000  # of nested elements; browsers stop at 512
MAX_NESTED: Final = 180_000_000  # elements that may nest times other tags: steps of searches for an open one, 4 ns each
DOUBTED: Final = 2  # times what samples show of elements that may nest, before all are counted
MAX_NESTING: Final = 10_000  # elements: readers of the tree also pay for depth
APART: Final = 10_000  # bytes between samples of what may nest
SHORT: Final = 300  # bytes of these
AHEAD: Final = (200, 1_000)  # bytes behind one, in which what it opens may be closed: at first, and if doubted
PIECES: Final = 16  # of a page; real ones are up to 60 deep
PIECE: Final = 64_000  # bytes at least
LEAST: Final = 1_000  # bytes of a piece in which a page may end
LOOKED_AT: Final = 40  # elements of a piece

# Void elements, and elements closed by the next one of their kind.
_NOT_NESTING: Final = frozenset(
    (
        "area", "base", "br", "col", "colgroup", "dd", "dt", "embed", "hr", "img", "input", "li", "link", "meta",
        "option", "p", "param", "source", "tbody", "td", "tfoot", "th", "thead", "tr", "track", "wbr",
    )
)  # fmt: skip
# In <svg> and <math> these nest; the others above end both.
_NESTING_THERE: Final = _NOT_NESTING - frozenset(("br", "dd", "dt", "embed", "hr", "img", "li", "meta", "p"))
_FLAT: Final = (b"<li>", b"<br>", b"<li ", b"<p>", b"<p ", b"<img ")  # the usual ones that nest in neither
_NESTING_ANYWHERE = compiled(r"<[a-zA-Z]")
# Start tags of elements that nest, except those closed by the next tag: an upper bound of the tree's depth.
_NESTING = compiled(rf"<(?!(?:{'|'.join(sorted(_NOT_NESTING))})[\s/>])(?P<name>[a-zA-Z][^\s/>]*+)(?!{CLOSED})")
# Those that nest in <svg>, too.
_NESTING_IN_FOREIGN = compiled(
    rf"<(?!(?:{'|'.join(sorted(_NOT_NESTING - _NESTING_THERE))})[\s/>])(?P<name>[a-zA-Z][^\s/>]*+)(?!{CLOSED})"
)
_TEMPLATE = compiled(r"(?<=[</])template(?=[\s/>])", re.IGNORECASE)
_SELECT = compiled(r"<select[\s/>]", re.IGNORECASE)
_FORM = compiled(r"(?<=[</])form(?=[\s/>])", re.IGNORECASE)


def bounded(page: bytes, tags: float) -> bytes:
    """*page* up to the point where its elements nest too deeply; nearly always unchanged. *tags*: about so many, by
    samples."""
    if tags > TAGS_UNCHECKED and _seems_deep(page, tags) and _may_be_deep(page):
        return _not_too_deep(page)
    return page


def _seems_deep(page: bytes, tags: float) -> bool:
    """Whether DOUBTED times the elements that may nest, by samples, among about so many *tags*, may cost too much.

    To count them all takes longer than parsing, so where few samples' worth of reading leaves a doubt, more is read.
    """
    near, far = AHEAD
    return _is_sampled_deep(page, tags, _NESTING_IN_FOREIGN, near) and _is_sampled_deep(
        page, tags, _NESTING_IN_FOREIGN if tokens.has_foreign(page) else _NESTING, far
    )


def _is_sampled_deep(page: bytes, tags: float, nests: re.Pattern[bytes], ahead: int) -> bool:
    """The same, by what *nests* and is not closed *ahead*. Each sample has a random place: they may be anywhere."""
    nesting = 0
    for start in range(0, len(page), APART):
        place = start + randrange(APART)  # noqa: S311 - as in _places
        for found in nests.finditer(page, place, place + SHORT + ahead):
            if found.start() >= place + SHORT:
                break
            nesting += 1
    return _is_deep(DOUBTED * nesting * APART / SHORT, tags)


def _may_be_deep(page: bytes) -> bool:
    tags = page.count(b"<")
    nesting = tags - page.count(b"</")  # at most
    for flat in _FLAT:  # a count takes a tenth of the time of the expression
        if not _is_deep(nesting, tags):
            return False
        nesting -= page.count(flat)
    if tokens.has_foreign(page):
        page = tokens.without_icons(page)
    return _is_deep(len((_NESTING_ANYWHERE if tokens.has_foreign(page) else _NESTING).findall(page)), tags)


def _is_deep(nesting: float, tags: float) -> bool:
    """Whether *nesting* elements or fewer, among so many *tags*, may cost too much."""
    return nesting > MAX_NESTING or min(nesting, tags / 2) * max(tags - nesting, tags / 2) > MAX_NESTED


def _not_too_deep(page: bytes) -> bytes:
    """*page* up to the point where its elements nest too deeply, or too deeply for its tags.

    Nobody is to know where a piece begins: what is in a comment there, as <svg>, would be read in the piece.
    """
    begins = _begins(page)
    length = max(len(page) // PIECES * 8 // 7, PIECE)
    place = depth = steps = 0
    while place < len(page):
        part = page[place : place + length - randrange(length // 4)]  # noqa: S311 - as in _places
        deeper = depth
        for begin in begins:
            deeper = max(deeper, depth + _depth(begin, part))
            if deeper > 2 * MAX_DEPTH:  # twice, as most pieces end less deep than they are
                break
        more = steps + deeper * part.count(b"<")
        if deeper <= 2 * MAX_DEPTH and more <= MAX_NESTED:
            place, depth, steps = place + len(part), deeper, more
        elif length > LEAST:
            length //= 8
        else:
            return page[: max(page.rfind(b"<", 0, place), 0)]
    return page


def _begins(page: bytes) -> list[bytes]:
    """What a piece of *page* may be in that changes how it nests: <svg>, where <style> holds elements, also for
    <template>, where forms nest; and <select>, which ignores most tags, and which another one ends."""
    is_inside = tokens.has_foreign(page) or _TEMPLATE.search(page) is not None
    return [b"", *([b"<svg>"] if is_inside else ()), *([b"<select>"] if _SELECT.search(page) else ())]


def _depth(begin: bytes, part: bytes) -> int:
    """About how deep the elements of *part* nest behind *begin*.

    A template's elements are in no tree. Those of <object> are, and are as well kept from end tags behind them. Parsing
    takes time in proportion to the square of the depth, so a long part is tried in short ones first.
    """
    if len(part) > PIECE:
        short = (_depth(begin, part[at : at + PIECE]) for at in range(0, len(part), PIECE))
        if too_deep := next((depth for depth in short if depth > 2 * MAX_DEPTH), 0):
            return too_deep
    part = _TEMPLATE.sub(b"object", part)
    if begin == b"<svg>":
        part = _FORM.sub(b"section", part)
    elements = LexborHTMLParser(begin + part, options=LexborDocumentOptions.WO_EVENTS).css("*")
    return max(map(_around, elements[:: len(elements) // LOOKED_AT + 1]), default=0)


def _around(element: LexborNode) -> int:
    """How many elements it is in, of those that matter."""
    depth, parent = 0, element.parent
    while parent is not None and depth <= 2 * MAX_DEPTH:
        depth, parent = depth + 1, parent.parent
    return depth
