"""Which passages of a page are its main text: weighted features, then the choice that promises the best F1.

The features are language-independent: elements and class names around a passage, its length, its share of links, its
place, its surroundings. The weights are learned (reading.toml).
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import accumulate
from operator import itemgetter, mul
from typing import Final

from crawler.extraction.page_kind import PRICE, Kind
from crawler.extraction.passages import BITS, READING, Box, Passage

REPEATING: Final = frozenset(("forum", "product"))  # kinds of pages that show the same text twice
MOST_REVIEWS: Final = 0.6  # of a product page's words; where more stands in elements named so, their names say nothing
SHELL: Final = 0.2  # of a page's words; where fewer, and no more than SMALL_PAGE, may be main text, there is none
SMALL_PAGE: Final = 60  # words; all of a small page is main text if no passage is likely to be
LIKELY: Final = 0.5
UNLIKELY: Final = 0.05  # where no passage is likelier, there is no main text: a consent wall
SHOPS: Final = frozenset(("product", "shop"))

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
    long-8 words-8 post-words post-card post-alike post-prose post-item
    """
)
SIGNS: Final = (*(f"in {name}" for name in AROUND), *(f"own {name}" for name in OWN), *NUMBERS)

_END = re.compile(r"[.!?…:;\"”)。！？]$")
_PROSE = re.compile(r"[.!?…:;。！？]")
_DIGIT = re.compile(r"\d")
_COOKIE = re.compile(r"cookie|consent", re.IGNORECASE)


def _bit(name: str) -> int:
    return BITS[name]


_AROUND_BITS: Final = [_bit(name) for name in AROUND]
_OWN_BITS: Final = [_bit(name) for name in OWN]
_MAIN, _ARTICLE, _CARD = _bit("main"), _bit("article"), _bit("card")
_ASIDE: Final = _bit("nav") | _bit("footer") | _bit("aside") | _bit("button") | _bit("select")
_BESIDE: Final = _bit("nav") | _bit("footer") | _bit("aside")
_REVIEWS: Final = _bit("rev")
_FIELDS: Final = _bit("button") | _bit("label") | _bit("select")


Scored = tuple[Passage, float]  # with its chance to be main text


class Weights:
    """A weight for each of SIGNS."""

    def __init__(self, by_sign: Mapping[str, float]) -> None:
        values = [float(by_sign.get(sign, 0)) for sign in SIGNS]
        self._around = list(zip(_AROUND_BITS, values, strict=False))
        self._own = list(zip(_OWN_BITS, values[len(AROUND) :], strict=False))
        self._numbers = values[len(AROUND) + len(OWN) :]

    def chances(self, found: Sequence[Passage], kind: Kind) -> list[float]:
        """The probability of each passage to be main text."""
        around: dict[int, float] = {}
        own: dict[int, float] = {}
        chances = []
        for each, numbers in zip(found, numbers_of(found, kind), strict=True):
            if (one := around.get(each.around)) is None:
                one = around[each.around] = sum(weight for bit, weight in self._around if each.around & bit)
            if (two := own.get(each.own)) is None:
                two = own[each.own] = sum(weight for bit, weight in self._own if each.own & bit)
            three = sum(map(mul, numbers, self._numbers))
            chances.append(1 / (1 + math.exp(-max(-50.0, min(50.0, one + two + three)))))
        return chances


LEARNED: Final = Weights(READING["weights"])


def main_passages(found: Sequence[Passage], kind: Kind, weights: Weights = LEARNED) -> list[Passage]:
    """The passages of a page's main text, in order: those that together promise the best F1."""
    chances = weights.chances(found, kind)
    able = _able(list(zip(found, chances, strict=True)), kind)
    total = sum(each.words for each in found)
    words = sum(each.words for each, _ in able)
    best = max((chance for _, chance in able), default=0.0)
    if total <= SMALL_PAGE and best < LIKELY:
        return [each for each in found if not each.around & _ASIDE]
    if best < UNLIKELY or (words <= SMALL_PAGE and words < SHELL * total):
        return []
    if kind in REPEATING:
        able = _once(able)
    least = _least_chance(able)
    return [each for each, chance in able if chance >= least]


def _least_chance(able: Sequence[Scored]) -> float:
    """The chance from which on a passage is taken: half of the best F1 to be expected.

    The likeliest passages are taken one after the other; a further one pays as long as its chance is more than half of
    the F1 so far (Lewis 1995). So a page that is hard to tell gives what is likeliest, not nothing.
    """
    expected = sum(each.words * chance for each, chance in able)
    right = taken = best = 0.0
    for each, chance in sorted(able, key=itemgetter(1), reverse=True):
        right += each.words * chance
        taken += each.words
        best = max(best, 2 * right / (taken + expected))
    return best / 2


def _able(found: Sequence[Scored], kind: Kind) -> list[Scored]:
    """Without what is never main text on a page of this kind."""
    shop = kind in SHOPS
    left_out = _REVIEWS if shop and _has_reviews(found) else 0
    return [
        (each, chance)
        for each, chance in found
        if not (each.around & left_out or _is_of_menu(each) or (shop and _is_of_buying(each)))
    ]


def _once(found: Sequence[Scored]) -> list[Scored]:
    """Without repetitions of more than three words."""
    seen: set[str] = set()
    kept = []
    for each, chance in found:
        if each.words > 3:
            if each.text in seen:
                continue
            seen.add(each.text)
        kept.append((each, chance))
    return kept


