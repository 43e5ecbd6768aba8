"""Whether a page says that its product costs nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from crawler.extraction.visible import surroundings, view
from crawler.extraction.visible.shown_price import Price
from crawler.extraction.visible.view import View

_FREE: Final = frozenset(
    (
        "free", "free to play", "for free", "free of charge", "gratis", "kostenlos", "gratuit", "gratuito", "gratuita",
        "grátis", "za darmo", "zdarma", "zadarmo", "ingyenes", "бесплатно", "безкоштовно", "безплатно", "бесплатна",
        "ücretsiz", "無料", "免费", "免費", "무료", "مجاني", "مجانا", "חינם", "ilmainen", "maksuton", "δωρεάν",
        "besplatno", "brezplačno", "nemokamai", "nemokama", "bez maksas", "tasuta", "miễn phí", "ฟรี", "मुफ़्त", "मुफ्त",
        "رایگان",
    )
)  # fmt: skip
LONGEST: Final = max(map(len, _FREE))
NEAR: Final = 60  # texts from the heading on in which a page without prices says so
_ELSEWHERE: Final = view.OTHER | view.LINK | view.HIDDEN | view.PAST | view.OLD | view.CHOICE


def says_free(page: View, best: Price | None, *, is_stated: bool) -> bool:
    """Whether all that an element behind the heading says is that something costs nothing, and that is the product.

    Its element has to be named a price and to stand before *best*, which then is that of a bundle or an addition. If
    structured data states a price of zero (*is_stated*), it may stand anywhere, and needs no name if the page shows no
    price.
    """
    heading = max(0, page.heading_index)
    end = len(page.texts) if is_stated else best.index if best is not None else heading + NEAR
    flags = _said(page, heading, end)
    return any(each & view.PRICE or (is_stated and best is None) for each in flags)


def _said(page: View, start: int, end: int) -> Iterator[int]:
    """The context of each text that says so, but for that of shipping and other services."""
    for at in range(start, min(end, len(page.texts))):
        text, node = page.texts[at]
        if len(text) > LONGEST or text.lower() not in _FREE:
            continue
        flags = page.flags(node)
        if not (flags & _ELSEWHERE or page.lexicon.says("other_price", surroundings.label_before(page, at))):
            yield flags
