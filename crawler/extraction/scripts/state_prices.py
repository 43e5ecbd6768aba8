"""The keys under which a page's state holds a price, and whether a script has any of them before it is parsed."""

from __future__ import annotations

import re
from typing import Final

from crawler.extraction.scripts import state_nodes

# As of `state_nodes.key`; the current price comes first.
KEYS: Final = (
    "saleprice", "specialprice", "finalprice", "currentprice", "sellingprice", "discountedprice", "discountprice",
    "offerprice", "priceafterdiscount", "pricewithdiscount", "pricenow", "price", "unitprice", "prices", "priceinfo",
    "pricing", "pricerange", "priceamount", "pricevalue", "priceincents", "pricecents", "variants", "offers", "offer",
    "masterdata", "mastervariant",
)  # fmt: skip
# One of them is in each of the keys, whatever its case.
STEMS: Final = ("rice", "ricing", "ffer", "ariants", "aster", "RICE", "RICING", "FFER", "ARIANTS", "ASTER")
LONGEST: Final = 24  # characters of a key on either side of its stem, with what parts its words
MOST: Final = 5_000  # stems that are none, before the script is read to know it

_BEFORE = re.compile(r"(?:(?<=\\)(?:u0022|x22)|(?<=%)22)?+([\w-]*+)\Z")
_BEHIND = re.compile(rf"([\w-]{{0,{LONGEST}}}+)\\{{0,4}}+(?:[\"']|u0022|x22|%22|&quot;|&#34;)?+\s{{0,9}}+(?::|%3A)")
_KNOWN: Final = frozenset(KEYS)


def may_be_in(code: str) -> bool:
    """Whether *code*, JSON, a script or an attribute, has such a key: `"price":`, `salePrice:`, `\\"price-range\\":`.

    Most states of pages that sell nothing, and many of shops, have none; to find that out takes a hundredth of the time
    of reading them. Known weakness: a key that a stream of server components breaks in two.
    """
    return any(_has_key(code, stem) for stem in STEMS)


def _has_key(code: str, stem: str) -> bool:
    place = code.find(stem)
    for _ in range(MOST):
        if place < 0:
            return False
        end = place + len(stem)
        behind = _BEHIND.match(code, end)
        if behind is not None:
            before = _BEFORE.search(code, max(0, place - LONGEST), place)
            if state_nodes.key(f"{before[1] if before else ''}{stem}{behind[1]}") in _KNOWN:
                return True
        place = code.find(stem, end)
    return True
