"""Other visible facts of a product: name, brand, rating, category and image."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final
from urllib.parse import urlsplit

from selectolax.lexbor import LexborNode

from crawler.caches import cached
from crawler.extraction import labels, site_names, values, view
from crawler.extraction.nodetext import parts_of, text_of
from crawler.extraction.view import View

_SCORE = re.compile(
    r"(\d(?:[.,]\d{1,2})?)\s*(?:out of|of|von|sur|de|su|van|av|af|z|ze|из|з|/|din|iš|no|מתוך|من)\s*(5|10)\b",
    re.IGNORECASE,
)
_BY = re.compile(r"^(?:by|von|par|por|di|door|av|af)\s+", re.IGNORECASE)
_STARS = "[class*=ating],[class*=tars],[aria-label*=star i],[title*=star i]"
_BRAND_LOGO = re.compile(
    r"brand(?!ed|-(?:primary|secondary|color|dark|light))|manufactur|vendor|hersteller|marque|marca\b", re.IGNORECASE
)
_LOGOS = re.compile(r"brand|manufactur|marque|marca|herst|logo", re.IGNORECASE)
# Names of elements that show just a brand.
_BRANDED = re.compile(
    r"(?:^|\s|product|item|pdp|detail|view|info)[-_]*"
    r"(?:brands?|manufacturers?|vendor|marke|marka|marque|marca|merk|hersteller|fabricante?|producent|znacka)"
    r"(?:[-_]*(?:name|link|title|value|wrapper|container|text))?(?:$|\s)",
    re.IGNORECASE,
)
_QUOTABLE = re.compile(r"[^\"\\\s]{1,39}")  # in a selector; longer than any brand
_LOGO = re.compile(r"^logo (?:von |de |di |of )?|[- ]logo$", re.IGNORECASE)
_REVIEWS = re.compile(
    r"(\d[\d.,\u00a0]{0,9})\s*(?:customer |verified |product )?(?:reviews?|ratings?|opini|bewertung|rezension|avis\b"
    r"|reseñ|valoraci|recension|avaliaç|beoordeling|omdöm|anmeldels|arvostel|hodnocen|hodnoten|recenz|értékelés"
    r"|отзыв|відгук|yorum|ביקורות|件のレビュー|レビュー|条评价|則評價|개의? 리뷰|รีวิว|đánh giá|ulasan)",
    re.IGNORECASE,
)
_CRUMBS = "[class*=breadcrumb i],[id*=breadcrumb i],nav[aria-label*=breadcrumb i]"
# An address of a brand's page.
_BRAND_PAGE = re.compile(
    r"/(?:brands?|vendors?|manufacturers?|makers?|marcas?|marques?|mar(?:ke|ken|ka|chi|chio)|hersteller|merk(?:en)?"
    r"|varumarken?|maerker?|merker|merkit?|producen[tc]\w*|producer|znack[ay]|vyrobce|vyrobci|gyarto\w*|markak"
    r"|producator\w*|proizvoda[cj]\w*|brend\w*|blagovne-znamke|gamintoja\w*|razotaj\w*|tootja\w*|fabricantes?"
    r"|proizvoditel\w*|thuong-hieu|merek|publishers?|verlag|editores?)/[^/?#]|[?&](?:brand|manufacturer|marca|marque)\w*="
    r"|/vendors\?q=",
    re.IGNORECASE,
)
_MANY = re.compile(
    r"\b(?:all|more|alle?|mehr|tou[st]|plus|todos?|más|tutt[ie]|altri|visit|shop|see|view)\b", re.IGNORECASE
)
_TESTED: Final = frozenset(("data-testid", "data-test", "data-test-id", "data-qa", "data-cy", "data-hook"))
_SEPARATORS = " \t\n/>»›|·•→\u00a0"
# How a label may begin: most texts do not.
_BEGUN = frozenset(each for label in labels.BRANDS for each in (label[:2], label[:2].title(), label[:2].upper()))
MAX_CRUMBS = 12
MAX_BRAND = 40  # characters
MAX_LABEL = max(map(len, labels.BRANDS)) + 3  # characters, with a colon
NEAR = 60  # texts around the heading
AROUND = 3  # elements around a text that may be named a brand
BESIDE = 4  # texts right by the heading
MAX_LOGOS = 30
AT_HEADING = 10  # texts by the heading that may link to the brand
LEVELS = 3  # elements around the heading that may have the brand's logo
MAX_RATING = 200  # characters


def shown_title(page: View) -> str | None:
    """The text of the heading."""
    return text_of(page.heading) if page.heading is not None else None


def shown_brand(page: View) -> str | None:
    """The text after a label such as Brand or Manufacturer, else that of an element with such a name near the
    heading, else a link by the heading or a logo with which heading or title begin."""
    for index, (text, node) in enumerate(page.texts):
        if text[:2] not in _BEGUN or len(text) > MAX_LABEL + MAX_BRAND:
            continue
        label, _, same = text.replace("：", ":").partition(":")
        if label.strip().lower() not in labels.BRANDS or page.flags(node) & view.OTHER:
            continue
        following = (each for each, _ in page.texts[index + 1 : index + 3] if each.strip(" :："))
        value = same.strip() or next(following, "")
        if 0 < len(value) <= 60 and not value.endswith((":", "：")):
            return value
    near = {node.mem_id: node for _, node in page.texts[max(0, page.heading_index - NEAR) :][: 2 * NEAR]}
    name, known = shown_title(page), dict[int, bool]()
    for node in near.values():
        named = _named_brand(node, known)
        if named and named != name and not page.flags(node) & view.OTHER:
            return _BY.sub("", named)
    return _linked_brand(page)


def _named_brand(node: LexborNode, known: dict[int, bool]) -> str | None:
    """The short text of *node*, if it, or an element with no other text around it, is named a brand.

    *known*: which elements around were asked already; texts share them.
    """
    attributes = node.attributes
    if attributes and (_is_brand(attributes) or _is_branded(attributes.get("class") or "")):
        return _short(text_of(node, MAX_BRAND))
    around, text = node.parent, ""
    for _ in range(AROUND):
        if around is None:
            break
        identity = around.mem_id
        if identity not in known:
            known[identity] = _is_branded(around.attributes.get("class") or "")
        if known[identity]:
            text = text or text_of(node, MAX_BRAND)
            return _short(text) if text_of(around, MAX_BRAND) == text else None
        around = around.parent
    return None


def _short(text: str) -> str | None:
    return text if 0 < len(text) < MAX_BRAND else None


def _linked_brand(page: View) -> str | None:
    """The link by the heading, or the logo, with which the heading or the page's title begins."""
    at = page.heading_index
    heading = shown_title(page) or ""
    if at >= 0 and (named := _brand_page(page, heading) or _brand_image(page, heading)):
        return named
    for text, node in page.texts[max(0, at - BESIDE) : at + BESIDE] if at >= 0 else ():
        is_apart = text != heading and bool(page.flags(node) & view.LINK) and not page.flags(node) & view.OTHER
        if is_apart and _begun(text, heading, page.title):
            return text
    return _logo_brand(page, heading) or (_beside_heading(page, heading) if at >= 0 else None)


