"""JSON-LD blocks -> Python values, however broken the JSON is."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html import unescape
from typing import Any

MAX_BLOCKS = 200
MAX_BLOCK = 2_000_000  # characters

_BLOCK = re.compile(
    r"<script\b[^>]*?\btype\s*=\s*[\"']?application/(?:ld|json)\+(?:json|ld)[^>]*>(.*?)</script",
    re.IGNORECASE | re.DOTALL,
)
_WRAPPING = re.compile(
    r"^\s*(?:<!--|//\s*<!\[CDATA\[|/\*\s*<!\[CDATA\[\s*\*/|<!\[CDATA\[)|(?:-->|(?://|/\*)?\s*\]\]>(?:\s*\*/)?|;)\s*$"
)
_TRAILING_COMMA = re.compile(r",(?=\s*[}\]])")
_COMMENT = re.compile(r"^\s*//.*$|/\*.*?\*/", re.MULTILINE | re.DOTALL)
_BAD_ESCAPE = re.compile(r"\\(?![\"\\/bfnrtu])")
_SCALARS = re.compile(
    r"\"(name|sku|mpn|gtin\d*|price|lowPrice|priceCurrency|availability|image|description|productID)\""
    r"\s*:\s*(?:\"((?:[^\"\\\n]|\\.)*)\"|([\d.]+))"
)
_decoder = json.JSONDecoder(strict=False, parse_float=str, parse_constant=lambda _: None)


def blocks(html: str) -> Iterator[Any]:
    """The value of each JSON-LD script of *html*; numbers with a fraction stay strings, NaN becomes None.

    Read from the source and not from a tree, which a page that states everything here never needs. Blocks
    inside an HTML comment are skipped. A block that no repair makes readable still yields the plain
    properties of its product, when it has one.
    """
    if "ld+json" not in html and "json+ld" not in html:
        return
    for count, match in enumerate(_BLOCK.finditer(html)):
        if count >= MAX_BLOCKS:
            return
        if not _commented_out(html, match.start()) and len(match[1]) <= MAX_BLOCK:
            yield from _values(match[1])


def _commented_out(html: str, position: int) -> bool:
    opened = html.rfind("<!--", 0, position)
    return opened >= 0 and html.find("-->", opened, position) < 0


def _values(source: str) -> Iterator[Any]:
    try:
        yield _decoder.decode(source.strip())
    except ValueError:
        yield from _repaired(source)
    except RecursionError:
        return


def _repaired(source: str) -> Iterator[Any]:
    """The values of *source* after the usual mistakes are mended: wrappers, comments, commas, escapes."""
    mended = _WRAPPING.sub("", _WRAPPING.sub("", source)).strip()
    mended = _TRAILING_COMMA.sub("", _COMMENT.sub("", mended))
    mended = _BAD_ESCAPE.sub("", mended)
    if "&quot;" in mended:
        mended = unescape(mended)
    found = False
    while mended:
        try:
            value, end = _decoder.raw_decode(mended)
        except (ValueError, RecursionError):
            break
        found = True
        yield value
        mended = mended[end:].lstrip(" \t\r\n,;")  # several values one after another
    if not found:
        yield from _salvaged(source)


def _salvaged(source: str) -> Iterator[dict[str, Any]]:
    """The first plain properties of a product whose block cannot be parsed."""
    start = re.search(r"\"@type\"\s*:\s*\[?\s*\"Product\"", source)
    if start is None:
        return
    product: dict[str, Any] = {}
    for key, quoted, number in _SCALARS.findall(source):
        product.setdefault(key, quoted or number)
    offer = {key: product.pop(key) for key in ("price", "lowPrice", "priceCurrency", "availability") if key in product}
    yield {"@type": "Product", **product, "offers": {"@type": "Offer", **offer}}
