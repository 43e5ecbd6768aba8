"""The brand that a page shows: by a label, an element's name, a link, a logo, or beside the heading."""

from __future__ import annotations

import re
from itertools import takewhile
from typing import Final
from urllib.parse import unquote

from selectolax.lexbor import LexborNode

from crawler import urls
from crawler.extraction.structured import site_names
from crawler.extraction.tree.nodetext import around, enclosing, tag_ids, text_of
from crawler.extraction.visible import cards, maker_links, view
from crawler.extraction.visible.view import View
from crawler.extraction.visible.visible_facts import NEAR, shown_title
from crawler.extraction.words import labels
from crawler.utils.caches import cached

_BY = re.compile(r"^(?:by|von|par|por|di|door|av|af)\s+", re.IGNORECASE)
_BRAND_LOGO = re.compile(
    r"brand(?!ed|-(?:primary|secondary|color|dark|light))|manufactur|vendor|hersteller|marque|marca\b|merk\b|marke\b"
    r"|marka\b|supplier\b|produ[ck]ent\b|vyrobc|firm[-_]?logo",
    re.IGNORECASE,
)
_LOGOS = re.compile(r"brand|manufactur|marque|marca|herst|logo", re.IGNORECASE)
# Names of elements that show just a brand.
_BRANDED = re.compile(
    r"(?:^|\s|__|product|item|pdp|detail|view|info|single|meta)[-_]*"
    r"(?:brands?|manufacturers?|vendor|marke|marka|marque|marca|merk|hersteller|fabricante?|producent|producer(?:tag)?|znacka)"
    r"(?:[-_]*(?:name|link|title|value|wrapper|container|text))?(?:$|\s)",
    re.IGNORECASE,
)
_QUOTABLE = re.compile(r"[^\"\\\s]{1,39}")  # in a selector; longer than any brand
_LOGO = re.compile(r"^logo (?:von |de |di |of )?|[- ]logo$", re.IGNORECASE)
# An address of a brand's page.
_BRAND_PAGE = re.compile(
    r"/(?:brands?|designers?|vendors?|manufacturers?|makers?|marcas?|marques?|mar(?:ke|ken|ka|chi|chio)|hersteller|merk(?:en)?"
    r"|varumarken?|maerker?|merker|merkit?|producen[tc]\w*|producer|znack[ay]|vyrobce|vyrobci|gyarto\w*|markak"
    r"|producator\w*|proizvoda[cj]\w*|brend\w*|blagovne-znamke|gamintoja\w*|razotaj\w*|tootja\w*|fabricantes?"
    r"|proizvoditel\w*|thuong-hieu|merek|publishers?|verlag|editores?)/[^/?#]|[?&](?:brand|manufacturer|marca|marque)\w*="
    r"|/vendors\?q=",
    re.IGNORECASE,
)
_SLUG = re.compile(r"(?:\d{1,9}-)?([^/?#&]+)")
_MANY = re.compile(
    r"\b(?:all|more|alle?|mehr|weitere|meer|flere?|lisää|więcej|další|tou[st]|plus|todos?|más|tutt[ie]|altri|visit|shop|see|view)\b",
    re.IGNORECASE,
)
_OPTION: Final = tag_ids("option")
_LABELS: Final = tag_ids("dt th")
_PARTED = re.compile(r"[|·]")
_TESTED: Final = frozenset(view.TESTED)
# How a label may begin: most texts do not.
_BEGUN = frozenset(each for label in labels.BRANDS for each in (label[:2], label[:2].title(), label[:2].upper()))
MAX_BRAND = 40  # characters
MAX_LABEL = max(map(len, labels.BRANDS)) + 3  # characters, with a colon
AROUND = 3  # elements around a text that may be named a brand
BESIDE = 4  # texts right by the heading
MAX_LOGOS = 30
MAX_STATEMENTS = 120  # characters of a text that states several things
AT_HEADING = 10  # texts by the heading that may link to the brand
LEVELS = 3  # elements around the heading that may have the brand's logo


