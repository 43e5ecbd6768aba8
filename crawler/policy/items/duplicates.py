"""Which items are specific enough to be recognised under another URL of their site."""

from __future__ import annotations

from typing import Final

from crawler.items import Item, PageItem, ProductItem

LEAST_TEXT: Final = 200  # characters: shorter pages ("not available in your region") look alike without being the same


def is_distinctive(item: Item) -> bool:
    """Whether equal content means the same item: a product with an identifier, a page with a text."""
    if isinstance(item, ProductItem):
        return bool(item.gtin or item.sku)
    return isinstance(item, PageItem) and isinstance(item.text, str) and len(item.text) >= LEAST_TEXT
