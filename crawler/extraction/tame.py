"""The source of a page as a parser may see it: nothing in it takes time or memory out of proportion to its size.

HTML says what a parser does with unclosed and misplaced tags, and three of these rules can be turned against it: an
open formatting element (<b>, <font>) is opened again in each block after it, 44 KB so become 5 GB; looking for the
element that a tag closes takes as long as the tree is deep; an attribute is compared with all others of its tag. The
checks are linear in the page and cost little on an ordinary one. A page that they change lost only what is abuse.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Final

SMALL: Final = 100_000  # characters; with FEW_TAGS a page is too small to do harm by tags
FEW_TAGS: Final = 1_500
TAGS_UNCHECKED: Final = 10_000  # a page with fewer tags cannot nest deep enough to matter
MAX_DEPTH: Final = 2_000  # of nested elements; browsers stop at 512
MAX_REOPENED: Final = 400_000  # unclosed formatting elements times tags: how many elements that may become
# Each end tag takes such an element some levels deeper, at the cost of the depth: how many, and how many for all.
MAX_SUNK: Final = 120_000_000  # unclosed formatting elements times square of the depth
MAX_STEPS: Final = 2_500_000  # end tags times depth
MAX_ATTRIBUTES: Final = 500  # of one tag
MAX_ROOTS: Final = 20  # <html> and <body>: each gives its attributes to the first one
SAMPLES: Final = 32  # places of a page where its attributes are looked at
EACH: Final = 12  # names at most
MAX_NAMES: Final = 150  # that are found there; a page has some dozens of them in all
FEW_ATTRIBUTES: Final = 4  # of one tag, where names of attributes are many
LONG: Final = 8_000  # characters without the end of a tag

_NAMES: Final = (
    r"[bBiIuUsS]|[eE][mM]|[tT][tT]|[bB](?:[iI][gG]|[oO][dD][yY])|[hH][tT][mM][lL]|[cC][oO][dD][eE]|[fF][oO][nN][tT]|[nN][oO][bB][rR]"
    r"|[sS][mM][aA][lL][lL]|[sS][tT][rR](?:[iI][kK][eE]|[oO][nN][gG])"
)
# A tag that ends for certain at its first ">", whatever the parser takes its quotes for.
_PLAIN: Final = r"[^<>\"'=]*+(?:=(?:\"[^\"<>=]*+\"|'[^'<>=]*+'|[^\s<>\"'=])[^<>\"'=]*+)*+>"
# With nothing in it but text, elements without content, and others that hold nothing but text.
_INSIDE: Final = rf"(?:<(?:(?:br|img|wbr|input){_PLAIN}|([a-zA-Z][^\s/>]*+)(?=[\s/>]){_PLAIN}[^<]*+</\2\s*+>)[^<]*+)"
_CLOSED: Final = rf"{_PLAIN}[^<]*+{_INSIDE}{{0,5}}+</\1\s*+>"
_STRAY = re.compile(rf"<({_NAMES})(?=[\s/>])(?!{_CLOSED})")
_END = re.compile(rf"</(?:{_NAMES})(?=[\s/>])")
_PAIR = re.compile(rf"<({_NAMES})(?=[\s/>]){_CLOSED}")
_ROOT = re.compile(r"<(body|html)(?=[\s/>])", re.IGNORECASE)
_VALUE: Final = r"(?:\s*+=\s*+(?:\"[^\"]*+\"|'[^']*+'|[^\s>]*+))?+"
_ATTRIBUTE: Final = rf"(?:[\s/]*+[^\s/>][^\s/>=]*+{_VALUE})"
_NAME = re.compile(rf"[\s/]*+([^\s/>][^\s/>=]*+){_VALUE}")
_OVERLOADED = re.compile(rf"(<[a-zA-Z][^\s/>]*+{_ATTRIBUTE}{{0,{MAX_ATTRIBUTES}}}+){_ATTRIBUTE}*+")
_SURPLUS = re.compile(rf"<[a-zA-Z][^\s/>]*+{_ATTRIBUTE}{{0,{MAX_ATTRIBUTES}}}+({_ATTRIBUTE})?+")
_SPARE = re.compile(rf"(<[a-zA-Z][^\s/>]*+{_ATTRIBUTE}{{0,{FEW_ATTRIBUTES}}}+){_ATTRIBUTE}*+")

_TAG = re.compile(r"<(/?)([a-zA-Z][a-zA-Z\d-]{0,30})")
# Elements without content, those that the next one of their kind closes, and <form>, of which one is open at a time.
_NOT_NESTING: Final = frozenset(
    (
        "area", "base", "br", "col", "colgroup", "dd", "dt", "embed", "form", "hr", "img", "input", "li", "link",
        "meta", "option", "p", "param", "path", "source", "tbody", "td", "tfoot", "th", "thead", "tr", "track", "use",
        "wbr",
    )
)  # fmt: skip
# Start tags of elements that nest, but for those that the very next tag closes: a tree has no more levels than these.
_NESTING = re.compile(rf"<(?!(?:{'|'.join(sorted(_NOT_NESTING))})[\s/>])([a-zA-Z][^\s/>]*+)(?!{_CLOSED})")
# Nothing inside these sees what is open outside, and their own end closes all of it; so it is for raw text, too.
_WALLS: Final = frozenset(
    (
        "applet", "caption", "iframe", "marquee", "object", "script", "style", "table", "template", "textarea", "title",
        "xmp",
    )
)  # fmt: skip
# Their end closes what is open inside of them, up to a wall. An end tag of any other name does not look behind these.
_BLOCKS: Final = frozenset(
    (
        "address", "article", "aside", "blockquote", "button", "center", "details", "dialog", "dir", "div", "dl",
        "fieldset", "figcaption", "figure", "footer", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hgroup", "listing",
        "main", "menu", "nav", "ol", "pre", "search", "section", "select", "summary", "ul",
    )
)  # fmt: skip
_SPECIAL: Final = _BLOCKS | _WALLS | {"noscript"}


def tamed(html: str) -> str:
    """*html* itself, nearly always."""
    return short(calm(html))


def calm(html: str) -> str:
    """Without what a parser opens again and again, sinks into, or has to compare with all that it has seen."""
    tags = html.count("<")
    if tags >= FEW_TAGS or len(html) > SMALL:
        html = _few_open(html, tags)
    if tags >= TAGS_UNCHECKED:
        if len(_NESTING.findall(html)) > TAGS_UNCHECKED // 2:
            html = _not_too_deep(html)
        if any(_SURPLUS.findall(html)):
            html = _OVERLOADED.sub(r"\1", html)
    if len(html) > SMALL and _has_many_names(html):
        html = _SPARE.sub(r"\1", html)
    return html


def _few_open(html: str, tags: int) -> str:
    """Without unclosed formatting elements, and further <html> and <body>, where there are enough of them to hurt."""
    strays = len(_STRAY.findall(html))
    if strays > MAX_ROOTS and len(roots := list(_ROOT.finditer(html))) > MAX_ROOTS:
        first = roots[MAX_ROOTS].start()
        html = html[:first] + _ROOT.sub("<wbr", html[first:])
    depth = tags if tags < TAGS_UNCHECKED else 2 * MAX_DEPTH
    sunk = strays * depth**2 > MAX_SUNK and _has_stray_ends(html, MAX_STEPS // depth)
    return _STRAY.sub("<wbr", html) if sunk or strays * tags > MAX_REOPENED else html


def _has_stray_ends(html: str, most: int) -> bool:
    """Whether more than *most* end tags of formatting elements are not those of a start tag right before."""
    ends = len(_END.findall(html))
    return ends > most and ends - len(_PAIR.findall(html)) > most


def _has_many_names(html: str) -> bool:
    """Whether hardly two tags have attributes of the same names: the parser looks for each among all it has seen."""
    names: set[str] = set()
    step = len(html) // SAMPLES
    for place in range(step, len(html), step):
        start = html.rfind("<", place - LONG, place)
        if start < 0 or html.find(">", start, place) >= 0:
            continue  # a place outside of tags
        if tag := _TAG.match(html, start):
            end = html.find(">", place, place + LONG)
            found = _NAME.findall(html, tag.end(), min(end if end >= 0 else len(html), start + LONG // 8))
            names.update(found[:EACH])  # not all: `i<n` in a script looks like a tag, too
    return len(names) > MAX_NAMES


def short(html: str) -> str:
    """Without the attributes above MAX_ATTRIBUTES of a tag that is LONG.

    Looks backwards from the end of each piece: a piece without the end of a tag is part of a script, nearly always.
    What looks like a tag in there (`i<n`) is cut with the others; nobody reads it.
    """
    pieces: list[str] = []
    taken = done = 0
    for end in range(LONG, len(html) + LONG, LONG):
        if end - LONG < done or html.rfind(">", end - LONG, end) >= 0:
            continue
        start, done = max(html.rfind("<", done, end - LONG), done), html.find(">", end)
        done = done if done >= 0 else len(html)
        if _TAG.search(html, start, done) and any(_SURPLUS.findall(html, start, done)):
            pieces += html[taken:start], _OVERLOADED.sub(r"\1", html[start:done])
            taken = done
    return "".join((*pieces, html[taken:])) if pieces else html


def _not_too_deep(html: str) -> str:
    """*html* up to where its elements nest too deep."""
    nesting = _Nesting()
    for tag in _TAG.finditer(html):
        name = tag[2].lower()
        if name in _NOT_NESTING:
            continue
        if tag[1]:
            nesting.close(name)
        elif nesting.open(name) > MAX_DEPTH:
            return html[: tag.start()]
    return html


class _Nesting:
    """How deep a parser is at most, by tags alone.

    Whoever counts start tags and end tags takes `<div><table></div>` for flat, and so for 200 KB of it. What is found
    here is never less than the truth; it is more where elements are closed by others that begin.
    """

    def __init__(self) -> None:
        self._open: list[str] = []
        self._walls: list[str] = []
        self._blocks: Counter[str] = Counter()  # open special elements since the last wall
        self._inline: Counter[str] = Counter()  # other open elements since the last special one
        self._outer: list[tuple[Counter[str], Counter[str]]] = []  # what both were outside of each open special element

    def open(self, name: str) -> int:
        """The depth with one more element."""
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
        """What an end tag certainly closes."""
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
