"""Other visible facts of a product: name, brand, rating, category and image."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from selectolax.lexbor import LexborNode

from crawler.extraction.tree.nodetext import parts_of, text_of
from crawler.extraction.visible import view
from crawler.extraction.visible.view import View
from crawler.extraction.words import values

_SCORE = re.compile(
    r"(\d(?:[.,]\d{1,2})?)\s*(?:out of|of|von|sur|de|su|van|av|af|z|ze|из|з|/|din|iš|no|מתוך|من)\s*(5|10)\b",
    re.IGNORECASE,
)
_STARS = "[class*=ating],[class*=tars],[aria-label*=star i],[title*=star i]"
_REVIEWS = re.compile(
    r"(\d[\d.,\u00a0]{0,9})\s*(?:customer |verified |product )?(?:reviews?|ratings?|opini|bewertung|rezension|avis\b"
    r"|reseñ|valoraci|recension|avaliaç|beoordeling|omdöm|anmeldels|arvostel|hodnocen|hodnoten|recenz|értékelés"
    r"|отзыв|відгук|yorum|ביקורות|件のレビュー|レビュー|条评价|則評價|개의? 리뷰|รีวิว|đánh giá|ulasan)",
    re.IGNORECASE,
)
_CRUMBS = "[class*=breadcrumb i],[id*=breadcrumb i],nav[aria-label*=breadcrumb i]"
_SEPARATORS = " \t\n/>»›|·•→\u00a0"
MAX_CRUMBS = 12
NEAR = 60  # texts around the heading
MAX_RATING = 200  # characters


def shown_title(page: View) -> str | None:
    """The text of the heading."""
    return text_of(page.heading) if page.heading is not None else None


def shown_rating(page: View) -> tuple[str, str] | None:
    """(value, end of the scale) of the first rating in words: `4.5 out of 5`.

    Where reviews are counted near the heading, the very first element is mostly right, and found without the others.
    """
    first = page.document.first(_STARS) if page.once(_near_reviews) else None
    rated = _rated(first) if first is not None else None
    return rated or next(filter(None, map(_rated, page.once(_stars))), None)


def _rated(node: LexborNode) -> tuple[str, str] | None:
    attributes = node.attributes
    for text in (attributes.get("aria-label"), attributes.get("title"), text_of(node, MAX_RATING)):
        if text and len(text) < MAX_RATING and (match := _SCORE.search(text)):
            return match[1], match[2]
    return None


def _stars(page: View) -> list[LexborNode]:
    """Elements that show a rating."""
    return page.document.tree.css(_STARS)[:50]


def _of_stars(page: View) -> Iterator[str]:
    """Their texts."""
    for node in page.once(_stars):
        yield text_of(node, MAX_RATING)


def shown_reviews(page: View) -> str | None:
    """The number of reviews in words, near the heading or beside a rating: `782 reviews`."""
    return page.once(_near_reviews) or _counted(_of_stars(page))


def _near_reviews(page: View) -> str | None:
    start = max(0, page.heading_index)
    return _counted(page.texts[at][0] for at in page.numbers if start <= at < start + NEAR)


def _counted(texts: Iterable[str]) -> str | None:
    """The first number of reviews that one of *texts* tells."""
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
