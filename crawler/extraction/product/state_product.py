"""The product in a page's state: an object shaped like a product that the page confirms to be about."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Any, Final
from urllib.parse import unquote

from crawler import urls
from crawler.extraction.product import state_sku
from crawler.extraction.scripts import state, state_nodes, state_prices
from crawler.extraction.scripts.state_nodes import Node, plain, text
from crawler.extraction.words import url_identifiers, values
from crawler.policy.items.validation import CURRENCIES

MAX_FOUND: Final = 500  # objects shaped like a product
MAX_DEPTH: Final = 4  # of objects that wrap a price
MAX_TOP: Final = 50  # objects examined per level for a currency
MIN_ID: Final = 3  # characters of an identifier in the URL
MIN_WORDS: Final = 3  # of a path that spells a name
MAX_PLACES: Final = 4  # decimals of a currency

_NAMES: Final = ("name", "title", "productname", "displayname", "producttitle", "itemname")
# Keys if a price is an object: the current price first, then any.
_AMOUNTS: Final = (
    *state_prices.KEYS[:10], "final", "current", "sale", "special", "selling", "now", "discounted", "value", "amount",
    "raw", "gross", "numeric", "price", "min", "minprice", "minimum", "minvariantprice", "low", "lowprice", "regular",
    "regularprice", "base", "formatted", "formattedprice", "display", "text",
)  # fmt: skip
_CENTS: Final = ("priceincents", "pricecents")
_MINOR: Final = ("centamount", "saleprice", "price", "amount")  # keys of an amount, beside its number of decimals
_PLACES: Final = ("fractiondigits", "scale", "precision", "currencyminorunit", "minorunits")
_CURRENCIES: Final = ("currency", "currencycode", "pricecurrency", "currencyiso", "currencyisocode", "isocode")
_GTINS: Final = ("gtin", "gtin13", "ean", "ean13", "upc", "barcode", "gtin14", "gtin12")
_BRANDS: Final = ("brand", "brandname", "manufacturer", "vendor", "manufacturername", "itembrand")
_IMAGES: Final = ("image", "imageurl", "mainimage", "images", "thumbnail", "featuredimage", "picture")
_TEXTS: Final = ("description", "shortdescription", "longdescription", "descriptionhtml")
_URLS: Final = ("url", "slug", "handle", "path", "canonicalurl", "urlkey", "link", "seourl", "producturl", "href")
_SAID: Final = ("availability", "availabilitystatus", "stockstatus", "stockstate", "status", "stock", "inventory")
_YES: Final = ("instock", "isinstock", "available", "isavailable", "availableforsale", "issellable", "purchasable",
               "buyable", "isbuyable", "hasstock")  # fmt: skip
_NO: Final = ("outofstock", "isoutofstock", "soldout", "issoldout")
_LISTED: Final = ("products", "productcount", "totalproducts", "facets", "filters")  # keys of a category
_NO_WORD = re.compile(r"\W+")
_SUFFIX = re.compile(r"\.(?:html?|php|aspx?|json|js)$")
_BARE = re.compile(r"[\d.,\s]+")  # a number without a currency
_SEPARATED = re.compile(r"\s+[|–—·»:-]\s+|\s*[|»·]\s*")

_CONTAINERS: Final = frozenset((dict, list))


def raw_fields(states: Sequence[Any], url: str, headings: Sequence[str]) -> dict[str, Any]:
    """The fields of the product that *url* or one of the page's *headings* names, or {}.

    A product has a name and a price; of several confirmed ones the one with most evidence counts.
    """
    folded = {_folded(part) for heading in headings for part in (heading, *_SEPARATED.split(heading))} - {""}
    path, in_url = _path(url), {each.lower() for each in url_identifiers.identifiers(url)}
    best: dict[str, Any] = {}
    most = 0.0
    for root in states:
        for node in _shaped(root):
            confirmed = _confirmed(node, path, in_url, folded)
            if not confirmed or any(key in node for key in _LISTED):
                continue
            fields = _fields(node, root, in_url)
            evidence = confirmed + 0.1 * sum(value is not None for value in fields.values())
            if evidence > most and fields["price"] is not None:
                best, most = fields, evidence
    return best


def _shaped(root: Any) -> Iterator[Node]:
    """Objects of a state with name and price, outermost first; keys in lower case without punctuation."""
    level, seen, found, spelled = [root], set[int](), 0, _Spelled()
    while level:
        inner: list[Any] = []
        for value in level:
            if id(value) in seen:
                continue
            if len(seen) >= state.MAX_NODES:
                return
            seen.add(id(value))
            if type(value) is not dict:
                inner += [each for each in value if type(each) in _CONTAINERS and each]
                continue
            if len(value) > 1 and spelled.is_shaped(value):
                yield plain(value)
                found += 1
                if found >= MAX_FOUND:
                    return
            inner += [each for each in value.values() if type(each) in _CONTAINERS and each]
        level = inner


class _Spelled:
    """How a state writes the keys of names and prices: most of its objects have none, and are not looked at closer."""

    def __init__(self) -> None:
        self._known: set[Any] = set()
        self._names: set[Any] = set()
        self._prices: set[Any] = set()

    def is_shaped(self, node: Node) -> bool:
        """Whether *node* has a name and a price."""
        if not self._known.issuperset(node):
            for key in node.keys() - self._known:
                plain = state_nodes.key(key) if isinstance(key, str) and len(key) <= state_nodes.LONGEST_KEY else ""
                self._known.add(key)
                if plain in _NAMES:
                    self._names.add(key)
                elif plain in state_prices.KEYS:
                    self._prices.add(key)
        return not (self._prices.isdisjoint(node) or self._names.isdisjoint(node))


def _fields(node: Node, root: Any, in_url: set[str]) -> dict[str, Any]:
    price, currency = _price(node, root)
    brand = state.dereferenced(_first(node, _BRANDS), root)
    image = _first(node, _IMAGES)
    image = image[0] if isinstance(image, list) and image else image
    return {
        "title": text(node, _NAMES),
        "price": price,
        "currency": text(node, _CURRENCIES) or currency or _common_currency(root),
        "availability": _availability(node, root),
        "sku": state_sku.sku(node, root, in_url),
        "gtin": text(node, _GTINS),
        "brand": text(plain(brand), ("name", "title", "label")) if isinstance(brand, dict) else state.scalar(brand),
        "image": text(plain(image), ("url", "src", "originalsrc", "href"))
        if isinstance(image, dict)
        else state.scalar(image),
        "description": text(node, _TEXTS),
    }


def _common_currency(root: Any) -> str | None:
    """The one currency that the objects at the top of a state name: a data layer states it beside its products."""
    level, named = [root], set[str]()
    for _ in range(MAX_DEPTH):
        objects = [each for each in level[:MAX_TOP] if isinstance(each, dict)]
        named |= {code for each in objects if (code := text(plain(each), _CURRENCIES)) in CURRENCIES}
        level = [each for outer in objects for each in outer.values()]
    return named.pop() if len(named) == 1 else None


def _confirmed(node: Node, path: str, in_url: set[str], headings: set[str]) -> float:
    """How much evidence heading and URL give that the page is about *node*; 0 if none."""
    name = _folded(text(node, _NAMES) or "")
    named = name in headings
    own = (_path(str(node[key])) for key in _URLS if isinstance(node.get(key), str))
    slugs = any(
        each and (each == path or ("/" not in each.strip("/") and path.rpartition("/")[2] == each.strip("/")))
        for each in own
    )
    stated = (state.scalar(node.get(key)) for key in (*state_sku.STATED, *state_sku.NUMBERS))
    ids = {each.lower() for each in stated if each and len(each) >= MIN_ID}
    return 2.0 * named + 2.0 * (slugs or _is_spelled(name, path, headings)) + 1.5 * bool(ids & in_url)


def _is_spelled(name: str, path: str, headings: set[str]) -> bool:
    """Whether the end of *path* is the folded *name* or its beginning, and a heading of two words or more a part of
    it."""
    slug = _folded(path.rpartition("/")[2])
    is_begun = slug.count(" ") >= MIN_WORDS - 1 and f"{name} ".startswith(f"{slug} ")
    return is_begun and any(" " in each and each in name for each in headings)


def _price(node: Node, root: Any) -> tuple[str | None, str | None]:
    """(price, currency) of the first property that has one."""
    is_shopifys = ("pricevaries" in node and "handle" in node) or "publictitle" in node
    for key in state_prices.KEYS:
        if key in node and (found := _amount(node[key], root, MAX_DEPTH)) is not None:
            in_cents = isinstance(node[key], int) and (is_shopifys or key in _CENTS)
            return (str(Decimal(found[0]) / 100), found[1]) if in_cents else found
    return None, None


def _amount(value: Any, root: Any, depth: int) -> tuple[str, str | None] | None:
    """(price, currency) from a number, a string, an object or the first of a list."""
    value = state.dereferenced(value, root)
    if isinstance(value, list):
        value = state.dereferenced(value[0], root) if value else None
    if isinstance(value, dict) and depth:
        node = plain(value)
        if (minor := _of_minor_units(node)) is not None:
            return minor, text(node, _CURRENCIES)
        for key in _AMOUNTS:
            if key in node and (found := _amount(node[key], root, depth - 1)) is not None:
                return found[0], text(node, _CURRENCIES) or found[1]
        return None
    said = None if isinstance(value, (bool, dict)) else state.scalar(value)
    if said is None or values.price(said) is None:
        return None
    return said, None if _BARE.fullmatch(said) else said


def _of_minor_units(node: Node) -> str | None:
    """The amount of an object that states it in the currency's smallest unit, and how many decimals that has."""
    places = next((node[key] for key in _PLACES if isinstance(node.get(key), int)), 2 if "centamount" in node else None)
    amount = text(node, _MINOR)
    if places is None or amount is None or not amount.isdecimal() or not 0 <= places <= MAX_PLACES:
        return None
    return str(Decimal(amount) / 10**places)


def _availability(node: Node, root: Any) -> str | None:
    for key in (*_NO, *_YES):
        if isinstance(node.get(key), bool):
            return "InStock" if node[key] is (key in _YES) else "OutOfStock"
    for key in _SAID:
        value = state.dereferenced(node.get(key), root)
        if isinstance(value, dict):
            value = plain(value)
            value = next((value[inner] for inner in (*_YES, *_SAID, "quantity") if inner in value), None)
        if isinstance(value, bool) or (isinstance(value, int) and key in ("stock", "inventory")):
            return "InStock" if value else "OutOfStock"
        if isinstance(value, str) and (said := values.availability(value)):
            return said
    return None


def _first(node: Node, keys: Sequence[str]) -> Any:
    return next((node[key] for key in keys if node.get(key)), None)


def _folded(name: str) -> str:
    return _NO_WORD.sub(" ", name[:400]).strip().lower()


def _path(url: str) -> str:
    return _SUFFIX.sub("", unquote(urls.split(url[:2000]).path).rstrip("/").lower())