def shown_brand(page: View) -> str | None:
    """The text after a label such as Brand or Manufacturer, else that of an element with such a name near the
    heading, else a link by the heading or a logo with which heading or title begin."""
    if labelled := page.once(labelled_brand):
        return labelled
    near = {node.mem_id: node for _, node in page.texts[max(0, page.heading_index - NEAR) :][: 2 * NEAR]}
    name, known = shown_title(page), dict[int, bool]()
    for node in near.values():
        named = _named_brand(node, known)
        if not named or named == name or _label(f"{named}:")[0] in labels.BRANDS:
            continue
        brand = maker_links.name_in(named, page.title) or _BY.sub("", named)
        is_anothers = page.flags(node) & view.OTHER or _is_anothers(page, node, named)
        if maker_links.is_name(brand, page.title) and not is_anothers:
            return brand
    return page.once(linked_brand)


def labelled_brand(page: View) -> str | None:
    """The text after the first label such as Brand or Manufacturer."""
    for index, (whole, node) in enumerate(page.texts):
        text = _from_label(whole) if "·" in whole or "|" in whole else whole
        if text[:2] not in _BEGUN or len(text) > MAX_LABEL + MAX_BRAND:
            continue
        label, same = _label(text)
        if label not in labels.BRANDS or page.flags(node) & view.OTHER:
            continue
        if label in labels.PUBLISHERS and page.once(_is_book):
            continue
        value = same or _behind_label(page, index)
        value = maker_links.name_in(value, page.title) or value
        if label in labels.SUPPLIERS and labels.COMPANY.search(value):
            continue
        if 0 < len(value) <= 60 and not value.endswith((":", "：")) and maker_links.is_name(value, page.title):
            return value
    return None


def _behind_label(page: View, index: int) -> str:
    """The text behind a label that is no entry of a menu, unless it is one to choose from, as in a search by brands, or
    what stands behind an empty value: the next label, a buy button."""
    text, node = page.texts[index]
    if not text.endswith((":", "：")) and page.flags(node) & view.LINK:
        return ""
    following = ((each, of) for each, of in page.texts[index + 1 : index + 3] if each.strip(" :："))
    value, of = next(following, ("", node))
    is_other = of.tag_id in _OPTION or _is_next_label(node, of) or page.lexicon.buys(value.lower())
    return "" if is_other else value


def _is_next_label(label: LexborNode, node: LexborNode) -> bool:
    """Whether *label* stands in a cell for labels, and *node* in another."""
    cells = [next((each for each in around(one) if each.tag_id in _LABELS), None) for one in (label, node)]
    return cells[0] is not None and cells[1] is not None and cells[0].mem_id != cells[1].mem_id


def _from_label(text: str) -> str:
    """What a *text* of several statements says from a brand's label on: `SKU: A-100 | Brand: Acme`."""
    return next((part for part in map(str.strip, _PARTED.split(text)) if _label(part)[0] in labels.BRANDS), "")


def _label(text: str) -> tuple[str, str]:
    """What stands before the colon of *text*, in lower case, and behind it."""
    label, _, behind = text.replace("：", ":").partition(":")
    return label.strip().lower(), behind.strip()


def _is_book(page: View) -> bool:
    """Whether a short text of the page is a label that only books have."""
    return any(labels.BOOK.search(text) for text, _ in page.texts if len(text) <= MAX_STATEMENTS)


def _is_anothers(page: View, node: LexborNode, named: str) -> bool:
    """Whether what is around *node*, and says more than it *named*, is in the card of another product; of elements
    that say no more the outermost."""
    wider = around(node.parent, AROUND)
    card = next((each for each in wider if text_of(each, MAX_BRAND) != named), wider[-1] if wider else None)
    return card is not None and cards.is_others(page, card)


def _named_brand(node: LexborNode, known: dict[int, bool]) -> str | None:
    """The short text of *node*, if it, or an element with no other text around it, is named a brand.

    *known*: which elements around were asked already; texts share them.
    """
    attributes = node.attributes
    if attributes and (_is_brand(attributes) or _is_branded(view.class_and_id(attributes))):
        return _short(text_of(node, MAX_BRAND))
    for each in around(node.parent, AROUND - 1):
        identity = each.mem_id
        if identity not in known:
            known[identity] = _is_branded(view.class_and_id(each.attributes))
        if known[identity]:
            text = text_of(node, MAX_BRAND)
            return _short(text) if text_of(each, MAX_BRAND) == text else None
    return None


