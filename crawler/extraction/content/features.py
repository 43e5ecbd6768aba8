"""What tells a passage of the main text from others, as numbers: the features that are weighted (main_text.py).

They are language-independent: elements and class names around a passage, its length, its share of links, its place,
its surroundings. Nothing is decided here.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from operator import sub
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
    post-date post-term post-crumb
    """
)
FEATURES: Final = (*(f"in {name}" for name in AROUND), *(f"own {name}" for name in OWN), *NUMBERS)

_ENDS: Final = frozenset('.!?…:;"”)。！？」』）।؟۔։።။។')
_DIGIT = re.compile(r"\d")
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_SHORT: Final = 13  # words; a line that says who has written a post, and when, has fewer
_TERMS: Final = frozenset(("dt", "dd"))
_AROUND: Final = [(BITS[name], f"in {name}") for name in AROUND]
_OWN: Final = [(BITS[name], f"own {name}") for name in OWN]
_MAIN, _ARTICLE, _CARD, _CRUMB = BITS["main"], BITS["article"], BITS["card"], BITS["crumb"]


def features_of(found: Sequence[Passage], kind: Kind) -> list[dict[int, float]]:
    """For each passage its non-zero FEATURES, by index: the input for learning weights."""
    rows: list[dict[int, float]] = [{} for _ in found]
    for at, feature in enumerate(FEATURES):
        for row, value in zip(rows, sums(found, kind, _only(feature)), strict=True):
            if value:
                row[at] = value
    return rows


def _only(feature: str) -> dict[str, float]:
    return {**dict.fromkeys(FEATURES, 0.0), feature: 1.0}


def sums(found: Sequence[Passage], kind: Kind, of: Mapping[str, float]) -> list[float]:
    """For each passage of a page the sum of its FEATURES, each times its weight, which is *of* it.

    The weights are applied here, since what several passages share is then added up once, and a value for each passage
    and feature is never made.
    """
    if not found:
        return []
    page = _Page(found, kind == "forum")
    parts = (
        _by_order(page, of),
        _by_words(page, of),
        _by_place(page, of),
        _by_text(page, of),
        _by_neighbours(page, of),
        _by_boxes(page, of),
        _by_core(page, of),
    )
    return list(map(sum, zip(*parts, strict=True)))


class _Page:
    """What several features need of all passages."""

    def __init__(self, found: Sequence[Passage], is_forum: bool) -> None:
        self.found = found
        self.is_forum = is_forum
        self.words = [each.words for each in found]
        self.words_before = [0, *accumulate(self.words)]
        self.total = max(1, self.words_before[-1])


def _by_order(page: _Page, of: Mapping[str, float]) -> list[float]:
    """What is the same for all, and what stands before a passage."""
    heading = next((at for at, each in enumerate(page.found) if each.box.tag == "h1"), None)
    same = of["bias"] + of["page-words"] * math.log1p(page.total) + (of["no-heading"] if heading is None else 0)
    total, place, start, end = page.total, of["place"], of["start"], of["end"]
    values = [
        same + place * (before / total) + (start if 20 * before < total else end if 10 * before > 9 * total else 0)
        for before in page.words_before[:-1]
    ]
    if heading is not None:
        after = of["after-heading"]
        values[heading:] = [value + after for value in values[heading:]]
    return values


def _by_words(page: _Page, of: Mapping[str, float]) -> list[float]:
    """How many words it has."""
    log = of["words"] + (of["post-words"] if page.is_forum else 0)
    known = {
        many: log * math.log1p(many) + of["ten-words"] * (many >= 10) + of["many-words"] * (many >= 25)
        for many in set(page.words)
    }
    return [known[many] for many in page.words]


def _by_place(page: _Page, of: Mapping[str, float]) -> list[float]:
    """Its own element and those around it, and how many have the same."""
    around = _sums(_AROUND, of, {each.around for each in page.found})
    own = _sums(_OWN, of, {each.own for each in page.found})
    for bit, feature in ((_MAIN, "outside-main"), (_ARTICLE, "outside-article")):
        if any(bits & bit for bits in around):
            around.update({bits: value + of[feature] for bits, value in around.items() if not bits & bit})
    places = [(each.around, each.own, each.box.tag) for each in page.found]
    log = of["alike"] + (of["post-alike"] if page.is_forum else 0)
    known = {place: log * math.log(many) + around[place[0]] + own[place[1]] for place, many in Counter(places).items()}
    if page.is_forum:
        known = {place: value + _of_post(*place, of) for place, value in known.items()}
    return [known[place] for place in places]


def _of_post(around: int, _own: int, tag: str, of: Mapping[str, float]) -> float:
    """What a place says on a forum's page alone."""
    return (
        of["post-card"] * (around & _CARD > 0)
        + of["post-crumb"] * (around & _CRUMB > 0)
        + of["post-item"] * (tag == "li")
        + of["post-term"] * (tag in _TERMS)
    )


