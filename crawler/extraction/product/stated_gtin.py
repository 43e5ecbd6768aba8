"""The GTIN with a label on the page, beside structured data that is complete without one; read from the source."""

from __future__ import annotations

import re
from typing import Final

from crawler.extraction.product.draft import Draft
from crawler.extraction.tree.document import Document
from crawler.extraction.words import values

BEHIND: Final = 30_000  # characters of source from the heading on: to search more costs as much as it is worth
_LIKELY: Final = ("EAN", "GTIN", "ISBN", "UPC")  # searched in a tenth of the pattern's time
_LABELLED: Final = re.compile(
    r">\s*+(?:EAN|GTIN|ISBN|UPC)(?:[- ]?(?:1[0-4]|8|[Cc]ode|Nr\.|No\.))?+(?:<[^<>]{0,300}+>|[\s:：]){1,30}+"
    r"(\d[\d -]{6,15}\d)\s*+<"
)


def settle(draft: Draft) -> None:
    """Take the labelled GTIN if *draft* has none and the page shows just one: several may be other products'.

    Known weakness: labels in other languages, or more than 30,000 characters behind the heading.
    """
    if draft.lacks("gtin") and len(shown := _labelled(draft.document)) == 1:
        draft.set("gtin", shown.pop(), "html")


def _labelled(document: Document) -> set[str]:
    markup = document.markup
    start = max(0, document.heading_at)
    behind = markup[start : start + BEHIND]
    if not any(each in behind for each in _LIKELY):
        return set()
    return {gtin for found in _LABELLED.findall(behind) if (gtin := values.gtin(found)) is not None}
