"""The walk over the tree that builds all passages of a page and finds the pictures between them. It decides nothing."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from typing import Final

from selectolax.lexbor import LexborNode

from crawler.extraction.content.cells import CELLS, next_column, row_of
from crawler.extraction.content.code_lines import LINES, numbers_lines
from crawler.extraction.content.formulas import is_shown_again, signs_of, tex_of
from crawler.extraction.content.layout import BLOCK, IMAGE, KEPT, LAYOUT, MATH, OTHER, TEXT, UNSEEN, Layout, source_of
from crawler.extraction.content.marks import BITS, CODE_LANGUAGE, bits_of
from crawler.extraction.content.passages import Blocks, Box, Passage, Picture, Piece
from crawler.extraction.content.permalinks import permalink
from crawler.extraction.tree.document import Document
from crawler.extraction.words.counting import has_sentence, words_in

MAX_ELEMENTS: Final = 20_000  # examined
MAX_PASSAGES: Final = 8_000
MAX_PIECES: Final = 5_000  # texts and inline tags of one passage
MAX_CHARACTERS: Final = 2_000_000  # in all texts
MAX_IMAGES: Final = 2_000

LEAST_PROSE: Final = 10  # words
MOST_LINKED: Final = 0.3  # of them in links

_H1: Final = BITS["h1"]
_NOTED = frozenset({"pre", "ol"})
Open = tuple[LexborNode, Layout]  # an element that the walk is in
_START = re.compile(r"[0-9]{1,8}", re.ASCII)  # the last item, too, has nine digits at most: so in Markdown
_END_OF_LINK: Final = ("/a", "")
_IN_CELL: Final = BITS["td"] | BITS["th"]


def _is_in_h1(box: Box) -> bool:
    """Whether it is an <h1>, or a block that is in one."""
    return box.tag == "h1" or (box.parent is not None and box.parent.tag == "h1")


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
        self._lines: list[tuple[LexborNode, int]] = []  # enclosing inline elements, with BITS of their tags
        self._extras = [0]  # BITS of all up to one of them, as far as they have been asked for
        self._run(root)
        self._flush()
        while self._box.parent is not None:
            self._leave_box(self._box.tag)

    def _run(self, root: LexborNode) -> None:
        node, elements = root.first_child, 0
        open_: list[Open] = []
        while elements < MAX_ELEMENTS and self._left > 0 and (node is not None or open_):
            if node is None:
                node, layout = open_.pop()
                if layout.manner == BLOCK:
                    self._leave_box(layout.name)
                else:
                    self._leave_line(layout)
            elif (number := node.tag_id) == TEXT:
                if self._pieces or not node.is_empty_text_node:
                    self._text(node.text_content or "")
            elif (layout := LAYOUT.get(number, OTHER)).manner != UNSEEN:
                elements += 1
                if (child := node.first_child) is not None:
                    open_.append((node, layout))
                    if layout.manner == BLOCK:
                        self._enter_box(layout, node.attributes)
                    else:
                        self._enter_line(layout, node)
                    node = child
                    continue
                self._pass(layout, node)
            elif layout is MATH:
                elements += 1
                self._formula(node, open_)
            node = node.next

    def _text(self, text: str) -> None:
        pieces = self._pieces
        if text.isspace():
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
            open_[-1] = (again, open_[-1][1])

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
                next_column(self._box, node.attributes)
        elif layout.manner == IMAGE and len(self._pieces) < MAX_PIECES and self._most:
            self._most -= 1
            attributes = node.attributes
            if "\n" in (source := source_of(attributes, node)):
                source = source.replace("\n", "")  # as browsers do
            self._pieces.append(("img", f"{source}\n{attributes.get('alt') or ''}"))
            self._images.append(node)

    def _enter_line(self, layout: Layout, node: LexborNode) -> None:
        name = layout.name
        self._lines.append((node, layout.bits))
        if layout.manner == KEPT:
            if name == "a":
                if self._pieces and self._pieces[-1] == _END_OF_LINK:
                    self._pieces.append(" ")  # as a style parts them
                self._links += 1
                self._bare = len(self._pieces)
            if len(self._pieces) < MAX_PIECES:
                self._pieces.append((name, node.attributes.get("href") or "" if name == "a" else ""))
            if name == "code" and self._box.tag == "pre" and (attributes := node.attributes):
                self._note(attributes)

    def _end_line(self) -> None:
        """Of code, unless it has ended."""
        last = next((piece for piece in reversed(self._pieces) if type(piece) is str), "\n")
        if not last.endswith("\n"):
            self._pieces.append("\n")

    def _extra(self) -> int:
        """BITS of the enclosing inline elements, which are read only if a block begins or ends inside them."""
        if not self._lines:
            return 0
        extras = self._extras
        for node, bits in self._lines[len(extras) - 1 :]:
            extras.append(extras[-1] | bits | bits_of(node.attributes))
        return extras[-1]

    def _enter_box(self, layout: Layout, attributes: Mapping[str, str | None]) -> None:
        around, name, bits = self._box, layout.name, layout.bits
        if around.tag == "pre" and name in LINES:
            self._end_line()
            return
        if self._pieces:
            self._flush()
        if attributes:
            bits |= bits_of(attributes)
        self._box = box = Box(name, around, around.depth + 1, around.around | bits | self._extra(), bits)
        if name == "div":
            if "language-" in (value := attributes.get("class") or "") or "highlight-" in value:
                self._note(attributes)
        elif name in _NOTED:
            self._note(attributes)
        elif name in CELLS:
            box.column = next_column(around, attributes)
        elif name == "tr":
            around.rows += 1

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

    def _leave_line(self, layout: Layout) -> None:
        self._lines.pop()
        del self._extras[len(self._lines) + 1 :]
        if layout.manner != KEPT:
            return
        name = layout.name
        if name == "a":
            self._links -= 1
            self._bare = -1
        pieces = self._pieces
        if pieces and pieces[-1][0] == name and type(pieces[-1]) is tuple:
            pieces.pop()  # nothing is in it
        elif name == "a" and (start := permalink(pieces)) is not None:
            del pieces[start:]
        elif pieces:
            pieces.append((f"/{name}", ""))

    def _leave_box(self, name: str) -> None:
        box = self._box
        if box.tag == "pre" and name in LINES:
            self._end_line()
            return
        if self._pieces:
            self._flush()
        assert box.parent is not None
        self._box = parent = box.parent
        if box.words:
            parent.words += box.words
            parent.linked += box.linked
            parent.prose += box.prose

    def _flush(self) -> None:
        pieces, texts, box, bits = self._pieces, self._linked, self._box, self._extra()
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
        if not words:
            self._keep_wordless(text, bits, pieces, images)
            return
        if box.language and box.tag == "div" and text.lower() == box.language:  # a label of its code
            return
        linked = 0
        if texts:
            linked = words if text in texts[0] else sum(map(words_in, texts))
            box.linked += linked
        box.words += words
        if box.tag == "pre" and self.passages and numbers_lines(self.passages[-1], box, text):
            self.passages.pop()
        is_prose = words >= LEAST_PROSE and linked < MOST_LINKED * words and has_sentence(text)
        if is_prose:
            box.prose += words
        around = box.around | bits
        is_heading = bool(around & _H1) and _is_in_h1(box)
        self.passages.append(
            Passage(text, words, linked, around, box.own | bits, box, pieces, images, 0, is_heading, is_prose)
        )
        if len(self.passages) >= MAX_PASSAGES:
            self._left = 0

    def _keep_wordless(self, text: str, bits: int, pieces: list[Piece], images: Sequence[LexborNode]) -> None:
        """Images, or what stands alone in a cell (✓, –), with its row."""
        box = self._box
        if images:
            self.pictures.append(Picture(len(self.passages), box, bits, pieces, images))
        elif text and box.around & _IN_CELL and (row := row_of(box)) is not None:
            row.signs = row.signs or []
            row.signs.append(Passage(text, 0, 0, box.around | bits, box.own | bits, box, pieces))


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
