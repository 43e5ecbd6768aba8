"""A price that stands in attributes only: for readers of the page, or for its scripts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Final

from crawler.extraction.visible import money, view
from crawler.extraction.visible.view import View
from crawler.extraction.words import currencies, values

MAX_ELEMENTS: Final = 200  # examined per page
MAX_LABEL: Final = 60  # characters of a label; a longer one is no price's
_MARKS: Final = ("past_price", "other_price", "side_price")
_DATA: Final = ("data-price-amount", "data-product-price", "data-price", "data-value", "value", "content")
_SELECTOR: Final = (
    "[aria-label],[data-price-amount],[data-product-price],[data-price],input[name=price],data[value]"
    ",[content][class*=price]"
)
_DECIMALS: Final = re.compile(r"\d[.,]\d\d?$")


def hidden_price(page: View) -> tuple[Decimal, str | None] | None:
    """(price, currency) of the first element, in document order, that has one in an attribute; None without one.

    A label has to state its currency, any other attribute its decimals: `4990` may be in cents.
    """
    nodes = page.document.tree.css(_SELECTOR)[:MAX_ELEMENTS]
    asked = (each for each in nodes if not page.flags(each) & (view.OTHER | view.LINK | view.PAST | view.OLD))
    return next((found for each in asked for found in _stated(page, each.attributes)), None)


def _stated(page: View, attributes: dict[str, str | None]) -> Iterator[tuple[Decimal, str | None]]:
    """The price that the label states, then those of attributes of an element that is named a price."""
    label, country = attributes.get("aria-label") or "", page.document.country
    if 0 < len(label) <= MAX_LABEL and not any(page.lexicon.says(kind, label) for kind in _MARKS):
        number, code = money.written(label, country)
        if code and (amount := values.price_in_text(number, code)) is not None:
            yield amount, code
    named = f"{' '.join(attributes)} {attributes.get('class')} {attributes.get('name')}"
    for name in _DATA if "price" in named else ():
        value = (attributes.get(name) or "").strip()
        if _DECIMALS.search(value) and (amount := values.price_in_text(value)) is not None:
            yield amount, currencies.iso_code(f"{value} {attributes.get('data-currency') or ''}", country)
