"""Products whose price people have to ask for."""

from __future__ import annotations

from typing import Final

from crawler.extraction.visible import cards, view
from crawler.extraction.visible.view import View

NEAR: Final = 40  # texts behind the heading
MAX_TEXT: Final = 40  # characters; longer ones speak of prices in general
_ELSEWHERE: Final = view.OTHER | view.HIDDEN


def place(page: View) -> int | None:
    """Where behind the heading the page says so in place of a price, or None."""
    return page.once(_place)


def _place(page: View) -> int | None:
    start = page.heading_index
    near = enumerate(page.texts[start : start + NEAR], start) if start >= 0 else ()
    said = (at for at, (text, _) in near if len(text) <= MAX_TEXT and page.lexicon.says("on_request", text))
    own = (at for at in said if not page.flags(page.texts[at][1]) & _ELSEWHERE)
    return next((at for at in own if not cards.is_in_card(page, at)), None)
