"""Products whose price people have to ask for."""

from __future__ import annotations

from typing import Final

from crawler.extraction.visible import cards, view
from crawler.extraction.visible.view import View

NEAR: Final = 40  # texts behind the heading
MAX_TEXT: Final = 40  # characters; longer ones speak of prices in general
_ELSEWHERE: Final = view.OTHER | view.HIDDEN


def is_said(page: View) -> bool:
    """Whether the page says so behind the heading, in place of a price."""
    return page.once(_place) is not None


def is_before(page: View, index: int) -> bool:
    """Whether it says so before the text at *index*."""
    place = page.once(_place)
    return place is not None and place < index


def _place(page: View) -> int | None:
    start, lexicon = page.heading_index, page.lexicon
    behind = page.texts[start : start + NEAR] if start >= 0 else ()
    short = [text.lower() if len(text) <= MAX_TEXT else "" for text, _ in behind]
    said = (start + at for at in lexicon.of_request.among(short) if lexicon.says("on_request", short[at]))
    own = (at for at in said if not page.flags(page.texts[at][1]) & _ELSEWHERE)
    return next((at for at in own if not cards.is_in_card(page, at)), None)