def _brand_page(page: View, heading: str) -> str | None:
    """The text of a link by the heading that leads to a brand's page."""
    at = page.heading_index
    for text, node in page.texts[max(0, at - AT_HEADING) : at + AT_HEADING]:
        flags = page.flags(node)
        if (
            not flags & view.LINK
            or flags & view.OTHER
            or len(text) >= MAX_BRAND
            or text in heading
            or _MANY.search(text)
        ):
            continue
        link: LexborNode | None = node
        for _ in range(AROUND):
            if link is not None and link.tag != "a":
                link = link.parent
        if link is not None and link.tag == "a" and _BRAND_PAGE.search(link.attributes.get("href") or ""):
            return text
    return None


def _brand_image(page: View, heading: str) -> str | None:
    """What an image near the heading shows that is named a brand's, or that links to a brand's page."""
    around = page.heading
    for _ in range(LEVELS):
        if around is None or around.parent is None or around.parent.tag == "body":
            break
        around = around.parent
    for node in around.css("img[alt]")[:MAX_LOGOS] if around is not None else ():
        name = _short(_LOGO.sub("", (node.attributes["alt"] or "").strip()))
        if name and name not in heading and _is_of_brand(node) and not page.flags(node) & view.OTHER:
            return name
    return None


def _is_of_brand(node: LexborNode) -> bool:
    """Whether an image, or what is right around it, is named a brand's or leads to one's page."""
    current: LexborNode | None = node
    for _ in range(AROUND):
        if current is None:
            return False
        attributes = current.attributes
        named = " ".join(filter(None, (attributes.get(name) for name in ("class", "id", *_TESTED))))
        if _BRAND_LOGO.search(named) or (current.tag == "a" and _BRAND_PAGE.search(attributes.get("href") or "")):
            return True
        current = current.parent
    return False


def _beside_heading(page: View, heading: str) -> str | None:
    """The name right before the heading that is the site's own too, or that its title is made of: `ACME - Jumper`."""
    at = page.heading_index
    before, node = page.texts[at - 1] if at else ("", None)
    first = page.texts[at][0]
    if first != heading and page.title.lower().startswith(f"{first.lower()} - "):
        return _short(first)
    squeezed = site_names.squeezed(before) if node is not None and _short(before) else ""
    if len(squeezed) < site_names.SURE or squeezed not in site_names.squeezed(urlsplit(page.document.url).netloc):
        return None
    return None if node is None or page.flags(node) & (view.OTHER | view.LINK) else before


def _logo_brand(page: View, heading: str) -> str | None:
    """The text of an image named a logo or brand, with which heading or title begin."""
    first = heading.partition(" ")[0] or page.title.partition(" ")[0]
    for node in page.document.tree.css(f'[alt^="{first}"]')[:MAX_LOGOS] if _QUOTABLE.fullmatch(first) else ():
        attributes = node.attributes
        begun = _begun(_LOGO.sub("", attributes["alt"] or ""), heading, page.title)
        if begun and any(_LOGOS.search(f"{name} {value}") for name, value in attributes.items()):
            return begun
    return None


def _begun(name: str, *texts: str) -> str | None:
    """*name* as written at the start of one of *texts*, if a word follows: "Shop - Knife" begins with no brand."""
    size = len(name)
    for text in texts if 1 < size < MAX_BRAND else ():
        if text[size : size + 1] == " " and text[size + 1 : size + 2].isalnum() and text[:size].lower() == name.lower():
            return text[:size]
    return None


def _is_brand(attributes: dict[str, str | None]) -> bool:
    """Whether an element has such a name."""
    named = attributes.get("class") or ""
    if tested := _TESTED & attributes.keys():
        named = f"{named} {' '.join(attributes[each] or '' for each in tested)}"
    return "brand" in named or "Brand" in named or "manufacturer" in named or attributes.get("itemprop") == "brand"


@cached(4_096)  # a site's pages share their names
def _is_branded(classes: str) -> bool:
    """Whether an element is named for a brand, and not just in the colours of the shop's (`text-brand`)."""
    return _BRANDED.search(classes) is not None


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
