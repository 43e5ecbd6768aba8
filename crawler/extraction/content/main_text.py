"""Which passages of a page are its main text: weighted features, then the choice that promises the best F1.

The features are those of features.py; their weights are learned (reading.toml).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import Final

from crawler.extraction.content.features import FEATURES, sums
from crawler.extraction.content.marks import BITS, READING
from crawler.extraction.content.page_kind import PRICE, SHOPS, Kind
from crawler.extraction.content.passages import Passage

REPEATING: Final = frozenset(("forum", "product"))  # kinds of pages that show the same text twice
MOST_SAID: Final = 0.6  # by readers, of a page's words; where more stands in elements named so, their names say nothing
MOST_RELATED: Final = 0.3  # the same of what is named related, recent or the like
LEAST_LINKED: Final = 0.2  # of its words: with fewer it is the rest of a text behind a button "more"
SHELL: Final = 0.2  # of a page's words; where fewer, and no more than SMALL_PAGE, may be main text, there is none
SMALL_PAGE: Final = 60  # words; all of a small page is main text if no passage is likely to be
LIKELY: Final = 0.5
UNLIKELY: Final = 0.05  # where no passage is likelier, there is no main text: a consent wall

_ASIDE: Final = BITS["nav"] | BITS["footer"] | BITS["aside"] | BITS["button"] | BITS["select"]
_BESIDE: Final = BITS["nav"] | BITS["footer"] | BITS["aside"]
_COMMENTS: Final = (BITS["comm"], MOST_SAID, 0.0)
_ADDED: Final[dict[Kind, tuple[tuple[int, float, float], ...]]] = {  # what stands below a text: of `_is_part`
    **dict.fromkeys(("product", "shop"), ((BITS["rev"], MOST_SAID, 0.0),)),
    "article": (_COMMENTS, (BITS["rel"], MOST_RELATED, LEAST_LINKED)),
    "other": (_COMMENTS,),
}
_HEADINGS: Final = frozenset(("h2", "h3", "h4", "h5", "h6"))
_FIELDS: Final = BITS["button"] | BITS["label"] | BITS["select"]


Scored = tuple[Passage, float]  # with its chance to be main text


class Weights:
    """A weight for each of FEATURES."""

    def __init__(self, by_feature: Mapping[str, float]) -> None:
        self._of = {feature: float(by_feature.get(feature, 0)) for feature in FEATURES}

    def chances(self, found: Sequence[Passage], kind: Kind) -> list[float]:
        """The probability of each passage to be main text."""
        exp = math.exp
        return [
            1 / (1 + exp(-total)) if -50 < total < 50 else float(total > 0) for total in sums(found, kind, self._of)
        ]


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
    left_out = sum(added[0] for added in _ADDED.get(kind, ()) if _is_part(found, *added))
    return [
        (each, chance)
        for each, chance in found
        if not (
            (left_out and _around(each) & left_out)
            or (each.around & _BESIDE and 2 * each.linked >= each.words)  # a link beside the text
            or (shop and _is_of_buying(each))
        )
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


def _is_part(found: Sequence[Scored], bits: int, most: float, linked: float) -> bool:
    """Whether elements with *bits* hold a part of the page, not its heading.

    That is at *most* such a share of its words, and at least *linked* of them are in links.
    """
    held = [each for each, _ in found if each.around & bits]
    words = sum(each.words for each in held)
    if not 0 < words <= most * sum(each.words for each, _ in found):
        return False
    return sum(each.linked for each in held) >= linked * words and all(each.box.tag != "h1" for each in held)


def _around(passage: Passage) -> int:
    """BITS of the elements around it, not of a heading itself: its words are its id (`id="comment-choisir"`)."""
    box = passage.box
    return box.parent.around if box.tag in _HEADINGS and box.parent is not None else passage.around


def _is_of_buying(passage: Passage) -> bool:
    """Whether it is a price, or in a form."""
    return bool(passage.around & _FIELDS) or (passage.words < 8 and PRICE.search(passage.text[:400]) is not None)
