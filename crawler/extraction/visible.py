"""What else a page shows of its product: name, brand, rating, category and picture."""

from __future__ import annotations

import re

from crawler.extraction import labels, values, view
from crawler.extraction.nodetext import parts_of, text_of
from crawler.extraction.view import View

_SCORE = re.compile(
    r"(\d(?:[.,]\d{1,2})?)\s*(?:out of|of|von|sur|de|su|van|av|af|z|ze|из|з|/|din|iš|no|מתוך|من)\s*(5|10)\b",
    re.IGNORECASE,
)
_STARS = "[class*=rating],[class*=stars],[class*=Rating],[class*=Stars],[aria-label*=star i],[title*=star i]"
_CRUMBS = "[class*=breadcrumb i],[id*=breadcrumb i],nav[aria-label*=breadcrumb i]"
_SEPARATORS = " \t\n/>»›|·•→\u00a0"
MAX_CRUMBS = 12
MAX_RATING = 200  # characters


def shown_title(page: View) -> str | None:
    """The text of the heading."""
    return text_of(page.heading) if page.heading is not None else None


def shown_brand(page: View) -> str | None:
    """The text after a label such as Brand or Manufacturer."""
    for index, (text, node) in enumerate(page.texts[:-1]):
        if len(text) < 40 and labels.BRAND_LABEL.match(text) and not page.flags(node) & view.OTHER:
            value = next(
                (following for following, _ in page.texts[index + 1 : index + 3] if following.strip(" :：")), ""
            )
            if len(value) <= 60 and not value.endswith((":", "：")):
                return value
    return None


def shown_rating(page: View) -> tuple[str, str] | None:
    """(value, end of its scale) of the first rating in words: `4.5 out of 5`."""
    for node in page.document.tree.css(_STARS)[:50]:
        attributes = node.attributes
        for text in (attributes.get("aria-label"), attributes.get("title"), text_of(node, MAX_RATING)):
            if text and len(text) < MAX_RATING and (match := _SCORE.search(text)):
                return match[1], match[2]
    return None


def shown_category(page: View, title: str | None) -> str | None:
    """The trail of breadcrumbs without the product itself: `Home > Kitchen > Knives`."""
    for trail in page.document.tree.css(_CRUMBS)[:5]:
        crumbs = [text for text in parts_of(trail, values.MAX_TEXT) if text.strip(_SEPARATORS)]
        if crumbs and title and crumbs[-1].lower() in title.lower():
            crumbs.pop()
        if 2 <= len(crumbs) <= MAX_CRUMBS:
            return " > ".join(crumbs)
    return None


def shown_image(page: View) -> str | None:
    """The first picture whose alternative text names the product."""
    wanted = set(re.findall(r"\w+", (shown_title(page) or "").lower()))
    for node in page.document.tree.css("img[alt]")[:200] if wanted else ():
        attributes = node.attributes
        words = set(re.findall(r"\w+", (attributes.get("alt") or "").lower()))
        if len(words & wanted) >= max(1, len(wanted) * 0.6):
            return attributes.get("data-src") or attributes.get("src")
    return None
