"""JSON-LD blocks as Python values, even from broken JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from crawler.extraction.source.source import Script
from crawler.utils.entities import unescape

MAX_BLOCKS = 200
MAX_BLOCK = 2_000_000  # characters

_TYPE = re.compile(r"\btype\s{0,9}=\s{0,9}[\"']?application/(?:ld\+json|json\+ld)", re.IGNORECASE)
_OPENING = re.compile(r"(?:<!--|//\s{0,9}<!\[CDATA\[|/\*\s{0,9}<!\[CDATA\[\s{0,9}\*/|<!\[CDATA\[)")
_CLOSINGS = ("-->", "*/", "]]>", "//", "/*", ";")  # in the order they end a block
_TRAILING_COMMA = re.compile(r",(?=\s{0,99}[}\],])")
_COMMENT = re.compile(r"^[ \t]*//.*$", re.MULTILINE)
_JUNK = re.compile(r"[\s,;]*")  # between consecutive values
_BAD_ESCAPE = re.compile(r"\\(?![\"\\/bfnrtu])")
_SCALARS = re.compile(
    r"\"(name|sku|mpn|gtin\d*|price|lowPrice|priceCurrency|availability|image|description|productID)\""
    r"\s*+:\s*+(?:\"((?:[^\"\\\n]|\\.)*)\"|([\d.]+))"
)
_BRAND = re.compile(
    r"\"brand\"\s*+:\s*+(?:\{\s*+(?:\"@type\"\s*+:\s*+\"\w*+\"\s*+,\s*+)?\"name\"\s*+:\s*+)?\"((?:[^\"\\\n]|\\.)++)\""
)
_decoder = json.JSONDecoder(strict=False, parse_float=str, parse_constant=lambda _: None)


def blocks(html: str, scripts: Iterable[Script]) -> Iterator[Any]:
    """The value of each JSON-LD script of *html*; numbers with a fraction stay strings, NaN becomes None.

    An unreparable block still yields the simple properties of its product, if it has one.
    """
    for source in sources(html, scripts):
        yield from _values(source)


def sources(html: str, scripts: Iterable[Script]) -> Iterator[str]:
    """The JSON-LD scripts of *html* as they are written, but for the prefix `schema:`."""
    stated = (script for script in scripts if "json" in script.attributes and _TYPE.search(script.attributes))
    for script in islice(stated, MAX_BLOCKS):
        if script.end - script.start <= MAX_BLOCK:
            yield html[script.start : script.end].replace('"schema:', '"')


def _values(source: str) -> Iterator[Any]:
    try:
        yield _decoder.decode(source.strip())
    except ValueError:
        yield from _repaired(source)
    except RecursionError:
        return


def _repaired(source: str) -> Iterator[Any]:
    """The values of *source* after repairing common errors: wrappers, comments, commas, escapes."""
    mended = source.strip()
    if opening := _OPENING.match(mended):
        mended = mended[opening.end() :]
    for end in _CLOSINGS:
        mended = mended.removesuffix(end).rstrip()
    mended = _TRAILING_COMMA.sub("", _COMMENT.sub("", mended))
    mended = _BAD_ESCAPE.sub("", mended)
    if "&quot;" in mended:
        mended = unescape(mended)
    position, count = 0, 0
    while count < MAX_BLOCKS and (start := _after_junk(mended, position)) < len(mended):
        try:
            value, position = _decoder.raw_decode(mended, start)
        except (ValueError, RecursionError):
            break
        count += 1
        yield value
    if not count:
        yield from _salvaged(source)


def _after_junk(text: str, position: int) -> int:
    match = _JUNK.match(text, position)
    return match.end() if match is not None else position


def _salvaged(source: str) -> Iterator[dict[str, Any]]:
    """The first simple properties of a product whose block cannot be parsed."""
    start = re.search(r"\"@type\"\s*+:\s*+\[?+\s*+\"Product\"", source)
    if start is None:
        return
    source = source[max(0, source.rfind("{", 0, start.start())) :]
    product: dict[str, Any] = {}
    for key, quoted, number in _SCALARS.findall(source):
        product.setdefault(key, quoted or number)
    if brand := _BRAND.search(source):
        product["brand"] = brand[1]
    offer = {key: product.pop(key) for key in ("price", "lowPrice", "priceCurrency", "availability") if key in product}
    yield {"@type": "Product", **product, "offers": {"@type": "Offer", **offer}}
