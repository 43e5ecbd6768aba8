"""The GTIN with a label on the page, beside structured data that is complete without one."""

from __future__ import annotations

import re
from typing import Final

from crawler.extraction.product.draft import Draft
from crawler.extraction.tree.document import Document
from crawler.extraction.visible import identifiers
from crawler.extraction.visible.view import View

BEHIND: Final = 100_000  # characters of source from the heading on, that have the texts which are read
_LIKELY: Final = ("EAN", "GTIN", "ISBN", "UPC", "JAN", "arcode")  # searched in a tenth of the pattern's time
_LABEL: Final = re.compile(r">\s*+(?:EAN|GTIN|ISBN|UPC|JAN|[Bb]arcode)(?![A-Za-z])[^<>]{0,20}[<\d]")


def settle(draft: Draft, page: View) -> None:
    """Take the labelled GTIN if *draft* has none; its page is parsed for that only if a label stands in its source.

    Known weakness: labels in other languages, or more than 100,000 characters behind the heading.
    """
    if draft.lacks("gtin") and _may_be_labelled(page.document):
        draft.set("gtin", identifiers.shown_gtin(page), "html")


def _may_be_labelled(document: Document) -> bool:
    markup = document.markup
    start = max(0, markup.find("<h1"))
    behind = markup[start : start + BEHIND]
    return any(each in behind for each in _LIKELY) and _LABEL.search(behind) is not None
