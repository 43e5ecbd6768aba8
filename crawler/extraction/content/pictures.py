"""Which images belong to the main text: those in it, and those between its passages, in blocks without words.

Where the text was chosen, so is the image: a card that is left out takes its image with it. What no text can tell, the
names of the elements around the image alone do: logos, avatars, ads.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Final, NamedTuple

from selectolax.lexbor import LexborNode

from crawler.extraction.content.layout import ANY_LAZY, BLOCK, LAYOUT, OTHER
from crawler.extraction.content.marks import BITS, READING, bits_of, words_of
from crawler.extraction.content.passages import Box, Passage, Picture, Piece
from crawler.extraction.content.walk import blocks
from crawler.extraction.tree.document import Document
from crawler.urls import MAX_URL_LENGTH

MAX_IMAGES: Final = 500
LEVELS: Final = 30  # between an image and the element whose text it goes with
LEAST_SHARE: Final = 0.5  # of the words of that element, if text on one side only was chosen
LONGEST_CAPTION: Final = 60  # words
SMALL: Final = 50  # pixels on both sides: an icon
FLAT: Final = 16  # pixels on one: a line or a sign
PIXEL: Final = 2  # what no reader sees, but the server that it is asked from

_SIGNS: Final = frozenset(READING["signs"].split())
_PARTS: Final = frozenset(("nav", "footer", "aside", "dialog"))
_NO_CAPTIONS: Final = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))
_ONLY_TEXT: Final = _NO_CAPTIONS | {"pre"}
_FIGCAPTION: Final = BITS["figcaption"]
_META: Final = BITS["meta"]
_HIDDEN: Final = BITS["hidden"]
_NOTHING: Final = re.compile(  # files that show nothing, a sign or a face
    r"/(?:pixel|spacer|blank|clear|transparent|empty|1x1|loading|loader|spinner|placeholder)\.(?:gif|png|svg|webp)"
    r"|/(?:[^/?#]{0,60}[-_.])?icons?(?:[-_.][^/?#]{0,60})?\.(?:gif|png|svg|webp)(?:[?#]|$)|gravatar\.com/avatar",
    re.IGNORECASE,
)

IsApart = Callable[[LexborNode], bool]


def illustrated(document: Document, found: Sequence[Passage], chosen: Sequence[Passage]) -> list[Passage]:
    """*chosen* of the passages *found*, with the pictures that belong to them and their captions, in order."""
    doubted = _without_doubles(document, found) if chosen else []
    page = _Page(found if doubted else (), {*chosen})
    seen = {address for each in chosen for address in addresses(document, each)}
    pictures = list[tuple[int, Passage]]()
    for picture in doubted:
        block = page.shown(document, picture) if len(pictures) < MAX_IMAGES else None
        if block is not None and (new := {*addresses(document, block)} - seen):
            seen |= new
            pictures.append((picture.at, block))
    figures = {_figure(block.box) for _, block in pictures} - {None}
    captions = {each for each in found if each.around & _FIGCAPTION and _figure(each.box) in figures}
    return [*_merged(found, pictures, {*chosen} | captions | page.captions)]


def addresses(document: Document, passage: Passage) -> Iterator[str]:
    """The absolute URLs of the images in *passage*."""
    for tag, target in (piece for piece in passage.pieces if isinstance(piece, tuple)):
        if tag == "img" and (address := address_of(document, target)):
            yield address


def address_of(document: Document, target: str) -> str | None:
    """The absolute URL of an image, by the *target* of its piece; None where it shows nothing."""
    source = target.partition("\n")[0]
    address = document.absolute(source) if source else None
    return None if address is None or len(address) > MAX_URL_LENGTH or _NOTHING.search(address) else address


class _Part(NamedTuple):
    """The passages of an element: the first and last one of those that are in no <figcaption>, and their words."""

    first: int
    last: int
    words: int
    chosen: int


class _Page:
    """Where the main text of a page stands."""

    def __init__(self, found: Sequence[Passage], taken: set[Passage]) -> None:
        self.captions = set[Passage]()  # of the pictures shown, by their names
        self._told = [at for at, each in enumerate(found) if not each.around & _FIGCAPTION]
        self._passages = [found[at] for at in self._told]
        self._taken = [each in taken for each in self._passages]
        self._words = [0, *accumulate(each.words for each in self._passages)]
        self._chosen = [
            0,
            *accumulate(each.words * is_in for each, is_in in zip(self._passages, self._taken, strict=True)),
        ]
        self._first = _outwards(self._passages)
        self._last = _outwards(self._passages[::-1])

    def shown(self, document: Document, picture: Picture) -> Passage | None:
        """What belongs to the text of *picture*."""
        levels, caption = self._place(picture)
        if levels is None or _leads_home(document, picture.pieces):
            return None
        block = _without(picture.block, lambda node: _is_small(node.attributes) or _is_apart(node, levels))
        if caption is not None and block.images:
            self.captions.add(caption)
        return block if block.images else None

    def _place(self, picture: Picture) -> tuple[int | None, Passage | None]:
        """How many levels around *picture* hold no text but a caption, which was left out; None if it is beside the
        main text."""
        behind, caption = bisect_left(self._told, picture.at), None
        before, box = behind - 1, picture.box
        for level in range(LEVELS):
            if (part := self._part(box)) is not None:
                only = self._passages[part.first]
                if caption is not None or part.first < part.last or part.chosen or not _may_be_caption(only):
                    return level if self._is_in(part, before, behind) else None, caption
                before, behind = min(before, part.first - 1), max(behind, part.last + 1)
                caption = only if only.own & _META else None
            if box.parent is None:
                break
            box = box.parent
        return None, None

    def _is_in(self, part: _Part, before: int, behind: int) -> bool:
        """Whether the text on both sides was chosen, or on one side most of that in *part*."""
        beside = [self._taken[at] for at in (before, behind) if part.first <= at <= part.last]
        return any(beside) and (all(beside) or part.chosen >= LEAST_SHARE * part.words)

    def _part(self, box: Box) -> _Part | None:
        if (first := self._first.get(box)) is None:
            return None
        end = len(self._passages) - self._last[box]
        words, chosen = self._words, self._chosen
        return _Part(first, end - 1, words[end] - words[first], chosen[end] - chosen[first])


def _outwards(found: Sequence[Passage]) -> dict[Box, int]:
    """The first of *found* in each element."""
    first: dict[Box, int] = {}
    for at, each in enumerate(found):
        box: Box | None = each.box
        while box is not None and box not in first:  # so each is looked at once
            first[box] = at
            box = box.parent
    return first


def _may_be_caption(passage: Passage) -> bool:
    """Whether it is short, and neither the title nor the link of a card."""
    return passage.words <= LONGEST_CAPTION and not passage.linked and passage.box.tag not in _NO_CAPTIONS


def _is_apart(image: LexborNode, levels: int) -> bool:
    """Whether *image*, or one of the *levels* of blocks around it that have no text, is beside the text by its name."""
    if _is_hidden(image.attributes):
        return True
    step: LexborNode | None = image
    for _ in range(2 * LEVELS):
        if step is None:
            break
        levels -= LAYOUT.get(step.tag_id, OTHER).manner == BLOCK
        if levels < 0:
            return False
        if step.tag in _PARTS or _is_named(step.attributes):
            return True
        step = step.parent
    return True


def _is_named(attributes: Mapping[str, str | None]) -> bool:
    return any(not _SIGNS.isdisjoint(words_of(attributes.get(name) or "")) for name in ("class", "id"))


def _is_hidden(attributes: Mapping[str, str | None]) -> bool:
    """Whether it is not shown, and no script will."""
    return ANY_LAZY.isdisjoint(attributes) and bool(bits_of(attributes) & _HIDDEN)


def _is_small(attributes: Mapping[str, str | None]) -> bool:
    sides = [int(side) for name in ("width", "height") if (side := _pixels(attributes.get(name)))]
    return min(sides, default=SMALL) <= FLAT or (len(sides) > 1 and max(sides) <= SMALL)


def _pixels(stated: str | None) -> str:
    side = (stated or "").strip().removesuffix("px")
    return side if side.isascii() and side.isdecimal() and len(side) < 6 else ""


def _is_pixel(attributes: Mapping[str, str | None]) -> bool:
    sides = [_pixels(attributes.get(name)) for name in ("width", "height")]
    return all(sides) and max(map(int, sides)) <= PIXEL


def _leads_home(document: Document, pieces: Sequence[Piece]) -> bool:
    """Whether the image is a link to the front page: a logo."""
    links = [document.absolute(piece[1]) for piece in pieces if isinstance(piece, tuple) and piece[0] == "a"]
    return any(link and link.count("/") == 3 and link.endswith("/") for link in links)


def _without(passage: Passage, is_apart: IsApart) -> Passage:
    """*passage* without images that are apart."""
    if not passage.images:
        return passage
    images, kept, pieces = iter(passage.images), list[LexborNode](), list[Piece]()
    for piece in passage.pieces:
        if piece[0] == "img" and isinstance(piece, tuple) and (image := next(images, None)) is not None:
            if is_apart(image):
                continue
            kept.append(image)
        pieces.append(piece)
    return passage if len(kept) == len(passage.images) else replace(passage, pieces=pieces, images=kept)


def _without_doubles(document: Document, found: Sequence[Passage]) -> list[Picture]:
    """The pictures of a page; where <noscript> has what a script puts in place of the image before it, that one only.

    In a text the image that is there stays, if it has a URL.
    """
    kept = list[Picture]()
    for each in document.once(blocks).pictures:
        box, at = each.box, each.at
        if box.tag == "noscript":
            if kept and kept[-1].at == at and kept[-1].box is box.parent:
                kept.pop()
            elif 0 < at <= len(found) and found[at - 1].box is box.parent and _ends_in_image(document, found[at - 1]):
                continue
        kept.append(each)
    return kept


def _ends_in_image(document: Document, passage: Passage) -> bool:
    last = next((piece for piece in reversed(passage.pieces) if isinstance(piece, tuple) or not piece.isspace()), "")
    return last[0:1] == ("img",) and address_of(document, last[1]) is not None


def _figure(box: Box) -> Box | None:
    step: Box | None = box
    for _ in range(LEVELS):
        if step is None or step.tag == "figure":
            return step
        step = step.parent
    return None


def _merged(
    found: Sequence[Passage], pictures: Sequence[tuple[int, Passage]], shown: set[Passage]
) -> Iterator[Passage]:
    """Those of *found* that are *shown*, and each of *pictures* behind so many of *found*."""
    left = deque(pictures)
    for at, passage in enumerate(found):
        while left and left[0][0] <= at:
            yield _placed(left.popleft()[1])
        if passage in shown:
            yield _without(passage, lambda node: _is_pixel(node.attributes) or _is_apart(node, 0))
    yield from (_placed(block) for _, block in left)


def _placed(block: Passage) -> Passage:
    """*block*, outside of a heading or code that holds nothing else."""
    box = block.box
    while box.tag in _ONLY_TEXT and box.parent is not None:
        box = box.parent
    return replace(block, box=box)
