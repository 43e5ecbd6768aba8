"""The shop's identifier of a product in a page's state: its own, or that of its variants, not the database's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from crawler.extraction.scripts import state
from crawler.extraction.scripts.state_nodes import Node, plain, text
from crawler.extraction.visible import identifier_fields

STATED: Final = ("sku", "productcode", "articlenumber", "articleno", "itemnumber", "reference")
NUMBERS: Final = ("productid", "code", "id", "itemid")  # often the database's own
_VARIANTS: Final = ("variants", "productvariants", "skus")
_SELECTED: Final = ("selectedvariant", "selectedorfirstavailablevariant", "mastervariant", "defaultvariant")
MAX_VARIANTS: Final = 500


def sku(node: Node, root: Any, in_url: set[str]) -> str | None:
    """What *node* itself states, else its variant that is selected or *in_url* (identifiers, in lower case), else what
    all of them share; None if they differ.

    Without variants that state one it is the product's number, unless that has the form of a database's.
    """
    if own := text(node, STATED):
        return own
    selected = (state.dereferenced(node.get(each), root) for each in _SELECTED)
    variants = [plain(each) for each in selected if isinstance(each, dict)][:1] or _variants(node, root)
    if any(text(each, STATED) for each in variants):
        chosen = [each for each in variants if _numbers(each) & in_url] or variants
        stated = {text(each, STATED) for each in chosen}
        return stated.pop() if len(stated) == 1 else None
    number = _last(text(node, NUMBERS))
    return None if identifier_fields.is_internal(number) else number


def _variants(node: Node, root: Any) -> Sequence[Node]:
    """Its variants, in a list or as GraphQL answers them."""
    for key in _VARIANTS:
        value = state.dereferenced(node.get(key), root)
        if isinstance(value, dict):
            value = value.get("nodes") or value.get("edges")
        if isinstance(value, list):
            entries = (state.dereferenced(each, root) for each in value[:MAX_VARIANTS])
            inner = (each.get("node", each) for each in entries if isinstance(each, dict))
            return [plain(each) for each in inner if isinstance(each, dict)]
    return []


def _numbers(variant: Node) -> set[str]:
    return {_last(found).lower() for each in (*STATED, *NUMBERS) if (found := text(variant, (each,)))}


def _last(number: str | None) -> str:
    return (number or "").rpartition("/")[2]  # gid://shopify/Product/991
