"""The walk over the tree that builds all passages of a page and finds the pictures between them. It decides nothing."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from typing import Final

from selectolax.lexbor import LexborNode

from crawler.extraction.content.code_lines import LINES, numbers_lines
from crawler.extraction.content.formulas import is_shown_again, signs_of, tex_of
from crawler.extraction.content.layout import BLOCK, IMAGE, KEPT, LAYOUT, MATH, OTHER, TEXT, UNSEEN, Layout, source_of
from crawler.extraction.content.marks import BITS, CODE_LANGUAGE, bits_of
from crawler.extraction.content.passages import CELLS, Blocks, Box, Passage, Picture, Piece, row_of
from crawler.extraction.tree.document import Document
from crawler.extraction.words.counting import words_in

MAX_ELEMENTS: Final = 20_000  # examined
MAX_PASSAGES: Final = 8_000
MAX_PIECES: Final = 5_000  # texts and inline tags of one passage
MAX_COLUMNS: Final = 20  # of one cell
MAX_SPANNED: Final = 100  # columns of a row, to the left of which cells of rows above may reach into it
MAX_CHARACTERS: Final = 2_000_000  # in all texts
MAX_IMAGES: Final = 2_000

_NOTED = frozenset({"pre", "ol"})
Open = tuple[LexborNode, Layout, int]  # an element that the walk is in, and BITS around it
_START = re.compile(r"[0-9]{1,9}", re.ASCII)  # as Markdown has them
_END_OF_LINK: Final = ("/a", "")
_IN_CELL: Final = BITS["td"] | BITS["th"]
# All that a link shows to the heading or line that it stands at; also a letter of an icons' font, or nothing to see.
_SIGN = re.compile(r"\s*+(?:[#¶§🔗◆⚓∞↩\u200b\u2060\ufe0e\ufe0f\ufeff\ue000-\uf8ff]\s*+){1,9}")


def _span(attributes: Mapping[str, str | None], name: str) -> int:
    """How many columns or rows a cell has."""
    stated = attributes.get(name) or ""
    return int(stated) or 1 if len(stated) < 6 and stated.isdecimal() else 1


def _column(row: Box, attributes: Mapping[str, str | None]) -> int:
    """The column of the next cell of *row*, with these *attributes*: behind what reaches into the row from above."""
    part = row.parent or row
    while part.held and part.held.get(row.cells, 0) > part.rows:
        row.cells += 1
    column, rows = row.cells, _span(attributes, "rowspan")
    row.cells += min(_span(attributes, "colspan"), MAX_COLUMNS)
    if rows > 1 and row.cells <= MAX_SPANNED:
        part.held = (part.held or {}) | dict.fromkeys(range(column, row.cells), part.rows + rows)
    return column


def _sign(pieces: Sequence[Piece]) -> int | None:
    """Where the link begins that *pieces* end with, if it shows only a sign for a place in a page."""
    at = len(pieces) - 1
    while at > 0 and type(pieces[at]) is str:
        at -= 1
    start = pieces[at] if pieces else ""
    if start[:1] == ("a",) and "#" in start[1] and _SIGN.fullmatch("".join(map(str, pieces[at + 1 :]))):
        return at
    return None


class _Walk:
    """Walks from the first text to the last without recursion: pages nest deeper than Python's stack."""

    def __init__(self, root: LexborNode) -> None:
        self.passages: list[Passage] = []
        self.pictures: list[Picture] = []
        self._images: list[LexborNode] = []  # in the pieces
        self._most = MAX_IMAGES
        self._box = Box("body", None)
        self._pieces: list[Piece] = []
        self._links = 0  # enclosing links
        self._bare = -1  # where in the pieces the one begins whose text has not yet come
        self._linked: list[str] = []  # texts in links
        self._left = MAX_CHARACTERS
        self._extra = 0  # BITS of enclosing inline elements
        self._run(root)
        self._flush()
        while self._box.parent is not None:
            self._leave_box(self._box, self._box.parent)

    def _run(self, root: LexborNode) -> None:
        node, elements = root.child, 0
        open_: list[Open] = []
        while elements < MAX_ELEMENTS and self._left > 0:
            if node is None:
                if not open_:
                    return
                node, layout, self._extra = open_.pop()
                if layout is not OTHER:
                    self._leave(layout)
            elif (number := node.tag_id) == TEXT:
                self._text(node.text_content or "")
            elif (layout := LAYOUT.get(number, OTHER)).manner != UNSEEN:
                elements += 1
                if (child := node.child) is not None:
                    open_.append((node, layout, self._extra))
                    self._enter(layout, node.attributes)
                    node = child
                    continue
                if layout is not OTHER:
                    self._pass(layout, node)
            elif layout is MATH:
                elements += 1
                self._formula(node, open_)
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
                self._linked.append(text)
                self._bare = -1

    def _formula(self, math: LexborNode, open_: list[Open]) -> None:
        """Its TeX as code, or its signs; what shows it again behind the element around it is passed over."""
        if tex := tex_of(math):
            self._text("$")
            self._pieces.append(("code", ""))
            self._text(tex)
            self._pieces.append(("/code", ""))
            self._text("$")
        else:
            self._text(signs_of(math))
        if open_ and (again := open_[-1][0].next) is not None and is_shown_again(again, tex):
            open_[-1] = (again, *open_[-1][1:])

    def _pass(self, layout: Layout, node: LexborNode) -> None:
        """An element without content."""
        if layout.manner == BLOCK:
            if self._box.tag == "pre" and (layout.name == "br" or layout.name in LINES):
                self._pieces.append("\n")
                return
            if self._pieces:
                self._flush()
            if layout.name == "br" and self.passages:
                self.passages[-1].breaks += 1
            elif layout.name in CELLS:
                _column(self._box, node.attributes)
        elif layout.manner == IMAGE and len(self._pieces) < MAX_PIECES and self._most:
            self._most -= 1
            attributes = node.attributes
            if "\n" in (source := source_of(attributes, node)):
                source = source.replace("\n", "")  # as browsers do
            self._pieces.append(("img", f"{source}\n{attributes.get('alt') or ''}"))
            self._images.append(node)

    def _enter(self, layout: Layout, attributes: Mapping[str, str | None]) -> None:
        manner, name, bits = layout
        if attributes:
            bits |= bits_of(attributes)
        if manner == BLOCK:
            if self._box.tag == "pre" and name in LINES:
                self._end_line()
                return
            if self._pieces:
                self._flush()
            self._enter_box(name, bits, attributes)
            return
        self._extra |= bits
        if manner == KEPT:
            if name == "a":
                if self._pieces and self._pieces[-1] == _END_OF_LINK:
                    self._pieces.append(" ")  # as a style parts them
                self._links += 1
                self._bare = len(self._pieces)
            if len(self._pieces) < MAX_PIECES:
                self._pieces.append((name, attributes.get("href") or "" if name == "a" else ""))
            if name == "code" and attributes and self._box.tag == "pre":
                self._note(attributes)

    def _end_line(self) -> None:
        """Of code, unless it has ended."""
        last = next((piece for piece in reversed(self._pieces) if type(piece) is str), "\n")
        if not last.endswith("\n"):
            self._pieces.append("\n")

    def _enter_box(self, name: str, bits: int, attributes: Mapping[str, str | None]) -> None:
        box = self._box
        self._box = Box(name, box, box.depth + 1, box.around | bits | self._extra, bits)
        if name in _NOTED:
            self._note(attributes)
        elif name == "div":
            if "language-" in (value := attributes.get("class") or "") or "highlight-" in value:
                self._note(attributes)
        elif name in CELLS:
            self._box.column = _column(box, attributes)
        elif name == "tr":
            box.rows += 1

    def _note(self, attributes: Mapping[str, str | None]) -> None:
        """What *attributes* say of the box: the language of code, the first number of a list."""
        box = self._box
        if box.tag == "ol":
            if _START.fullmatch(start := (attributes.get("start") or "").strip()):
                box.start = start
        elif found := CODE_LANGUAGE.search(attributes.get("class") or ""):
            box.language = found[1].lower()
        elif box.tag == "pre" and not box.language and box.parent is not None:
            above = box.parent.parent
            box.language = box.parent.language or (above.language if above is not None else "")

    def _leave(self, layout: Layout) -> None:
        manner, name, _ = layout
        if manner == BLOCK:
            if self._box.tag == "pre" and name in LINES:
                self._end_line()
                return
            if self._pieces:
                self._flush()
            assert self._box.parent is not None
            self._leave_box(self._box, self._box.parent)
        elif manner == KEPT:
            if name == "a":
                self._links -= 1
                self._bare = -1
            pieces = self._pieces
            if pieces and pieces[-1][0] == name and type(pieces[-1]) is tuple:
                pieces.pop()  # nothing is in it
            elif name == "a" and (start := _sign(pieces)) is not None:
                del pieces[start:]
            elif pieces:
                pieces.append((f"/{name}", ""))

    def _leave_box(self, box: Box, parent: Box) -> None:
        parent.words += box.words
        parent.linked += box.linked
        parent.prose += box.prose
        self._box = parent

    def _flush(self) -> None:
        pieces, texts, box, bits = self._pieces, self._linked, self._box, self._extra
        images: Sequence[LexborNode] = ()
        self._pieces = []
        if texts:
            self._linked = []
        if self._images:
            images, self._images = self._images, []
        if 0 <= self._bare < len(pieces):  # a link around blocks goes to the first text in it
            self._pieces.append(pieces.pop(self._bare))
            self._bare = 0
        raw = "".join([piece for piece in pieces if type(piece) is str])
        text = raw.strip("\n") if box.tag == "pre" else " ".join(raw.split())
        words = words_in(text)
        if not words or (box.language and box.tag == "div" and text.lower() == box.language):  # a label of its code
            if images and not words:
                self.pictures.append(Picture(len(self.passages), box, bits, pieces, images))
            elif text and box.around & _IN_CELL and (row := row_of(box)) is not None:
                row.signs = row.signs or []
                row.signs.append(Passage(text, 0, 0, box.around | bits, box.own | bits, box, pieces))
            return
        linked = 0
        if texts:
            linked = words if text in texts[0] else sum(map(words_in, texts))
            box.linked += linked
        box.words += words
        if box.tag == "pre" and self.passages and numbers_lines(self.passages[-1], box, text):
            self.passages.pop()
        passage = Passage(text, words, linked, box.around | bits, box.own | bits, box, pieces, images)
        box.prose += words if passage.is_prose else 0
        self.passages.append(passage)
        if len(self.passages) >= MAX_PASSAGES:
            self._left = 0


def passages(document: Document) -> list[Passage]:
    """The passages of *document* in order, within the limits above.

    <noscript> content counts if it is more than all the rest (script-built pages put the whole text there), else it is
    left out.
    """
    return document.once(blocks).passages


def blocks(document: Document) -> Blocks:
    """The passages of *document*, and the pictures between them: those in <noscript>, too."""
    body = document.tree.body
    if body is None:
        return Blocks([], [])
    walk = _Walk(body)
    found, aside = walk.passages, BITS["noscript"]
    unscripted = sum(each.words for each in found if each.around & aside)
    if not unscripted:
        return Blocks(found, walk.pictures)
    wanted = unscripted > sum(each.words for each in found) - unscripted
    kept = [at for at, each in enumerate(found) if bool(each.around & aside) == wanted]
    pictures = [each._replace(at=bisect_left(kept, each.at)) for each in walk.pictures]
    return Blocks([found[at] for at in kept], pictures)
