"""The page's main product and its raw fields, from schema.org items in any syntax.

JSON-LD, microdata and RDFa all arrive here as the same nested dicts with "@type", so that one set of rules
chooses the product, the variant and the offer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from itertools import product as pairs
from typing import Any, TypeAlias
from urllib.parse import unquote, urlsplit

from crawler.extraction.structured import offers, properties
from crawler.extraction.words import values
from crawler.utils.caches import cached

Node: TypeAlias = Mapping[str, Any]

PRODUCTS = frozenset(("product", "productgroup", "individualproduct", "productmodel", "someproducts"))
SOLD = frozenset(
    (
        "book", "car", "vehicle", "motorcycle", "motorizedbicycle", "videogame", "musicalbum", "musicrelease", "drug",
        "dietarysupplement",
    )
)  # fmt: skip
ARTICLES = frozenset(
    (
        "article", "newsarticle", "blogposting", "reportagenewsarticle", "analysisnewsarticle", "opinionnewsarticle",
        "techarticle", "scholarlyarticle", "liveblogposting", "discussionforumposting", "socialmediaposting", "recipe",
        "howto",
    )
)  # fmt: skip
# Kinds of pages that are not about a single product.
OTHER_PAGES = frozenset(
    ("collectionpage", "searchresultspage", "profilepage", "qapage", "aboutpage", "contactpage", "jobposting")
)
# What a page may be about that is sold or booked, but is no product; events of all kinds besides.
SUBJECTS = frozenset(
    (
        "service", "hotel", "lodgingbusiness", "accommodation", "apartment", "house", "residence", "hostel", "resort",
        "singlefamilyresidence", "vacationrental", "realestatelisting", "restaurant", "foodestablishment", "menu",
        "organization", "localbusiness", "place", "touristattraction", "touristtrip", "trip", "flight", "course",
        "movie", "tvseries", "podcastepisode", "person", "financialproduct",
    )
)  # fmt: skip
# Properties that only products for sale have; services and categories have names and ratings too.
_SOLD_BY = ("offers", "hasvariant", "sku", "mpn", "productid", "gtin", "gtin8", "gtin12", "gtin13", "gtin14", "price")
_IDENTIFIED_BY = frozenset(_SOLD_BY) - {"offers", "hasvariant", "price"}
_VOCABULARY = re.compile(r"[/#:]")
_PUNCTUATION = re.compile(r"\W+")
MAX_SIZES = 100
MOST_OFFERS = 100  # of one product, on a page that compares sellers
NAMED = 3  # likeness of a product that has the page's heading or address
MANY = 8  # products, none of which the page names: a list's
MAX_NODES = 20_000  # per page
# Properties of a page or product that contain other products.
_OTHERS = frozenset(
    (
        "isrelatedto",
        "issimilarto",
        "isaccessoryorsparepartfor",
        "isconsumablefor",
        "review",
        "reviews",
        "itemreviewed",
        "mentions",
    )
)


@dataclass(slots=True)
class Found:
    """The content of a page's structured data: product candidates and breadcrumbs."""

    products: list[Node] = field(default_factory=list)
    listed: int = 0  # products that are list entries
    breadcrumbs: list[str] = field(default_factory=list)
    articles: list[str] = field(default_factory=list)  # their headlines
    recipe: bool = False  # one of them is a recipe
    subjects: list[str] = field(default_factory=list)  # names of what else a page may be about
    events: list[str] = field(default_factory=list)  # their names
    other_page: bool = False  # the page says that it is not about a single product


def search(values: Iterable[Any]) -> Found:
    """Walk all *values* except related products and reviews; not recursive, so depth is harmless."""
    found = Found()
    stack = [(value, False) for value in values][::-1]
    for _ in range(MAX_NODES):
        if not stack:
            break
        value, listed = stack.pop()
        if isinstance(value, list):
            stack.extend((entry, listed) for entry in reversed(value))
        elif isinstance(value, dict):
            stack.extend(_expanded(value, listed, found))
    return found


