"""A page as passages: its texts in order, each with its place in the tree.

A passage is what a browser would layout as one block: a paragraph, a heading, a cell, the text between two blocks.
`walk.py` finds them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from selectolax.lexbor import LexborNode

Piece = str | tuple[str, str]  # text, or (inline tag, target; end tags start with "/")


@dataclass(slots=True, eq=False)
class Box:
    """A block element. `words`, `linked` and `prose` count words in it, those in links, and those of prose."""

    tag: str
    parent: Box | None
    depth: int = 0
    around: int = 0  # BITS of the element and its ancestors
    own: int = 0  # BITS of the element itself
    words: int = 0
    linked: int = 0
    prose: int = 0
    cells: int = 0  # of a row: columns so far
    column: int = 0  # of a cell
    rows: int = 0  # of a part of a table, so far
    held: dict[int, int] | None = None  # of such a part: by column, the row at which a cell of several rows ends
    signs: list[Passage] | None = None  # of a row: its cells without words
    language: str = ""  # of the code in it
    start: str = ""  # the first number of an <ol>, where that is not 1


@dataclass(slots=True, eq=False)
class Passage:
    """One text; `linked` of its `words` are in links; `images` are those of its pieces."""

    text: str
    words: int
    linked: int
    around: int
    own: int
    box: Box
    pieces: list[Piece]
    images: Sequence[LexborNode] = ()
    breaks: int = 0  # <br> behind it: one goes on with a line, more part paragraphs
    is_main_heading: bool = False  # an <h1>, or a block that is in one
    is_prose: bool = False  # made of sentences, not of links


class Picture(NamedTuple):
    """A block with images and without words, behind *at* passages of the page."""

    at: int
    box: Box
    bits: int  # BITS of inline elements around it
    pieces: list[Piece]
    images: Sequence[LexborNode]

    @property
    def block(self) -> Passage:
        """As a passage."""
        box = self.box
        return Passage("", 0, 0, box.around | self.bits, box.own | self.bits, box, self.pieces, self.images)


class Blocks(NamedTuple):
    """Those of a page, in order."""

    passages: list[Passage]
    pictures: list[Picture]
