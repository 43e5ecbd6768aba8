"""Which items say enough to be recognised under another URL of their site."""

from __future__ import annotations

from typing import Final

from crawler.items import Item, PageItem, ProductItem

LEAST_TEXT: Final = 200  # characters: shorter pages ("not available in your region") look alike and are not the same


def is_distinctive(item: Item) -> bool:
    """Whether equal content means the same thing: a product with a number of its own, a page with a text."""
    if isinstance(item, ProductItem):
        return bool(item.gtin or item.sku)
    return isinstance(item, PageItem) and isinstance(item.text, str) and len(item.text) >= LEAST_TEXT