def _expanded(node: Node, listed: bool, found: Found) -> Iterator[tuple[Any, bool]]:
    kinds = types(node)
    if "breadcrumblist" in kinds:
        found.breadcrumbs = found.breadcrumbs or properties.breadcrumbs(node)
        return
    if kinds & PRODUCTS or (kinds & SOLD and "offers" in node):
        if listed:
            found.listed += 1
        else:
            # Some shop systems begin properties with a capital.
            found.products.append({**node, "offers": node["Offers"]} if "Offers" in node else node)
        return
    if "offer" in kinds and isinstance(offered := node.get("itemOffered"), dict) and types(offered) & PRODUCTS:
        yield {**offered, "offers": {key: value for key, value in node.items() if key != "itemOffered"}}, listed
        return
    if kinds & ARTICLES and not listed:
        found.recipe = found.recipe or "recipe" in kinds
        found.articles.append(properties.name_of(node.get("headline")) or properties.name_of(node.get("name")) or "")
    if kinds & SUBJECTS and not listed:
        found.subjects.append(properties.name_of(node.get("name")) or "")
    if not listed and "event " in f"{' '.join(kinds)} ":
        found.events.append(properties.name_of(node.get("name")) or "")
    found.other_page = found.other_page or not kinds.isdisjoint(OTHER_PAGES)
    inside = listed or "itemlist" in kinds
    for key, value in node.items():
        if isinstance(value, (dict, list)) and key.lower() not in _OTHERS:
            yield value, inside


def types(node: Node) -> set[str]:
    """The node's types in lower case, without their vocabulary."""
    raw = node.get("@type")
    names = raw if isinstance(raw, list) else [raw]
    return {_type(name) for name in names if isinstance(name, str)}


@cached(4_096)
def _type(name: str) -> str:
    return _VOCABULARY.split(name)[-1].lower()


def is_bare(product: Node) -> bool:
    """Whether *product* only has a name, a rating and an image, or a range of more offers than one product has."""
    stated = {key.lower() for key, value in product.items() if value}
    return stated.isdisjoint(_SOLD_BY) or (
        is_vague(product) and (values.count(product["offers"].get("offerCount")) or 0) > MOST_OFFERS
    )


def is_vague(product: Node) -> bool:
    """Whether *product* has a range of prices and no identifier, as some shops describe their categories."""
    offered = product.get("offers")
    if not isinstance(offered, dict) or "offers" in offered or "aggregateoffer" not in types(offered):
        return False
    return _IDENTIFIED_BY.isdisjoint(key.lower() for key, value in product.items() if value)


def is_article(found: Found, product: Node | None, headings: Sequence[str]) -> bool:
    """Whether one of the articles has the page's heading and *product* has not; a recipe alone needs none."""
    if product is not None and _folded(product.get("name")) in _all_folded(headings):
        return False
    return (found.recipe and product is None) or is_heading(found.articles, headings)


def names_another(found: Found, headings: Sequence[str]) -> bool:
    """Whether the page's heading is that of one of the articles, or names something else that is no product."""
    return is_article(found, None, headings) or is_subject(found, headings)


def is_subject(found: Found, headings: Sequence[str]) -> bool:
    """Whether the page's heading names something that is no product."""
    folded = _all_folded(headings)
    return any(_folded(each) in folded for each in found.subjects) or is_heading(found.events, headings)


def is_heading(names: Iterable[str], headings: Sequence[str]) -> bool:
    """Whether one of *names* is in a heading, or one in it, or most of their words are the same."""
    return any(
        values.stands_in(name, heading) or heading in name or _share(set(name.split()), set(heading.split()))
        for name, heading in pairs(_all_folded(names), _all_folded(headings))
    )


def _share(words: set[str], others: set[str]) -> bool:
    least = min(len(words), len(others))
    return least > 2 and 4 * len(words & others) >= 3 * least


