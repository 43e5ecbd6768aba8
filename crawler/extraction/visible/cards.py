"""Whether a price stands in the card of another product: beside a link to that product's page, named as a title."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import islice
from typing import Final, TypeAlias
from urllib.parse import urlsplit

from selectolax.lexbor import LexborNode

from crawler.extraction.tree.nodetext import ancestors, around, enclosing, tag_ids, text_of
from crawler.extraction.visible import money
from crawler.extraction.visible.view import View
from crawler.extraction.words import url_identifiers, values
from crawler.urls import same_site

LEVELS: Final = 6  # elements around a price that may be its card
BADGE: Final = 4  # elements around a badge up to its card
MAX_LINKS: Final = 12  # in one: more is no card
MAX_NODES: Final = 200  # in one
BEFORE: Final = 3  # texts before a price with the link to its product
MAX_NAME: Final = 200  # characters
MAX_CARD: Final = 400  # of a card
DEPTH: Final = 12  # elements around a link up to one that is around the price, too

_A: Final = tag_ids("a")
_IMG: Final = tag_ids("img")
_NAMED = re.compile(r"name|title|heading|caption|titel|nombre|nazwa", re.IGNORECASE)
_HEADINGS: Final = frozenset(("h2", "h3", "h4", "h5", "h6"))
_NAME = re.compile(r"[^\W\d_]{2}|\d{3}")  # also an article number
_Links: TypeAlias = list[tuple[LexborNode, bool]]  # that name or may name another product, and whether as its title


def is_in_card(page: View, index: int) -> bool:
    """Whether the price at *index* of the page's texts is in an element that names another product, with a link to its
    page, and not the page's own."""
    before = {
        link.mem_id
        for _, node in page.texts[max(0, index - BEFORE) : index]
        if (link := enclosing(node, "a", LEVELS - 1))
    }
    return is_others(page, page.texts[index][1], before)


def is_badge(page: View, node: LexborNode) -> bool:
    """Whether *node* is on the card of one other product, with its title.

    A link to another kind of page, as that of a maker, or to several products, as variants are, stands in the product's
    own parts, too.
    """
    own_name = _path(page.document.url).split("/")[-1]
    for card in _apart(page, node, BADGE):
        links = [each for each in islice(card.traverse(), MAX_NODES) if each.tag_id in _A]
        titles = [link for link in links if _names_another(page, link)]
        if titles:
            paths = {_path(page.document.absolute(link.attributes.get("href")) or "") for link in titles}
            products = [path.split("/") for path in paths if url_identifiers.names_product(path.split("/")[:-1])]
            return len(products) == 1 and _first_word(products[0][-1]) != _first_word(own_name)
    return False


def is_others(page: View, node: LexborNode, before: Collection[int] = ()) -> bool:
    """Whether *node* is in such an element; *before* are links that may name its product without being titles."""
    known, inner = page.once(_linked), set[int]()
    for card in _apart(page, node, LEVELS):
        if (identity := card.mem_id) not in known:
            known[identity] = _others_in(page, card)
        others = known[identity]
        if others is None:
            return False
        inner.add(identity)
        named = any(link.mem_id in before and not _has_price(page, link, inner) for link, _ in others)
        if named or _is_titled(page, others, inner):
            return True
    return False


def _is_titled(page: View, others: _Links, inner: Collection[int]) -> bool:
    """Whether one of the links is the title of what *inner* elements are about: where titles lead to several pages,
    none that stands with a price of its own, as beside a product whose heading is elsewhere."""
    titles = [link for link, titled in others if titled]
    if len(titles) < 2:
        return bool(titles)
    pages = {_path(page.document.absolute(link.attributes.get("href")) or "") for link in titles}
    return len(pages) < 2 or not all(_has_price(page, link, inner) for link in titles)


def _has_price(page: View, link: LexborNode, inner: Collection[int]) -> bool:
    """Whether a price stands with *link* in an element that has none of the *inner* ones, right inside one of these."""
    branch = link
    for parent in islice(ancestors(link.parent), DEPTH):
        if branch.mem_id in inner:
            return False
        if parent.mem_id in inner:
            return _is_priced(page, branch)
        branch = parent
    return False


def _is_priced(page: View, branch: LexborNode) -> bool:
    """Whether the text of an element has a price; asked for each of the prices around it."""
    known = page.once(_priced)
    if (identity := branch.mem_id) not in known:
        known[identity] = money.written(text_of(branch, MAX_CARD), page.document.country)[1] != ""
    return known[identity]


def _priced(_: View) -> dict[int, bool]:
    """What is known of elements with links."""
    return {}


def _apart(page: View, node: LexborNode, levels: int) -> Iterator[LexborNode]:
    """The elements around *node*, at most *levels* of them, that are not around the page's heading, too."""
    own = page.once(_around_heading)
    for each in islice(ancestors(node), levels):
        if each.mem_id in own or each.tag == "body":
            return
        yield each


def _linked(_: View) -> dict[int, _Links | None]:
    """What is known of the elements of a page: many of its buttons and prices stand in the same ones."""
    return {}


def _others_in(page: View, card: LexborNode) -> _Links | None:
    """The links in *card* that name or may name another product, and whether as its title; None if it is no card."""
    inside = list(islice(card.traverse(), MAX_NODES + 1))
    links = [each for each in inside if each.tag_id in _A]
    if len(inside) > MAX_NODES or len(links) > MAX_LINKS:
        return None
    others = [(link, titled) for link in links if (titled := _names_another(page, link)) is not None]
    return others or [(link, True) for link in links if _shows_another(page, link, inside)]


def _around_heading(page: View) -> set[int]:
    """The heading and the elements around it."""
    return {each.mem_id for each in ancestors(page.heading)}


def _names_another(page: View, link: LexborNode) -> bool | None:
    """Whether *link* is the title of another page of the site; None if it is not, and leads to no product either."""
    target = page.document.absolute(link.attributes.get("href"))
    if target is None or not same_site(target, page.document.url):
        return None
    path = _path(target)
    text = text_of(link, MAX_NAME) if path != _path(page.document.url) else ""
    if not _NAME.search(text) or values.stands_in(text, page.title):
        return None
    titled = any(map(_is_title, (*around(link, 1), *islice(link.traverse(), 10))))
    return titled if titled or url_identifiers.names_product(path.split("/")[:-1]) else None


def _shows_another(page: View, link: LexborNode, inside: Sequence[LexborNode]) -> bool:
    """Whether *link* is only the image of another page's product, which the card names in a title beside it."""
    image = next((each for each in islice(link.traverse(), 10) if each.tag_id in _IMG), None)
    name = (image.attributes.get("alt") or "").strip() if image is not None else ""
    target = page.document.absolute(link.attributes.get("href")) if _NAME.search(name) else None
    if target is None or name in page.title or not same_site(target, page.document.url):
        return False
    is_away = _path(target) != _path(page.document.url)
    return is_away and any(_is_title(each) and text_of(each, MAX_NAME) == name for each in inside)


def _is_title(node: LexborNode) -> bool:
    return node.tag in _HEADINGS or _NAMED.search(node.attributes.get("class") or "") is not None


def _first_word(segment: str) -> str:
    """What variants of one product, and often more of its maker's, have in common."""
    return segment.partition("?")[0].partition("-")[0].lower()


def _path(url: str) -> str:
    try:
        parts = urlsplit(url)
    except ValueError:
        return url
    return f"{parts.path.rstrip('/')}?{parts.query}" if parts.query else parts.path.rstrip("/")
