"""Whether a price stands in the card of another product: beside a link to that product's page, named as a title."""

from __future__ import annotations

import re
from itertools import islice
from typing import Final
from urllib.parse import urlsplit

from selectolax.lexbor import LexborNode

from crawler.extraction.nodetext import text_of
from crawler.extraction.view import View
from crawler.urls import same_site

LEVELS: Final = 5  # elements around a price that may be its card
MAX_LINKS: Final = 12  # in one: more is no card
MAX_NAME: Final = 200  # characters

_NAMED = re.compile(r"name|title|heading|caption|titel|nombre|nazwa", re.IGNORECASE)
_HEADINGS: Final = frozenset(("h2", "h3", "h4", "h5", "h6"))
_LETTERS = re.compile(r"[^\W\d_]{2}")


def is_in_card(page: View, node: LexborNode) -> bool:
    """Whether *node* is in an element that names another product, with a link to its page, and not the page's own."""
    own = page.once(_around_heading)
    current: LexborNode | None = node
    for _ in range(LEVELS):
        if current is None or current.mem_id in own or current.tag == "body":
            return False
        links = list(islice(_links(current), MAX_LINKS + 1))
        if len(links) > MAX_LINKS:
            return False
        if any(_names_another(page, link) for link in links):
            return True
        current = current.parent
    return False


def _around_heading(page: View) -> set[int]:
    """The heading and the elements around it."""
    inside: set[int] = set()
    current = page.heading
    while current is not None:
        inside.add(current.mem_id)
        current = current.parent
    return inside


def _links(node: LexborNode) -> list[LexborNode]:
    return [node] if node.tag == "a" else node.css("a[href]")


def _names_another(page: View, link: LexborNode) -> bool:
    """Whether *link* is the title of another page of the site."""
    within = (link, *([link.parent] if link.parent else ()), *link.css("*")[:10])
    if not any(map(_is_title, within)):
        return False
    text = text_of(link, MAX_NAME)
    if not _LETTERS.search(text) or text in page.title:
        return False
    target = page.document.absolute(link.attributes.get("href") or "")
    return target is not None and same_site(target, page.document.url) and _path(target) != _path(page.document.url)


def _is_title(node: LexborNode) -> bool:
    return node.tag in _HEADINGS or _NAMED.search(node.attributes.get("class") or "") is not None


def _path(url: str) -> str:
    try:
        parts = urlsplit(url)
    except ValueError:
        return url
    return f"{parts.path.rstrip('/')}?{parts.query}" if parts.query else parts.path.rstrip("/")
