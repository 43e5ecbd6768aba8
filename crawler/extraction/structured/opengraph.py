"""Raw fields from Open Graph and product: meta elements."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from crawler.extraction.tree import names
from crawler.extraction.tree.document import Document
from crawler.extraction.words import currencies, values
from crawler.utils.entities import unescape

# A ">" in a quoted value does not end the element: "Men > Shoes".
_META = re.compile(r"<meta\b(?:[^<>=]++|=\s*+(?:\"[^\"]*+\"|'[^']*+')|=){0,8000}+>", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"(?<![a-zA-Z:-])([a-zA-Z:-]++)\s*+=\s*+(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+))")

FIELDS: Final = {
    "title": ("og:title", "twitter:title"),
    "price": ("product:sale_price:amount", "product:price:amount", "og:price:amount", "product:price"),
    "currency": ("product:sale_price:currency", "product:price:currency", "og:price:currency"),
    "availability": ("product:availability", "og:availability"),
    "sku": ("product:retailer_item_id", "product:sku", "product:retailer_part_no"),
    "gtin": ("product:gtin", "product:ean", "og:ean", "og:upc", "product:upc", "og:isbn", "book:isbn"),
    "brand": ("product:brand", "og:brand"),
    "image": ("og:image", "og:image:secure_url", "twitter:image"),
    "description": ("og:description", "description", "twitter:description"),
    "category": ("product:category",),
}


def metas(document: Document) -> dict[str, str]:
    """Name or property -> content of the head's meta elements, the first of each name.

    Read from the source, once: most pages need their metas only, and a tree costs more than all of this room.
    """
    return document.once(_metas)


def _metas(document: Document) -> dict[str, str]:
    found: dict[str, str] = {}
    for element in _META.findall(document.head):
        attributes = {name.lower(): a or b or c for name, a, b, c in _ATTRIBUTE.findall(element)}
        name = attributes.get("property") or attributes.get("name")
        if name and attributes.get("content"):
            name, content = name.lower(), unescape(attributes["content"])
            if name == "og:type" and "product" in content.lower():  # two plug-ins may disagree
                found[name] = content
            found.setdefault(name, content)
    return found


def raw_fields(found: dict[str, str]) -> dict[str, str]:
    """The product fields stated by the *found* metas."""
    stated: dict[str, str] = {}
    for name, keys in FIELDS.items():
        for key in keys:
            if key in found:
                stated[name] = found[key]
                break
    return {name: value for name, value in stated.items() if value}


def card_fields(found: Mapping[str, str], document: Document) -> dict[str, str]:
    """Price and currency of the *found* labels of a card: twitter:label1 `Price`, twitter:data1 `$22`."""
    for at in ("1", "2"):
        label = found.get(f"twitter:label{at}")
        said = found.get(f"twitter:data{at}", "") if label and names.flags(label) & names.PRICE else ""
        if said and (currency := currencies.iso_code(said, document.country)):
            return {"price": said, "currency": currency}
    return {}


def is_product(found: Mapping[str, str]) -> bool:
    """Whether the page calls itself a product (`og:type` product, product.item, shop:product ...) or has its price."""
    kind, price = found.get("og:type", "").lower(), found.get("product:price:amount")
    return ("product" in kind and "group" not in kind) or (price is not None and values.price(price) is not None)
