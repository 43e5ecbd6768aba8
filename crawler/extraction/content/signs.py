"""What tells a passage of the main text from others, as numbers: the features that are weighted (main_text.py).

They are language-independent: elements and class names around a passage, its length, its share of links, its place,
its surroundings. Nothing is decided here.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Final

from crawler.extraction.content.marks import BITS
from crawler.extraction.content.page_kind import Kind
from crawler.extraction.content.passages import Box, Passage

CORE: Final = 0.6  # of the page's prose
FAR: Final = 8  # steps

# Features of what is around a passage, and of its own block.
AROUND: Final = str.split(
    """
    footer header nav table td ul li fieldset select figcaption h2 h4 main a p shop foot head side rel social sub
    desc comm ads forum nav-names role-nav role-alert prop-text
    """
)
OWN: Final = str.split("dd li p h3 td summary rev filter meta crumb hidden prop-text")
NUMBERS: Final = str.split(
    """
    bias place start end after-heading no-heading repeated-text alike words ten-words many-words ends-as-sentence
    lower digits cookies outside-main outside-article page-words depth near-links near-long links-2 links-3 share-4
    long-8 words-8 in-core core-far post-words post-card post-alike post-prose post-item
    """
)
SIGNS: Final = (*(f"in {name}" for name in AROUND), *(f"own {name}" for name in OWN), *NUMBERS)

_ENDS: Final = frozenset('.!?…:;"”)。！？')
_DIGIT = re.compile(r"\d")


AROUND_BITS: Final = [BITS[name] for name in AROUND]
OWN_BITS: Final = [BITS[name] for name in OWN]

Column = Sequence[float] | float  # the same number for all passages
_MAIN, _ARTICLE, _CARD = BITS["main"], BITS["article"], BITS["card"]


def signs_of(found: Sequence[Passage], kind: Kind) -> list[dict[int, float]]:
    """For each passage its non-zero SIGNS, by index: the input for learning weights."""
    both = len(AROUND) + len(OWN)
    rows = []
    for each, numbers in zip(found, numbers_of(found, kind), strict=True):
        row = {at: 1.0 for at, bit in enumerate(AROUND_BITS) if each.around & bit}
        row.update({len(AROUND) + at: 1.0 for at, bit in enumerate(OWN_BITS) if each.own & bit})
        row.update({both + at: value for at, value in enumerate(numbers) if value})
        rows.append(row)
    return rows


def numbers_of(found: Sequence[Passage], kind: Kind) -> list[tuple[float, ...]]:
    """The values of NUMBERS for each passage."""
    count = len(found)
    return list(zip(*(_repeat(each, count) for each in columns_of(found, kind)), strict=True)) if found else []


def _repeat(column: Column, count: int) -> Sequence[float]:
    return [column] * count if isinstance(column, (int, float)) else column


def columns_of(found: Sequence[Passage], kind: Kind) -> list[Column]:
    """For each of NUMBERS its values for the passages of a page, of which there is one at least.

    Made by columns, as a call for each passage and number costs several times as much.
    """
    page = _Page(found)
    return [*_of_themselves(page), *_of_their_places(page), *_of_posts(page, kind)]


def _of_themselves(page: _Page) -> list[Column]:
    """The first part of NUMBERS: of the passages themselves."""
    found, words, total, count = page.found, page.words, page.total, len(page.found)
    heading = next((at for at, each in enumerate(found) if each.box.tag == "h1"), None)
    places = [before / total for before in page.words_before[:-1]]
    lower = [each.text.lower() for each in found]
    return [
        1.0,
        places,
        [place < 0.05 for place in places],
        [place > 0.9 for place in places],
        [heading is not None and at >= heading for at in range(count)],
        float(heading is None),
        _repeated(found),
        page.alike,
        page.log_words,
        [many >= 10 for many in words],
        [many >= 25 for many in words],
        [each.text[-1] in _ENDS for each in found],
        [each.text[0].islower() for each in found],
        [_DIGIT.search(each.text) is not None for each in found],
        [
            (text.count("cookie") + text.count("consent")) / math.sqrt(1 + many)
            for text, many in zip(lower, words, strict=True)
        ],
        _outside(found, _MAIN),
        _outside(found, _ARTICLE),
    ]


def _of_their_places(page: _Page) -> list[Column]:
    """The second part: of the page, of neighbours, and of the boxes around."""
    count, total = len(page.found), page.total
    boxes = [_boxes(each.box) for each in page.found]
    long = [0, *accumulate([many >= 10 for many in page.words])]
    at = list(range(count + 1))
    near, wide = _windows(at, 1), _windows(at, 8)
    return [
        math.log1p(total),
        [min(each.box.depth, 30) / 30 for each in page.found],
        [
            linked / (words or 1)
            for linked, words in zip(_windows(page.linked_before, 3), _windows(page.words_before, 3), strict=True)
        ],
        [many / of for many, of in zip(_windows(long, 1), near, strict=True)],
        [second.linked / (second.words or 1) for second, _, _ in boxes],
        [third.linked / (third.words or 1) for _, third, _ in boxes],
        [fourth.words / total for _, _, fourth in boxes],
        [many / of for many, of in zip(_windows(long, 8), wide, strict=True)],
        [math.log1p(words / of) for words, of in zip(_windows(page.words_before, 8), wide, strict=True)],
        *_of_core(page.found),
    ]


def _of_core(found: Sequence[Passage]) -> list[Column]:
    """Whether each passage stands in the core, and how far out of it: the steps to a box that holds both, up to 1.

    The core is the innermost box with most of the page's prose.
    """
    core = _core(found)
    place = {box: (box is core, 0) for box in _outwards(core)}  # in the core, steps out of what is around it
    for each in found:
        _put(each.box, place)
    return [[place[each.box][0] for each in found], [min(FAR, place[each.box][1]) / FAR for each in found]]


def _core(found: Sequence[Passage]) -> Box:
    *_, root = _outwards(found[0].box)
    core, least, seen = root, CORE * root.prose, {root}
    for each in found if least else ():
        box: Box | None = each.box if each.box.prose else None
        while box is not None and box not in seen:
            seen.add(box)
            if box.prose >= least:
                core = box if box.depth > core.depth else core
                break
            box = box.parent
    return core


def _put(box: Box, place: dict[Box, tuple[bool, int]]) -> None:
    """Put *box* and those around it into *place*, which holds the outermost one."""
    missing = []
    while box not in place:
        missing.append(box)
        assert box.parent is not None
        box = box.parent
    inside, steps = place[box]
    for each in reversed(missing):
        steps += 1
        place[each] = (inside, steps)


def _outwards(box: Box | None) -> Iterator[Box]:
    while box is not None:
        yield box
        box = box.parent


def _of_posts(page: _Page, kind: Kind) -> list[Column]:
    """The rest: what counts in forums."""
    if kind != "forum":
        return [0.0] * 5
    return [
        page.log_words,
        [each.around & _CARD > 0 for each in page.found],
        page.alike,
        [each.is_prose for each in page.found],
        [each.box.tag == "li" for each in page.found],
    ]


class _Page:
    """What several numbers need of all passages."""

    def __init__(self, found: Sequence[Passage]) -> None:
        self.found = found
        self.words = [each.words for each in found]
        self.log_words = [math.log1p(many) for many in self.words]
        self.words_before = [0, *accumulate(self.words)]
        self.linked_before = [0, *accumulate([each.linked for each in found])]
        self.total = max(1, self.words_before[-1])
        places = [(each.box.tag, each.own, each.around) for each in found]
        logs = {place: math.log(many) for place, many in Counter(places).items()}
        self.alike = [logs[place] for place in places]


def _windows(before: Sequence[int], reach: int) -> list[int]:
    """For each passage the sum over it and *reach* on each side, by the sums *before* each one and of all."""
    padded = [before[0]] * reach + list(before) + [before[-1]] * reach
    return [high - low for low, high in zip(padded, padded[2 * reach + 1 :], strict=False)]


def _repeated(found: Sequence[Passage]) -> list[float]:
    """Whether the same text occurred before."""
    seen: dict[str, int] = {}
    return [seen.setdefault(each.text, at) != at for at, each in enumerate(found)]


def _outside(found: Sequence[Passage], bit: int) -> Column:
    """Whether the page has an element of *bit*, but not around the passage."""
    if not any(each.around & bit for each in found):
        return 0.0
    return [not each.around & bit for each in found]


def _boxes(box: Box) -> tuple[Box, Box, Box]:
    """The first, second and third around *box*, or the outermost."""
    second = box.parent or box
    third = second.parent or second
    return second, third, third.parent or third