def _sums(features: Sequence[tuple[int, str]], of: Mapping[str, float], found: set[int]) -> dict[int, float]:
    """For each of the *found* sums of bits, that of the weights of its *features*."""
    weights = [(bit, of[feature]) for bit, feature in features]
    return {bits: sum([weight for bit, weight in weights if bits & bit]) for bits in found}


def _by_text(page: _Page, of: Mapping[str, float]) -> list[float]:
    """The text itself."""
    texts = [each.text for each in page.found]
    ends, lower, digits, cookies = of["ends-as-sentence"], of["lower"], of["digits"], of["cookies"]
    values = [
        (ends if text[-1] in _ENDS else 0)
        + (lower if text[0].islower() else 0)
        + (digits if _DIGIT.search(text) else 0)
        for text in texts
    ]
    for at, text in enumerate(map(str.lower, texts)):
        if "cookie" in text or "consent" in text:
            values[at] += cookies * (text.count("cookie") + text.count("consent")) / math.sqrt(1 + page.words[at])
    if len(seen := dict(zip(reversed(texts), range(len(texts) - 1, -1, -1), strict=True))) < len(texts):
        values = [
            value + of["repeated-text"] * (seen[text] < at)
            for at, (text, value) in enumerate(zip(texts, values, strict=True))
        ]
    if page.is_forum:
        prose, dated = of["post-prose"], of["post-date"]
        values = [
            value
            + prose * each.is_prose
            + (dated if each.words < _SHORT and _YEAR.search(each.text) is not None else 0)
            for value, each in zip(values, page.found, strict=True)
        ]
    return values


def _by_neighbours(page: _Page, of: Mapping[str, float]) -> list[float]:
    """The passages before and behind it."""
    linked = [0, *accumulate([each.linked for each in page.found])]
    long = [0, *accumulate([many >= 10 for many in page.words])]
    at = range(len(page.words) + 1)
    links, near, long_8, words_8 = of["near-links"], of["near-long"], of["long-8"], of["words-8"]
    log = math.log1p
    return [
        links * in_links / (words or 1)
        + near * of_near / near_to
        + long_8 * of_wide / wide
        + words_8 * log(many / wide)
        for in_links, words, of_near, near_to, of_wide, wide, many in zip(
            _windows(linked, 3),
            _windows(page.words_before, 3),
            _windows(long, 1),
            _windows(at, 1),
            _windows(long, 8),
            _windows(at, 8),
            _windows(page.words_before, 8),
            strict=True,
        )
    ]


def _by_boxes(page: _Page, of: Mapping[str, float]) -> list[float]:
    """The boxes around it: the first, second and third, or the outermost."""
    known: dict[Box, float] = {}
    depths = [of["depth"] * depth / 30 for depth in range(31)]
    values = []
    for each in page.found:
        box = each.box
        second = box.parent or box
        value = known.get(second)
        if value is None:
            third = second.parent or second
            value = of["links-2"] * (second.linked / (second.words or 1))
            value += of["links-3"] * (third.linked / (third.words or 1))
            value += of["share-4"] * ((third.parent or third).words / page.total)
            known[second] = value
        values.append(value + depths[min(box.depth, 30)])
    return values


def _by_core(page: _Page, of: Mapping[str, float]) -> list[float]:
    """Whether it stands in the core, and how far out of it: the steps to a box that holds both, up to 1.

    The core is the innermost box with most of the page's prose.
    """
    core = _core(page.found)
    place = {box: (box is core, 0) for box in _outwards(core)}  # in the core, steps out of what is around it
    far = of["core-far"] / FAR
    sides = {inside: [of["in-core"] * inside + far * steps for steps in range(FAR + 1)] for inside in (True, False)}
    values = []
    for each in page.found:
        inside, steps = place.get(each.box) or _put(each.box, place)
        values.append(sides[inside][min(FAR, steps)])
    return values


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


def _put(box: Box, place: dict[Box, tuple[bool, int]]) -> tuple[bool, int]:
    """Put *box* and those around it into *place*, which holds the outermost one; its own place."""
    missing, around = [], box.parent
    assert around is not None
    while (found := place.get(around)) is None:
        missing.append(around)
        assert around.parent is not None
        around = around.parent
    inside, steps = found
    for each in reversed(missing):
        steps += 1
        place[each] = (inside, steps)
    place[box] = found = (inside, steps + 1)
    return found


def _outwards(box: Box | None) -> Iterator[Box]:
    while box is not None:
        yield box
        box = box.parent


def _windows(before: Sequence[int], reach: int) -> list[int]:
    """For each passage the sum over it and *reach* on each side, by the sums *before* each one and of all."""
    padded = [before[0]] * reach + list(before) + [before[-1]] * reach
    return list(map(sub, padded[2 * reach + 1 :], padded))
