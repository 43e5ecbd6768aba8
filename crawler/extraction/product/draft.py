"""A product under construction: each field is cleaned and set once, by the first source with a good value."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any, Final

from crawler.extraction.structured import site_names
from crawler.extraction.tree.document import Document
from crawler.extraction.words import values
from crawler.extraction.words.currencies import iso_code
from crawler.items import ProductItem
from crawler.policy.items.validation import CURRENCIES
from crawler.urls import MAX_URL_LENGTH

CORE: Final = ("title", "price", "currency", "availability")  # the fields of an offer


class Draft:
    """Fields by order of trust: once set they stay."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.fields: dict[str, Any] = {}
        self.found_in: dict[str, str] = {}

    def lacks(self, *names: str) -> bool:
        """Whether any of *names* is missing."""
        return not self.fields.keys() >= {*names}

    def fill(self, raw: Mapping[str, Any], source: str) -> None:
        """Set missing fields from *raw* values; an implausible one leaves its field to the next source."""
        for name in _CLEANERS:
            if name not in self.fields and (value := raw.get(name)) is not None:
                self.set(name, value, source, raw.get("best_rating"))

    def set(self, name: str, raw: Any, source: str, scale: Any = None) -> None:
        """Set one field, even if it is set already, unless *raw* is implausible."""
        if raw is None:
            return
        value = values.rating(raw, scale) if name == "rating" else _CLEANERS[name](raw, self)
        if value is not None:
            self.fields[name] = value
            self.found_in[name] = source

    def set_free(self) -> None:
        """Set the visible page's price of zero: as a raw value it means that there is none."""
        self.fields["price"], self.found_in["price"] = Decimal(0), "html"

    def drop(self, name: str) -> None:
        """Leave a field out."""
        self.fields.pop(name, None)
        self.found_in.pop(name, None)

    def item(self) -> ProductItem:
        """The product, under the page's canonical URL."""
        return ProductItem(url=self.document.canonical_url, found_in=self.found_in, **self.fields)


def _currency(raw: Any, draft: Draft) -> str | None:
    if not isinstance(raw, str):
        return None
    return raw if raw in CURRENCIES else iso_code(raw, draft.document.country)


def _title(raw: Any, draft: Draft) -> str | None:
    value = values.title(raw)
    return site_names.without_site(value, draft.document) if value is not None else None


def _brand(raw: Any, draft: Draft) -> str | None:
    value = values.brand(raw)
    return site_names.without_slogan(value, draft.document) if value is not None and " " in value else value


def _image(raw: Any, draft: Draft) -> str | None:
    url = draft.document.absolute(values.paired(raw)) if isinstance(raw, str) else None
    return url if url is not None and len(url) <= MAX_URL_LENGTH else None


_CLEANERS: Final[Mapping[str, Callable[[Any, Draft], Any]]] = {
    "title": _title,
    "currency": _currency,
    "price": lambda raw, draft: values.price(raw, draft.fields.get("currency")),  # after its currency
    "availability": lambda raw, _: values.availability(raw),
    "sku": lambda raw, _: values.identifier(raw),
    "gtin": lambda raw, _: values.gtin(raw),
    "brand": _brand,
    "rating": lambda raw, _: values.rating(raw),
    "review_count": lambda raw, _: values.count(raw),
    "image": _image,
    "description": lambda raw, _: values.text(raw, values.MAX_DESCRIPTION),
    "category": lambda raw, _: values.text(raw),
}
