"""The shop's identifier that a page's scripts tell others of: shop systems, counters of sales, data layers.

Read where nothing else states one. No script is run, and no JSON decoded: most are parts of a program.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from html import escape
from itertools import islice
from typing import Final

from crawler.extraction.scripts.objects import AROUND, MIN_NAME, closed, opened, without_inner
from crawler.extraction.tree.document import Document
from crawler.extraction.visible.identifier_fields import is_given
from crawler.extraction.visible.identifiers import MAX_ROW
from crawler.extraction.words import url_identifiers

MAX_FOUND: Final = 50  # places examined per page

_VALUE: Final = (
    r"(?:\\{0,3}[\"'])?\s{0,9}:\s{0,9}\[?\s{0,9}(?P<quote>\\{0,3}[\"']|)(?P<value>[\w./-]{3,40})(?P=quote)(?![\w./-])"
)
_SKU: Final = re.compile(rf"(?<![A-Za-z])(?:(?:product|item|variant)_?)?[sS](?:ku|KU)(?:_?[cC]ode)?{_VALUE}")
_ID: Final = re.compile(rf"(?<![A-Za-z])(?:(?:item|product)_?)?(?:id|Id|ID){_VALUE}")
_CODE: Final = re.compile(r"(?=\D*\d)(?=[^A-Z]*[A-Z])(?!.*\d{10})[A-Z\d]+(?:[-_./][A-Z\d]+)*")  # no row's number
_QUOTES: Final = frozenset("\"'\\")


def sku(document: Document, title: str) -> str | None:
    """The one `sku` stated in an object that has the product's *title*, else its one id that is a code such as `KN-1`
    or a number in the page's address; None if there are several: those of its variants.

    Known weakness: a title with letters that the script escapes in another way than JSON.
    """
    objects = list(_named(document, title)) if len(title) >= MIN_NAME else []
    for pattern in (_SKU, _ID) if objects else ():
        stated = _values(pattern, map(without_inner, objects)) or _values(pattern, objects)
        stated = {each for each in stated if is_given(each) and (pattern is _SKU or _is_known(each, document.url))}
        if stated:
            return stated.pop() if len(stated) == 1 else None
    return None


def _values(pattern: re.Pattern[str], texts: Iterable[str]) -> set[str]:
    return {found["value"] for each in texts for found in pattern.finditer(each)}


def _is_known(number: str, url: str) -> bool:
    """Whether an id is a code, or a longer number that the product's *url* has, too: no row's of a database."""
    return _CODE.fullmatch(number) is not None or (len(number) > MAX_ROW and number in url_identifiers.identifiers(url))


def _named(document: Document, title: str) -> Iterator[str]:
    """The objects of scripts that have *title* as a value, as far as they stand around it."""
    html = document.html
    for start, end, limits in islice(_places(document, title), MAX_FOUND):
        before = opened(html[max(limits[0], start - AROUND) : start])
        yield f"{before} {closed(html[end : min(limits[1], end + AROUND)], 0)}"


def _places(document: Document, title: str) -> Iterator[tuple[int, int, tuple[int, int]]]:
    """Where *title* is a whole value in a script, and where that begins and ends."""
    html = document.html
    for form in dict.fromkeys((title, json.dumps(title)[1:-1], escape(title))):
        for script in document.source.scripts:
            at = html.find(form, script.start, script.end)
            while at >= 0:
                end = at + len(form)
                if html[at - 1] in _QUOTES and html[end : end + 1] in _QUOTES:
                    yield at, end, (script.start, script.end)
                at = html.find(form, end, script.end)
