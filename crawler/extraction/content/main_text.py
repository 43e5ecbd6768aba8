"""Which passages of a page are its main text: weighted features, then the choice that promises the best F1.

The features are those of features.py; their weights are learned (reading.toml).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import islice
from operator import itemgetter
from typing import Final

from crawler.extraction.content.features import FEATURES, sums
from crawler.extraction.content.marks import BITS, READING
from crawler.extraction.content.page_kind import PRICE, SHOPS, Kind
from crawler.extraction.content.passages import Passage

REPEATING: Final = frozenset(("forum", "product"))  # kinds of pages that show the same text twice
MOST_SAID: Final = 0.6  # by readers, of a page's words; where more stands in elements named so, their names say nothing
MOST_RELATED: Final = 0.3  # the same of what is named related, recent or the like
MOST_IN_DIALOGS: Final = 0.8  # the same of dialogs; where more stands in one, it is the page
LEAST_RELATED: Final = 2  # links that stand alone in it
SHELL: Final = 0.2  # of a page's words; where fewer, and no more than SMALL_PAGE, may be main text, there is none
SMALL_PAGE: Final = 60  # words; all of a small page is main text if no passage is likely to be
LIKELY: Final = 0.5
UNLIKELY: Final = 0.05  # where no passage is likelier, there is no main text: a consent wall

_ASIDE: Final = BITS["nav"] | BITS["footer"] | BITS["aside"] | BITS["button"] | BITS["select"]
_BESIDE: Final = BITS["nav"] | BITS["footer"] | BITS["aside"]
_REVIEWS: Final = BITS["rev"]
_COMMENTS: Final = BITS["comm"]
_RELATED: Final = BITS["rel"]
_FORUM: Final = BITS["forum"]
_DIALOG: Final = BITS["dialog"]
_OVERLAY: Final = BITS[
    "cookie"
]  # or `modal`, `popup` and the like: a dialog without such a name may be a part of a page
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
    able = _able(_without_dialogs(list(zip(found, chances, strict=True))), kind)
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


def _without_dialogs(found: list[Scored]) -> list[Scored]:
    """Without what is shown over a page when somebody asks for it, or is asked, if that is a part of it.

    It is the page if it has its only heading, or most of its words.
    """
    inside = {each for each, _ in found if each.around & _DIALOG and each.around & _OVERLAY}
    if not inside:
        return found
    headings = [each for each, _ in found if each.box.tag == "h1"]
    held = sum(each.words - each.linked for each in inside)
    most = MOST_IN_DIALOGS * sum(each.words - each.linked for each, _ in found)
    is_page = held > most or (headings and inside.issuperset(headings))
    return found if is_page else [scored for scored in found if scored[0] not in inside]


def _able(found: Sequence[Scored], kind: Kind) -> list[Scored]:
    """Without what is never main text on a page of this kind."""
    shop = kind in SHOPS
    left_out = _left_out(found, kind)
    start = 0 if shop or not left_out else _end_of_text(found, left_out)
    return [
        (each, chance)
        for at, (each, chance) in enumerate(found)
        if not (
            (left_out and at >= start and _around(each) & left_out)
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


def _left_out(found: Sequence[Scored], kind: Kind) -> int:
    """BITS of elements whose content is no main text of such a page."""
    if kind in SHOPS:
        return _REVIEWS if _is_part(found, _REVIEWS, MOST_SAID) else 0
    if kind == "forum":
        return 0
    bits = _COMMENTS | (_RELATED if kind == "article" else 0)
    if not any(each.around & bits for each, _ in found):
        return 0
    likely = [(each, chance) for each, chance in found if chance >= LIKELY]
    is_thread = kind == "other" and any(
        each.around & _FORUM and not each.around & _COMMENTS and each.is_prose for each, _ in likely
    )
    comments = _COMMENTS if not is_thread and _is_part(likely, _COMMENTS, MOST_SAID) else 0
    is_related = kind == "article" and _has_teasers(found) and _is_part(likely, _RELATED, MOST_RELATED)
    return comments | (_RELATED if is_related else 0)


def _is_part(found: Sequence[Scored], bits: int, most: float) -> bool:
    """Whether elements with *bits* hold a part of the page, at *most* such a share of what is in no link."""
    held = [each for each, _ in found if each.around & bits]
    words = sum(each.words - each.linked for each in held)
    total = sum(each.words - each.linked for each, _ in found)
    return 0 < words <= most * total and all(each.box.tag != "h1" for each in held)


def _has_teasers(found: Sequence[Scored]) -> bool:
    """Whether what is named related is links with a sentence at most: else it is a section (`id="related-work"`)."""
    held = [each for each, _ in found if _around(each) & _RELATED]
    links = sum(each.linked == each.words for each in held)
    return links >= max(LEAST_RELATED, sum(each.is_prose for each in held))


def _end_of_text(found: Sequence[Scored], left_out: int) -> int:
    """Behind which comments and the like stand, with a paragraph at most behind them: others are of the text."""
    ends = (
        at
        for at in range(len(found) - 1, -1, -1)
        if found[at][1] >= LIKELY and not found[at][0].around & left_out and found[at][0].is_prose
    )
    return next(islice(ends, 1, None), 0)


def _around(passage: Passage) -> int:
    """BITS of the elements around it, not of a heading itself: its words are its id (`id="comment-choisir"`)."""
    box = passage.box
    return box.parent.around if box.tag in _HEADINGS and box.parent is not None else passage.around


def _is_of_buying(passage: Passage) -> bool:
    """Whether it is a price, or in a form."""
    return bool(passage.around & _FIELDS) or (passage.words < 8 and PRICE.search(passage.text[:400]) is not None)
