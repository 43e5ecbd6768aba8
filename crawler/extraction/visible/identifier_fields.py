"""Identifiers in a page's fields: data attributes and the inputs of forms."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from crawler.extraction.tree.document import Document
from crawler.extraction.tree.nodetext import enclosing
from crawler.extraction.visible import view
from crawler.extraction.visible.view import View
from crawler.extraction.words import labels, values
from crawler.extraction.words.url_identifiers import INPUTS, PUNCTUATION, VALUE

MAX_INPUTS: Final = 400  # examined per page
MAX_STEPS: Final = 257  # levels climbed to find a form
MAX_BODY: Final = 2_000  # characters of the tag that names a page's post

_ATTRIBUTES: Final = (
    "data-sku", "data-product-sku", "data-product-id", "data-productid", "data-product-code", "data-item-id",
    "data-itemid", "data-pid", "data-article-id", "data-asin",
)  # fmt: skip
_WRITTEN = re.compile(rf"data-{labels.any_of(' '.join(name.removeprefix('data-') for name in _ATTRIBUTES))}(?=[\s=])")
# Names of fields that hold what people know the product by: others may hold the number of its row in a database.
_TELLING: Final = frozenset(
    (
        "articlenumber", "asin", "data-asin", "data-product-code", "data-product-sku", "data-sku", "itemnumber",
        "productcode", "productsku", "sku",
    )
)  # fmt: skip
_INTERNAL = re.compile(  # numbers of a database, that no shop shows
    r"[\da-f]{24}|[\da-f]{32}|[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}|\d{13,20}", re.IGNORECASE
)
_RANDOM = re.compile(r"(?=[^a-z]*[a-z])(?=[^A-Z]*[A-Z])(?=\D*\d)[\w-]{10,}")  # a key that nobody can read out


def given(page: View) -> Iterator[tuple[float, str, str]]:
    """(weight, identifier, "html" or "field") of data attributes and hidden inputs, outside of other products."""
    found: set[str] = set()
    tree = page.document.tree
    # A selector for each, matched with every element, takes longer than finding which of them the page has.
    written = sorted({name.lower() for name in _WRITTEN.findall(page.document.markup)})
    for node in tree.css(",".join(f"[{name}]" for name in written))[:100] if written else ():
        if len(found) == 3:
            break
        if page.flags(node) & (view.OTHER | view.LINK):
            continue
        attributes = node.attributes
        for name in _ATTRIBUTES:
            value = attributes.get(name)
            if value and is_given(value) and value not in found and len(found) < 3:
                found.add(value)
                yield 1.6 - 0.4 * len(found), value, _source(name)
    entered: set[str] = set()  # forms for cart and wish list repeat it
    for node in tree.css("input[name]")[:MAX_INPUTS]:  # `form input` would climb from each of them
        attributes = node.attributes
        name = PUNCTUATION.sub("", attributes.get("name") or "").lower()
        value = attributes.get("value")
        if name not in INPUTS or not value or value in entered or not is_given(value):
            continue
        is_sent = (attributes.get("type") or "").lower() == "hidden" or enclosing(node, "form", MAX_STEPS) is not None
        if is_sent and not page.flags(node) & view.OTHER:
            entered.add(value)
            yield 1.0, value, _source(name)


def _source(name: str) -> str:
    return "html" if name in _TELLING else "field"


def is_internal(value: str) -> bool:
    """Whether *value* has the form of a database's number, that no shop shows."""
    return _INTERNAL.fullmatch(value) is not None


def is_posts(value: str, document: Document) -> bool:
    """Whether *value* is the number of the page's own post in WordPress: its shops state it where a product has no
    identifier."""
    at = document.body_at
    return value.isdigit() and f"postid-{value} " in document.markup[at : at + MAX_BODY].replace('"', " ")


def is_given(value: str) -> bool:
    """Whether the *value* of an attribute or in a URL may be an identifier that people use: the shop's, or a GTIN.

    Not a key of ten characters or more with small and large letters and digits: it is random.
    """
    if not VALUE.fullmatch(value) or _RANDOM.fullmatch(value):
        return False
    return not is_internal(value) or values.gtin(value) is not None
