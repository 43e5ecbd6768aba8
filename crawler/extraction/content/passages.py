"""A page as passages: its texts in order, each with its place in the tree.

A passage is what a browser would display as one block: a paragraph, a heading, a cell, the text between two blocks. One
walk over the tree builds them all; nothing is decided here.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from selectolax.lexbor import LexborNode

from crawler.caches import cached
from crawler.extraction.tree.document import Document

MAX_ELEMENTS: Final = 20_000  # examined
MAX_PASSAGES: Final = 8_000
MAX_PIECES: Final = 5_000  # texts and inline tags of one passage
MAX_CHARACTERS: Final = 2_000_000  # in all texts

READING: Final[dict[str, Any]] = tomllib.loads(Path(__file__).with_name("reading.toml").read_text(encoding="utf-8"))

_UNSEEN: Final = frozenset(
    str.split(
        """
    script style template svg head iframe object embed canvas video audio map datalist math link meta title base
    source track param col colgroup textarea -comment -doctype !doctype
    """
    )
)
_BLOCKS: Final = frozenset(
    str.split(
        """
    noscript address article aside blockquote body br button caption center dd details dialog dir div dl dt fieldset
    figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr html label legend li main menu nav ol optgroup
    option p pre search section select summary table tbody td tfoot th thead tr ul
    """
    )
)
_TAGS: Final = frozenset(
    str.split(
        """
    noscript nav footer header aside main article table td th li ul ol p h1 h2 h3 h4 h5 h6 pre figcaption button
    select label dd summary dialog a fieldset
    """
    )
)
_INLINE: Final = {"a": "a", "code": "code", "kbd": "code", "b": "strong", "strong": "strong", "i": "em", "em": "em"}
_ROLES: Final = {
    **dict.fromkeys(("navigation", "banner", "contentinfo", "search", "complementary"), "role-nav"),
    **dict.fromkeys(("menu", "menubar", "tablist"), "role-nav"),
    **dict.fromkeys(("dialog", "alert"), "role-alert"),
    "main": "main",
}
_ITEMPROPS: Final = {
    **dict.fromkeys(("articleBody", "text", "reviewBody"), "prop-text"),
    "description": "prop-description",
}
_SPEAKING: Final = frozenset(("class", "id", "hidden", "style", "role", "itemprop"))
_HIDDEN = re.compile(r"display\s{0,3}:\s{0,3}none|visibility\s{0,3}:\s{0,3}hidden", re.IGNORECASE)
_NAME_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
WORD: Final = re.compile(r"\w+")

NAMES: Final = (*sorted(_TAGS), *READING["names"], "hidden", "role-nav", "role-alert", "prop-text", "prop-description")
BITS: Final[Mapping[str, int]] = {name: 1 << at for at, name in enumerate(NAMES)}
_GROUPS: Final = {word: BITS[name] for name, words in READING["names"].items() for word in words.split()}

Piece = str | tuple[str, str]  # text, or (inline tag, target; end tags start with "/")


@dataclass(slots=True, eq=False)
class Box:
    """A block element. `words` and `linked` count words in it, and those in links."""

    tag: str
    parent: Box | None
    depth: int = 0
    around: int = 0  # BITS of the element and its ancestors
    own: int = 0  # BITS of the element itself
    words: int = 0
    linked: int = 0


@dataclass(slots=True, eq=False)
class Passage:
    """One text; `linked` of its `words` are in links."""

    text: str
    words: int
    linked: int
    around: int
    own: int
    box: Box
    pieces: list[Piece]


@cached(16_384, longest=400)
def _named(value: str) -> int:
    """BITS of the words in a class or id."""
    bits = 0
    for word in _NAME_WORD.findall(value[:400]):
        bits |= _GROUPS.get(word.lower(), 0)
    return bits


def _bits(attributes: Mapping[str, str | None]) -> int:
    bits = 0
    for name, value in attributes.items():
        if name not in _SPEAKING:
            continue
        if name in {"class", "id"}:
            bits |= _named(value) if value else 0
        elif name == "hidden" or (name == "style" and value and _HIDDEN.search(value[:2_000])):
            bits |= BITS["hidden"]
        elif name == "role":
            bits |= BITS.get(_ROLES.get(value or "", ""), 0)
        elif name == "itemprop":
            bits |= BITS.get(_ITEMPROPS.get(value or "", ""), 0)
    return bits


class _Walk:
    """Walks from the first text to the last without recursion: pages nest deeper than Python's stack."""

    def __init__(self, root: LexborNode) -> None:
        self.passages: list[Passage] = []
        self._box = Box("body", None)
        self._extra = 0  # BITS of enclosing inline elements
        self._pieces: list[Piece] = []
        self._links = 0  # enclosing links
        self._linked = 0
        self._left = MAX_CHARACTERS
        self._run(root)
        self._flush()
        while (parent := self._box.parent) is not None:
            self._leave_box(parent)

    def _run(self, root: LexborNode) -> None:
        node, elements = root.child, 0
        open_: list[tuple[LexborNode, str, int]] = []
        while elements < MAX_ELEMENTS and self._left > 0 and len(self.passages) < MAX_PASSAGES:
            if node is None:
                if not open_:
                    return
                element, tag, extra = open_.pop()
                self._leave(tag, extra)
                node = element.next
                continue
            tag = node.tag or ""
            if tag == "-text":
                self._text(node.text_content or "")
            elif tag not in _UNSEEN:
                elements += 1
                if (child := node.child) is not None:
                    open_.append((node, tag, self._extra))
                    self._enter(tag, node.attributes)
                    node = child
                    continue
                self._pass(tag, node)
            node = node.next

    def _text(self, text: str) -> None:
        pieces = self._pieces
        if text.isspace():
            if pieces:
                pieces.append(text[:100])
        elif len(pieces) < MAX_PIECES:
            text = text[: self._left]
            self._left -= len(text)
            pieces.append(text)
            if self._links:
                self._linked += len(WORD.findall(text))

    def _pass(self, tag: str, node: LexborNode) -> None:
        """An element without content."""
        if tag in _BLOCKS:
            if self._pieces:
                self._flush()
        elif tag == "img" and len(self._pieces) < MAX_PIECES:
            attributes = node.attributes
            self._pieces.append(("img", f"{attributes.get('src') or ''}\n{attributes.get('alt') or ''}"))

    def _enter(self, tag: str, attributes: Mapping[str, str | None]) -> None:
        bits = BITS[tag] if tag in _TAGS else 0
        if attributes:
            bits |= _bits(attributes)
        if tag in _BLOCKS:
            if self._pieces:
                self._flush()
            box = self._box
            self._box = Box(tag, box, box.depth + 1, box.around | bits | self._extra, bits)
            return
        self._extra |= bits
        if tag == "a":
            self._links += 1
        if tag in _INLINE and len(self._pieces) < MAX_PIECES:
            self._pieces.append((_INLINE[tag], attributes.get("href") or "" if tag == "a" else ""))

    def _leave(self, tag: str, extra: int) -> None:
        if tag in _BLOCKS:
            if self._pieces:
                self._flush()
            assert self._box.parent is not None
            self._leave_box(self._box.parent)
            return
        self._extra = extra
        if tag == "a":
            self._links -= 1
        if tag in _INLINE and self._pieces:
            self._pieces.append((f"/{_INLINE[tag]}", ""))

    def _leave_box(self, parent: Box) -> None:
        parent.words += self._box.words
        parent.linked += self._box.linked
        self._box = parent

    def _flush(self) -> None:
        pieces, linked, box = self._pieces, self._linked, self._box
        self._pieces, self._linked = [], 0
        raw = "".join([piece for piece in pieces if type(piece) is str])
        text = raw.strip("\n") if box.tag == "pre" else " ".join(raw.split())
        words = len(WORD.findall(text))
        if not words:
            return
        box.words += words
        box.linked += linked
        bits = self._extra
        self.passages.append(Passage(text, words, linked, box.around | bits, box.own | bits, box, pieces))


def passages(document: Document) -> list[Passage]:
    """The passages of *document* in order, within the limits above.

    <noscript> content counts if it is more than all the rest (script-built pages put the whole text there), else it is
    left out.
    """
    body = document.tree.body
    found = _Walk(body).passages if body is not None else []
    aside = BITS["noscript"]
    unscripted = sum(each.words for each in found if each.around & aside)
    if not unscripted:
        return found
    wanted = unscripted > sum(each.words for each in found) - unscripted
    return [each for each in found if bool(each.around & aside) == wanted]