def _has_reviews(found: Sequence[Scored]) -> bool:
    """Whether a part of a product page is what customers say."""
    reviews = sum(each.words for each, _ in found if each.around & _REVIEWS)
    return 0 < reviews <= MOST_REVIEWS * sum(each.words for each, _ in found)


def _is_of_menu(passage: Passage) -> bool:
    """Whether it is a link beside the text."""
    return bool(passage.around & _BESIDE) and 2 * passage.linked >= passage.words


def _is_of_buying(passage: Passage) -> bool:
    """Whether it is a price, or in a form."""
    return bool(passage.around & _FIELDS) or (passage.words < 8 and PRICE.search(passage.text[:400]) is not None)


def signs_of(found: Sequence[Passage], kind: Kind) -> list[dict[int, float]]:
    """For each passage its non-zero SIGNS, by index: the input for learning weights."""
    both = len(AROUND) + len(OWN)
    rows = []
    for each, numbers in zip(found, numbers_of(found, kind), strict=True):
        row = {at: 1.0 for at, bit in enumerate(_AROUND_BITS) if each.around & bit}
        row.update({len(AROUND) + at: 1.0 for at, bit in enumerate(_OWN_BITS) if each.own & bit})
        row.update({both + at: value for at, value in enumerate(numbers) if value})
        rows.append(row)
    return rows


def numbers_of(found: Sequence[Passage], kind: Kind) -> list[tuple[float, ...]]:
    """The values of NUMBERS for each passage."""
    page = _Page(found)
    rows: list[tuple[float, ...]] = []
    before = 0
    for at, each in enumerate(found):
        rows.append((*_of_itself(page, each, at, before / page.words), *_of_its_place(page, each, at, kind)))
        before += each.words
    return rows


def _of_itself(page: _Page, each: Passage, at: int, place: float) -> tuple[float, ...]:
    """The first part of NUMBERS: of the passage itself."""
    return (
        1.0,
        place,
        place < 0.05,
        place > 0.9,
        page.heading is not None and at >= page.heading,
        page.heading is None,
        page.is_repeated(each),
        page.alike(each),
        math.log1p(each.words),
        each.words >= 10,
        each.words >= 25,
        _END.search(each.text) is not None,
        each.text[:1].islower(),
        _DIGIT.search(each.text) is not None,
        len(_COOKIE.findall(each.text)) / math.sqrt(1 + each.words),
        page.has_main and not each.around & _MAIN,
        page.has_article and not each.around & _ARTICLE,
    )


def _of_its_place(page: _Page, each: Passage, at: int, kind: Kind) -> tuple[float, ...]:
    """The rest of NUMBERS: of the page, of neighbours, and of forum posts."""
    post = kind == "forum"
    prose = post and each.words >= 10 and each.linked < 0.3 * each.words and bool(_PROSE.search(each.text))
    second, third, fourth = _boxes(each.box)
    return (
        page.log_words,
        min(each.box.depth, 30) / 30,
        page.near_links(at),
        page.long_share(at, 1),
        second.linked / max(1, second.words),
        third.linked / max(1, third.words),
        fourth.words / page.words,
        page.long_share(at, 8),
        page.log_words_near(at),
        math.log1p(each.words) if post else 0.0,
        post and each.around & _CARD > 0,
        page.alike(each) if post else 0.0,
        prose,
        post and each.box.tag == "li",
    )


def _boxes(box: Box) -> tuple[Box, Box, Box]:
    """The first, second and third around *box*, or the outermost."""
    second = box.parent or box
    third = second.parent or second
    return second, third, third.parent or third


class _Page:
    """What features of one passage need from all passages."""

    def __init__(self, found: Sequence[Passage]) -> None:
        self.words = max(1, sum(each.words for each in found))
        self.log_words = math.log1p(self.words)
        self.heading = next((at for at, each in enumerate(found) if each.box.tag == "h1"), None)
        self.has_main = any(each.around & _MAIN for each in found)
        self.has_article = any(each.around & _ARTICLE for each in found)
        self._alike = Counter((each.box.tag, each.own, each.around) for each in found)
        self._seen: set[str] = set()
        self._count = len(found)
        self._words = [0, *accumulate(each.words for each in found)]
        self._linked = [0, *accumulate(each.linked for each in found)]
        self._long = [0, *accumulate(each.words >= 10 for each in found)]

    def alike(self, passage: Passage) -> float:
        """The logarithm of how many passages have the same place in the tree."""
        return math.log(self._alike[passage.box.tag, passage.own, passage.around])

    def is_repeated(self, passage: Passage) -> bool:
        """Whether the same text occurred before; has to be called once per passage, in order."""
        known = len(self._seen)
        self._seen.add(passage.text)
        return len(self._seen) == known

    def near_links(self, at: int) -> float:
        """The share of words in links, of the passage and three on each side."""
        low, high = max(0, at - 3), min(self._count, at + 4)
        return (self._linked[high] - self._linked[low]) / max(1, self._words[high] - self._words[low])

    def long_share(self, at: int, reach: int) -> float:
        """The share of passages with ten words or more, among neighbours on each side."""
        low, high = max(0, at - reach), min(self._count, at + reach + 1)
        return (self._long[high] - self._long[low]) / (high - low)

    def log_words_near(self, at: int) -> float:
        """The logarithm of the mean length of eight passages on each side."""
        low, high = max(0, at - 8), min(self._count, at + 9)
        return math.log1p((self._words[high] - self._words[low]) / (high - low))
