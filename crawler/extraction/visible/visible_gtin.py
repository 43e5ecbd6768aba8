"""The GTIN that a page shows: the product's number for all shops, behind a label."""

from __future__ import annotations

import re

from crawler.extraction.visible import view
from crawler.extraction.visible.view import View
from crawler.extraction.words import labels, values

MIN_GTIN_TEXT, MAX_GTIN_TEXT = 8, 80  # characters

_LONG_NUMBER = re.compile(r"\d[\d -]{6,15}\d")


def shown_gtin(page: View) -> str | None:
    """The first valid GTIN with a label such as EAN, UPC or ISBN in its text or the one before."""
    for index in page.numbers:
        text, node = page.texts[index]
        numbers = list(_LONG_NUMBER.finditer(text)) if MIN_GTIN_TEXT <= len(text) <= MAX_GTIN_TEXT else ()
        if not numbers:
            continue
        before = page.texts[index - 1][0][:MAX_GTIN_TEXT] if index else ""
        if index > 1 and not before.strip(" :："):
            before = page.texts[index - 2][0][:MAX_GTIN_TEXT]
        own = labels.GTIN_LABEL.search(text, 0, numbers[-1].start())
        start = 0 if labels.GTIN_LABEL.search(before) else own.end() if own else len(text)
        gtin = next(filter(None, (values.gtin(number[0]) for number in numbers if number.start() >= start)), None)
        if gtin and not page.flags(node) & view.OTHER:
            return gtin
    return None
