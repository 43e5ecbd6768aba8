"""Other visible facts of a product: name, brand, rating, category and image."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from selectolax.lexbor import LexborNode

from crawler.extraction.tree.nodetext import around, parts_of, text_of
from crawler.extraction.visible import view
from crawler.extraction.visible.view import View
from crawler.extraction.words import values

_SCORE = re.compile(
    r"(\d(?:[.,]\d{1,2})?)\s*(?:out of|of|von|sur|de|su|van|av|af|z|ze|из|з|/|din|iš|no|מתוך|من)\s*(5|10)\b",
    re.IGNORECASE,
)
_LABELLED = '[aria-label*="5"],[title*="5"]'
_REVIEWS = re.compile(
    r"(\d[\d.,\u00a0]{0,9})\s*(?:customer |verified |product )?(?:reviews?|ratings?|opini|bewertung|rezension|avis\b"
    r"|reseñ|valoraci|recension|avaliaç|beoordeling|omdöm|anmeldels|arvostel|hodnocen|hodnoten|recenz|értékelés"
    r"|отзыв|відгук|yorum|ביקורות|件のレビュー|レビュー|条评价|則評價|개의? 리뷰|รีวิว|đánh giá|ulasan)",
    re.IGNORECASE,
)
_UNSEEN = re.compile(r"(?:^|\s)(?:is-hidden|hidden|d-none|visually-hidden|sr-only|screen-reader-text)(?:\s|$)")
_CRUMBS = "[class*=breadcrumb i],[id*=breadcrumb i],nav[aria-label*=breadcrumb i]"
_SEPARATORS = " \t\n/>»›|·•→\u00a0"
MAX_CRUMBS = 12
MAX_PARTS = 50  # of a heading, which may be unseen
NEAR = 60  # texts around the heading
MAX_RATING = 200  # characters
MAX_LABELLED = 100  # elements whose label may say a rating


def shown_title(page: View) -> str | None:
    """The text of the heading, without parts that nobody sees, unless it has no others."""
    heading = page.heading
    if heading is None:
        return None
    whole = text_of(heading)
    unseen = [node for node in heading.css("[class]")[:MAX_PARTS] if _UNSEEN.search(node.attributes.get("class") or "")]
    shown = whole
    for node in unseen:
        shown = shown.replace(text_of(node), "", 1)
    return shown.strip() or whole


def shown_rating(page: View) -> tuple[str, str] | None:
    """(value, end of the scale) of the first rating by the heading: `4.5 out of 5`, as a text or a label.

    It speaks of stars, or its element is named for it. Zero is none: nobody has rated. Further off are ratings of other
    products, and of those who sell.
    """
    said = [*_rated_labels(page), *islice(_rated_texts(page), 1)]
    return min(said, key=lambda each: each[0], default=(0, None))[1]


def _rated_texts(page: View) -> Iterator[tuple[int, tuple[str, str]]]:
    """(place, rating) of what texts by the heading say, or elements around them."""
    for at in _numbers_by_heading(page):
        text, node = page.texts[at]
        said = [text] if "star" in text.lower() else []
        said += (text_of(each, MAX_RATING) for each in around(node) if _is_starred(page.look(each)))
        yield from ((at, rating) for each in said if (rating := _rating(each)))


def _rated_labels(page: View) -> Iterator[tuple[int, tuple[str, str]]]:
    """The same of labels beside texts by the heading: of icons, that have no text."""
    for node in page.document.tree.css(_LABELLED)[:MAX_LABELLED]:
        attributes = node.attributes
        for label in (attributes.get("aria-label") or "", attributes.get("title") or ""):
            is_starred = "star" in label.lower() or _is_starred(attributes.get("class") or "")
            rating = _rating(label) if is_starred else None
            if rating and (place := _place(page, node)) is not None:
                yield place, rating


def _rating(text: str) -> tuple[str, str] | None:
    found = _SCORE.search(text) if len(text) < MAX_RATING else None
    return (found[1], found[2]) if found and found[1].strip("0.,") else None


def _is_starred(name: str) -> bool:
    return "ating" in name or "tars" in name


def _place(page: View, node: LexborNode) -> int | None:
    """That of the first text by the heading in an element around *node*, or right beside it."""
    places = page.once(_by_heading)
    beside = [*around(node), *_siblings(node)]
    return next((places[each.mem_id] for each in beside if each.mem_id in places), None)


def _siblings(node: LexborNode) -> Iterator[LexborNode]:
    """What stands right before and behind *node*; white space may be between."""
    before, behind = node.prev, node.next
    further = (before and before.prev, behind and behind.next)
    yield from (each for each in (before, behind, *further) if each is not None)


def _by_heading(page: View) -> dict[int, int]:
    """The elements with texts by the heading, each with the place of its first."""
    start, places = max(0, page.heading_index), dict[int, int]()
    for at, (_, node) in enumerate(page.texts[start : start + NEAR], start):
        for each in around(node):
            if each.tag not in ("body", "html"):
                places.setdefault(each.mem_id, at)
    return places


def _numbers_by_heading(page: View) -> list[int]:
    """Which texts from the heading on have a digit, up to NEAR."""
    start = max(0, page.heading_index)
    return [at for at in page.numbers if start <= at < start + NEAR]


def shown_reviews(page: View) -> str | None:
    """The number of reviews in words, by the heading: `782 reviews`."""
    texts = (page.texts[at][0] for at in _numbers_by_heading(page))
    found = (_REVIEWS.search(text) for text in texts if len(text) <= MAX_RATING)
    return next((each[1] for each in found if each), None)


def shown_category(page: View) -> str | None:
    """The trail of breadcrumbs without the product itself: `Home > Kitchen > Knives`."""
    title = (shown_title(page) or "").lower()
    for trail in _trails(page):
        crumbs = [text for text in parts_of(trail, values.MAX_TEXT) if text.strip(_SEPARATORS)]
        if crumbs and crumbs[-1].lower() in title:
            crumbs.pop()
        if 2 <= len(crumbs) <= MAX_CRUMBS:
            return " > ".join(crumbs)
    return None


def _trails(page: View) -> Iterator[LexborNode]:
    """The first elements with such a name. Nearly always the very first is right, so it is found without the others."""
    first = page.document.first(_CRUMBS)
    if first is not None:
        yield first
        yield from page.document.tree.css(_CRUMBS)[1:5]


def shown_image(page: View) -> str | None:
    """The first image whose alt text names the product."""
    wanted = view.words_of(shown_title(page) or "")
    for node in page.document.tree.css("img[alt]")[:200] if wanted else ():
        attributes = node.attributes
        words = view.words_of(attributes.get("alt") or "")
        if len(words & wanted) >= max(1, len(wanted) * 0.6):
            return attributes.get("data-src") or attributes.get("src")
    return None
