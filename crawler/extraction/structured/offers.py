"""Which of a product's variants and offers the page shows, and its price."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias
from urllib.parse import parse_qsl, urlsplit

from crawler.extraction.words import values

Node: TypeAlias = Mapping[str, Any]

_NOT_ASKED = re.compile(r"(list|strikethrough|msrp|srp|regular|minimumadvertised|invoice)price", re.IGNORECASE)
_DELIVERY = re.compile(r"DeliveryCharge")
# Of one that is paid again and again, that is a part of the price, or that many pieces have.
_PARTIAL = frozenset(("billingDuration", "billingIncrement", "priceComponentType", "eligibleQuantity"))


def variant(product: Node, url: str) -> Node:
    """The variant of a ProductGroup that *url* names, else the first in stock, else the first.

    Missing properties come from the group; so does the sku, unless the URL names the variant.
    """
    variants = [entry for entry in _nodes(product.get("hasVariant")) if entry.get("offers") or entry.get("name")]
    if not variants:
        return product
    named = [entry for entry in variants if any(_names(each, url) for each in (entry, *_nodes(entry.get("offers"))))]
    if len(named) == len(variants) > 1:  # what all have in common names none
        named = []
    chosen = named or [entry for entry in variants if available(choose(entry.get("offers"), url))] or variants
    merged = {**product, **{key: value for key, value in chosen[0].items() if value}}
    return merged if named or not product.get("sku") else {**merged, "sku": product["sku"]}


def choose(offers: Any, url: str) -> dict[str, Any]:
    """One offer as {price, priceCurrency, availability, sku, gtin..}; empty if there is none.

    Of several, the one that *url* names, else the first available, else the first. The offers of an AggregateOffer
    count before its own low price, those that have it first, and the product is available if one of its sizes is.
    """
    entries = _flattened(offers)
    if not entries:
        return {}
    priced = [entry for entry in entries if entry["price"] is not None] or entries
    named = [entry for entry in priced if _names(entry, url)] if len(priced) > 1 else []
    if 0 < len(named) < len(priced):
        return named[0]
    in_stock = [entry for entry in priced if available(entry)]
    return (in_stock or priced)[0]


def in_other_currencies(offers: Any, currency: Any) -> list[tuple[Any, Any]]:
    """The prices of *offers* in another than *currency*, for buyers in other countries."""
    others = [each for each in _nodes(offers) if each.get("priceCurrency", currency) != currency]
    stated = ((each["price"], each["priceCurrency"]) for each in _flattened(others))
    return [(price, code) for price, code in stated if code not in (None, currency)]


def _flattened(offers: Any) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = []
    for node in _nodes(offers):
        inner = [] if node.get("offers") is None else [dict(entry) for entry in _nodes(node["offers"])]
        merged = [_stated({**_inherited(node), **entry}) for entry in inner[:500]]
        if any(entry["price"] is not None for entry in merged):
            low = values.price(_scalar(node.get("lowPrice")))
            entries += merged if low is None else sorted(merged, key=lambda entry: values.price(entry["price"]) != low)
        else:
            entries.append(_stated(node))
    return entries


def _inherited(aggregate: Node) -> dict[str, Any]:
    return {key: aggregate[key] for key in ("priceCurrency", "availability", "highPrice") if aggregate.get(key)}


def _stated(offer: Node) -> dict[str, Any]:
    """The offer with price and currency at its top level, wherever it states them."""
    price, currency = _scalar(offer.get("price")), _scalar(offer.get("priceCurrency"))
    if price is None:
        asked = (each for each in _nodes(offer.get("priceSpecification")) if not _is_anothers(each))
        if (specification := min(asked, key=_is_partial, default=None)) is not None:
            price = _scalar(specification.get("price") or specification.get("minPrice"))
            currency = _scalar(specification.get("priceCurrency")) or currency
    if price is None:
        price = _scalar(offer.get("lowPrice"))
    stock = _scalar(offer.get("availability") or offer.get("Availability"))
    return {**offer, "price": price, "priceCurrency": currency, "availability": stock}


def _is_anothers(specification: Node) -> bool:
    """Whether it is a past price, that of members, or of delivery."""
    kind = str(_scalar(specification.get("priceType")))
    is_members = specification.get("validForMemberTier") is not None
    return is_members or bool(_NOT_ASKED.search(kind) or _DELIVERY.search(str(specification.get("@type"))))


def _is_partial(specification: Node) -> bool:
    """Whether it is the price of a unit, or otherwise not all that one piece costs: it counts if there is no other."""
    measure = specification.get("referenceQuantity")
    is_unit = isinstance(measure, dict) and "valueReference" not in measure  # else that of so many units
    return is_unit or not _PARTIAL.isdisjoint(specification)


def _names(entry: Node, url: str) -> bool:
    """Whether *url* is the entry's own, with other parameters or without, or has its sku as a value in query or
    fragment."""
    own = entry.get("url") or entry.get("@id")
    try:
        here, there = urlsplit(url), urlsplit(own) if isinstance(own, str) else None
    except ValueError:
        return False
    query = _parameters(here.query)
    if there is not None and there.query and there.path == here.path and {*_parameters(there.query)} <= {*query}:
        return True
    sku = _scalar(entry.get("sku"))
    return sku is not None and str(sku) in [*(value for _, value in query), *re.split(r"[=&]", here.fragment)]


def _parameters(query: str) -> list[tuple[str, str]]:
    return parse_qsl(query, keep_blank_values=True)  # `?111` names a variant, too


def available(entry: Node) -> bool:
    """Whether the offer can be ordered."""
    return values.availability(entry.get("availability")) not in (None, "OutOfStock", "Discontinued")


def _nodes(value: Any) -> Sequence[Node]:
    if isinstance(value, dict):
        return [value]
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []


def _scalar(value: Any) -> Any:
    while isinstance(value, list):
        value = value[0] if value else None
    if isinstance(value, dict):
        value = value.get("@id") or value.get("name") or value.get("value")
    return value if isinstance(value, (str, int, float)) and value != "" else None