def main_product(products: Sequence[Node], url: str, headings: Sequence[str], least: int = 0) -> Node | None:
    """The product that the page is about, or None if they are entries of a listing.

    A single product is the page's. Of several it is the one with the page's URL or with the name in a heading (or
    title); then, with a *least* likeness of 0 and not of MANY, the first that has offers and names no other page as its
    own, unless two others do, too.
    """
    if len(products) <= 1:
        return products[0] if products else None
    folded = _all_folded(headings)
    scored = [(_likeness(node, url, folded), -index) for index, node in enumerate(products)]
    best, index = max(scored)
    alike = {_folded(node.get("name")) for node, (score, _) in zip(products, scored, strict=True) if score == best}
    is_listed = len(products) > MANY or (len(alike) > 2 and best == 1)
    return products[-index] if best >= (NAMED if is_listed else least) else None


def is_of_other_page(node: Node, url: str) -> bool:
    """Whether *node* names another address as its own than *url*, by its path."""
    own = properties.first(node.get("url"))  # a card links to its product by image and name
    if not isinstance(own, str) or own == url or not own.startswith(("http", "/")):
        return False
    return _path(own) not in ("", _path(url))


def _likeness(node: Node, url: str, headings: Sequence[str]) -> int:
    score = 1 if node.get("offers") else 0
    name = _folded(node.get("name"))
    own = properties.first(node.get("url")) or node.get("@id")
    here = _path(url)
    there = _path(own) if isinstance(own, str) and own.startswith(("http", "/")) else None
    is_others = there is not None and _last(there) != _last(here)  # else this one, under a list or a language
    if name and any(values.stands_in(name, heading) or (heading in name and not is_others) for heading in headings):
        score += NAMED
    if there is not None:
        score += NAMED if there == here else -NAMED
    return score


def _last(path: str) -> str:
    return path.rpartition("/")[2]


def raw_fields(node: Node, url: str, products: Sequence[Node] = ()) -> dict[str, Any]:
    """The node's raw fields, of the variant and offer that *url* shows.

    *products* are all products of the page: those with the same name are its sizes, of which one in stock is enough.
    """
    product = offers.variant(node, url)
    offer = offers.choose(product.get("offers"), url)
    if len(products) > 1 and not offers.available(offer):
        name = _folded(node.get("name"))
        sizes = (each for each in products if each is not node and _folded(each.get("name")) == name)
        stated = (offers.choose(each.get("offers"), url) for each in islice(sizes, MAX_SIZES))
        in_stock = next((each["availability"] for each in stated if offers.available(each)), None)
        offer = {**offer, "availability": in_stock or offer.get("availability")}
    review = properties.first(product.get("aggregateRating"))
    review = review if isinstance(review, dict) else {}
    return {
        "title": product.get("name"),
        "price": offer.get("price"),
        "highest_price": offer.get("highPrice"),
        "other_prices": offers.in_other_currencies(product.get("offers"), offer.get("priceCurrency")),
        "currency": offer.get("priceCurrency"),
        "availability": offer.get("availability"),
        "sku": properties.identifier(product.get("sku"), offer.get("sku")),
        "other_ids": [properties.identifier(product.get(key)) for key in ("productID", "identifier", "mpn")],
        "gtin": next((value for node in (product, offer) for value in properties.gtins(node)), None),
        "brand": properties.name_of(product.get("brand")) or properties.name_of(product.get("manufacturer")),
        "rating": review.get("ratingValue"),
        "best_rating": review.get("bestRating"),
        "review_count": review.get("reviewCount") or review.get("ratingCount"),
        "image": properties.image_of(product.get("image")),
        "description": properties.name_of(product.get("description")),
        "category": properties.category_of(product.get("category")),
    }


def _all_folded(names: Iterable[str]) -> list[str]:
    return [folded for each in names if (folded := _folded(each))]


def _folded(name: object) -> str:
    return _PUNCTUATION.sub(" ", name).strip().lower() if isinstance(name, str) else ""


def _path(url: str) -> str:
    try:
        return unquote(urlsplit(url).path).rstrip("/").lower()
    except ValueError:
        return url