def _short(text: str) -> str | None:
    return text if 0 < len(text) < MAX_BRAND else None


def linked_brand(page: View) -> str | None:
    """The link by the heading, or the logo, with which the heading or the page's title begins."""
    at = page.heading_index
    heading = shown_title(page) or ""
    if at >= 0 and (named := _brand_page(page, heading) or _brand_image(page, heading)):
        return named
    for text, node in page.texts[max(0, at - BESIDE) : at + BESIDE] if at >= 0 else ():
        flags = page.flags(node)
        is_apart = text != heading and bool(flags & view.LINK) and not flags & view.OTHER
        if is_apart and _begun(text, heading, page.title):
            return text
        if (by := _BY.match(text)) and not flags & view.OTHER and _begun(text[by.end() :], heading, page.title):
            return text[by.end() :]
    return _logo_brand(page, heading) or (_beside_heading(page, heading) if at >= 0 else None)


def _brand_page(page: View, heading: str) -> str | None:
    """The text of a link by the heading that leads to a brand's page."""
    at = page.heading_index
    for text, node in page.texts[max(0, at - AT_HEADING) : at + AT_HEADING]:
        flags = page.flags(node)
        if not flags & view.LINK or flags & view.OTHER or len(text) >= MAX_BRAND:
            continue
        if text in heading and not _begun(text, heading):
            continue
        path = _brand_path(node)
        if path and (name := _of_many(text, path) if _MANY.search(text) else text):
            return name
    return None


def _of_many(text: str, path: str) -> str | None:
    """The name in the *text* of a link to a brand's products (`More from Acme`), if the *path* of its page has it."""
    slug = _SLUG.match(unquote(path))
    return site_names.named_in(text, site_names.squeezed(slug[1])) if slug else None


def _brand_image(page: View, heading: str) -> str | None:
    """What an image near the heading shows that is named a brand's, or that links to a brand's page."""
    inside = list(takewhile(lambda each: each.tag != "body", around(page.heading, LEVELS)))
    for node in inside[-1].css("img[alt]")[:MAX_LOGOS] if inside else ():
        name = _short(_LOGO.sub("", (node.attributes["alt"] or _titled(node)).strip()))
        name = _of_many(name, _brand_path(node)) if name and _MANY.search(name) else name
        if not name or (name in heading and " " in name and not _begun(name, heading)):
            continue  # a picture of the product
        if name != heading and _is_of_brand(node) and not page.flags(node) & view.OTHER:
            return name
    return None


def _brand_path(node: LexborNode) -> str:
    """What names the brand in the link to a brand's page that *node* is in, or ""."""
    link = enclosing(node, "a", AROUND)
    href = (link.attributes.get("href") or "") if link is not None else ""
    page_of = _BRAND_PAGE.search(href)
    return href[page_of.end() - 1 :] if page_of is not None else ""


def _titled(image: LexborNode) -> str:
    """The title of the link that shows just an *image*."""
    link = image.parent
    return (link.attributes.get("title") or "") if link is not None and link.tag == "a" else ""


def _is_of_brand(node: LexborNode) -> bool:
    """Whether an image, or what is right around it, is named a brand's or leads to one's page."""
    for each in around(node, AROUND - 1):
        attributes = each.attributes
        if _BRAND_LOGO.search(view.named(attributes)):
            return True
        if each.tag == "a" and _BRAND_PAGE.search(attributes.get("href") or ""):
            return True
    return False


def _beside_heading(page: View, heading: str) -> str | None:
    """The name right before the heading that is the site's own too, or that its title is made of: `ACME - Jumper`."""
    at = page.heading_index
    before, node = page.texts[at - 1] if at else ("", None)
    first = page.texts[at][0]
    if first != heading and page.title.lower().startswith(f"{first.lower()} - "):
        return _short(first)
    squeezed = site_names.squeezed(before) if node is not None and _short(before) else ""
    if len(squeezed) < site_names.SURE or squeezed not in site_names.squeezed(urls.split(page.document.url).netloc):
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
