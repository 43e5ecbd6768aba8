"""What a URL tells of a product: its identifier, and how likely it is a product's."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final
from urllib.parse import parse_qsl, unquote

from crawler import urls

INPUTS: Final = frozenset(  # names of fields that hold one
    (
        "articleid", "articlenumber", "asin", "goodsid", "id", "idproduct", "itemid", "itemnumber", "pid", "prodid",
        "product", "productcode", "productid", "productsku", "sku",
    )
)  # fmt: skip
VALUE = re.compile(r"[#№]?\s*([A-Za-z0-9\u0400-\u04ff][\w./-]{2,38})(?![\w])")
# In groups with spaces, all of a text: `AB 123 45`, not the day `2019 05 12`.
GROUPED = re.compile(
    r"(?=.{4,24}\Z)(?!\d{4} \d\d \d\d\Z)"
    r"((?!(?:EAN|GTIN|UPC|ISBN|MPN|REF|ART|NR|NO|ID|PN)\b)[A-Z]{1,4} \d[\dA-Z/-]*+(?: \d[\dA-Z]*+){0,3}"
    r"|\d[\dA-Z]*+(?: \d[\dA-Z]*+){1,3})"
)
# The mark of products behind a name of several words, not a letter of an index: /red-shoe/p, but /brands/p, /a-z/p.
ENDED = re.compile(r"(?:/[a-z]{2}(?:-[a-z]{2})?)?/(?=[^/-]+-)[^/]{6,}/p/?$", re.IGNORECASE)
# The same before a number behind a name: /red-shoe-p-55120, /red-shoe-p55120.html
_CODED = re.compile(r"[^/-]-(?:p|pd|prd|sku)-?\d{4,}(?:\.\w{2,5})?/?$", re.IGNORECASE)
PUNCTUATION = re.compile(r"[\W_]")
_QUERY: Final = INPUTS | {"variant", "prod", "item", "offerid", "partnumber"}
_MARKER = re.compile(
    r"(?:dp|p|pd|prod|products?|produkte?|produits?|productos?|produtos?|prodott[oi]|items?|itm|goods|gp|ip|sku|details?"
    r"|article|artikel|i)",
    re.IGNORECASE,
)
_ANY_KIND = re.compile(r"article|artikel|details?|i", re.IGNORECASE)  # of any page, not only a product's
# Parts of a path: one after a marker, its suffix, numbers apart from letters, long ones anywhere.
_NUMBERED = re.compile(r"[A-Z0-9-]{4,20}|\d{3,}")
_BEHIND: Final = frozenset(("p", "dp", "pd", "prd"))  # markers that may follow: /AB123456/p
_MARKED = re.compile(r"(?=\w*\d\w*\d\w*\d)[A-Z0-9]{6,20}")
_SUFFIX = re.compile(r"\.\w{2,5}$")
_NUMBER = re.compile(r"(?<![a-z\d])[a-z]?(\d{4,})(?![a-z\d])", re.IGNORECASE)
_LONG = re.compile(r"\d{5,}")
_YEAR = re.compile(r"(?:19|20)\d\d")


def identifiers(url: str) -> Iterator[str]:
    """Parts of a product's URL that look like its identifier, likeliest first."""
    yield from (value for key, value in _queried(url) if _is_id_key(key))
    segments = [unquote(segment) for segment in urls.split(url).path.split("/") if segment]
    for before, segment in pairwise(segments):
        if _MARKER.fullmatch(before) and _NUMBERED.fullmatch(segment):
            yield segment
        elif segment in _BEHIND and _MARKED.fullmatch(before):
            yield before
    for segment in reversed(segments[-2:]):
        stem = _SUFFIX.sub("", segment)
        yield from (each for each in _NUMBER.findall(stem)[::-1] if not _YEAR.fullmatch(each))
        yield from _LONG.findall(stem)[::-1]


def stated(url: str) -> set[str]:
    """Identifiers that *url* itself calls so: `?sku=AB-12`."""
    return {value for key, value in _queried(url) if key.endswith("sku")}


def _queried(url: str) -> list[tuple[str, str]]:
    """(plain key, value) of what may be identifiers in the query of *url*."""
    try:
        query = parse_qsl(urls.split(url).query, max_num_fields=50)
    except ValueError:
        return []
    return [(PUNCTUATION.sub("", key).lower(), value) for key, value in query if VALUE.fullmatch(value)]


def _is_id_key(key: str) -> bool:
    return key in _QUERY or key.endswith(("sku", "productid"))


def likelihood(url: str) -> float:
    """How much *url* looks like a product's: 1 if a part of its path says so, 0.5 for an identifier, else 0."""
    path = urls.split(url).path
    if names_product(path.split("/")[:-1]) or ENDED.match(path) or _CODED.search(path):
        return 1.0
    return 0.5 if next(identifiers(url), None) else 0.0


def names_product(segments: Sequence[str]) -> bool:
    """Whether one of a path's *segments* says that a product follows: `p`, `item`."""
    return any(_MARKER.fullmatch(each) and not _ANY_KIND.fullmatch(each) for each in segments)
