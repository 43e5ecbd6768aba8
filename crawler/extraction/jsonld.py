"""JSON-LD blocks -> Python values, however broken the JSON is."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from crawler.entities import unescape

MAX_BLOCKS = 200
MAX_BLOCK = 2_000_000  # characters

_BLOCK = re.compile(
    r"<script\b[^<>]{0,1000}?\btype\s{0,9}=\s{0,9}[\"']?application/(?:ld\+json|json\+ld)[^<>]{0,1000}>", re.IGNORECASE
)
_END = re.compile(r"</script", re.IGNORECASE)
_OPENING = re.compile(r"(?:<!--|//\s{0,9}<!\[CDATA\[|/\*\s{0,9}<!\[CDATA\[\s{0,9}\*/|<!\[CDATA\[)")
_CLOSINGS = ("-->", "*/", "]]>", "//", "/*", ";")  # in the order in which they end a block
_TRAILING_COMMA = re.compile(r",(?=\s{0,99}[}\]])")
_COMMENT = re.compile(r"^[ \t]*//.*$", re.MULTILINE)
_JUNK = re.compile(r"[\s,;]*")  # between several values one after another
_BAD_ESCAPE = re.compile(r"\\(?![\"\\/bfnrtu])")
_SCALARS = re.compile(
    r"\"(name|sku|mpn|gtin\d*|price|lowPrice|priceCurrency|availability|image|description|productID)\""
    r"\s*+:\s*+(?:\"((?:[^\"\\\n]|\\.)*)\"|([\d.]+))"
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
    position, outside = 0, 0
    for _ in range(MAX_BLOCKS):
        begun = _BLOCK.search(html, position)
        ended = _END.search(html, begun.end()) if begun is not None else None
        if begun is None or ended is None:
            return
        commented, outside = _is_commented(html, begun.start(), outside)
        if not commented and ended.start() - begun.end() <= MAX_BLOCK:
            yield from _values(html[begun.end() : ended.start()])
        position = ended.end()


def _is_commented(html: str, position: int, outside: int) -> tuple[bool, int]:
    """(whether *position* is inside an HTML comment, a place up to there that is in none) from *outside* on.

    A `<!--` with the end of a script behind it is one of that script's strings.
    """
    while (opened := html.find("<!--", outside, position)) >= 0:
        closed = html.find("-->", opened + 4)
        if closed < 0 or closed >= position:
            return closed >= 0 and html.find("</script", opened, position) < 0, opened
        outside = closed + 3
    return False, position


def _values(source: str) -> Iterator[Any]:
    try:
        yield _decoder.decode(source.strip())
    except ValueError:
        yield from _repaired(source)
    except RecursionError:
        return


def _repaired(source: str) -> Iterator[Any]:
    """The values of *source* after the usual mistakes are mended: wrappers, comments, commas, escapes."""
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
    """The first plain properties of a product whose block cannot be parsed."""
    start = re.search(r"\"@type\"\s*+:\s*+\[?+\s*+\"Product\"", source)
    if start is None:
        return
    product: dict[str, Any] = {}
    for key, quoted, number in _SCALARS.findall(source):
        product.setdefault(key, quoted or number)
    offer = {key: product.pop(key) for key in ("price", "lowPrice", "priceCurrency", "availability") if key in product}
    yield {"@type": "Product", **product, "offers": {"@type": "Offer", **offer}}
