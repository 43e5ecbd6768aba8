"""Products that are sold for a price that people have to ask for."""

from __future__ import annotations

from typing import Final

from crawler.extraction.tree.nodetext import tag_ids
from crawler.extraction.visible import buy_buttons, cards, surroundings, view
from crawler.extraction.visible.view import View

NEAR: Final = 40  # texts behind the heading
MAX_TEXT: Final = 40  # characters
_ENDS: Final = " .!:："
_ELSEWHERE: Final = view.OTHER | view.HIDDEN
_LABELS: Final = tag_ids("dt th label")


def is_said(page: View) -> bool:
    """Whether the page says so behind the heading, in place of a price."""
    return page.once(_place) is not None


def is_before(page: View, index: int) -> bool:
    """Whether it says so before the text at *index*, and has no buy button: what is sold with one has a price."""
    place = page.once(_place)
    return place is not None and place < index and buy_buttons.buy_button(page) is buy_buttons.Button.NONE


def _place(page: View) -> int | None:
    start, lexicon = page.heading_index, page.lexicon
    behind = page.texts[start : start + NEAR] if start >= 0 else ()
    short = [text.lower().strip(_ENDS) if len(text) <= MAX_TEXT else "" for text, _ in behind]
    parted = [" ".join(both) for both in zip(["", *short], short, strict=False)]  # "Price:" "on request"
    is_said, likely = lexicon.on_request.fullmatch, lexicon.of_request.among(parted)
    said = (start + at for at in likely if is_said(short[at]) or is_said(parted[at]))
    own = (at for at in said if not (page.flags(page.texts[at][1]) & _ELSEWHERE or _is_of_other(page, at)))
    return next((at for at in own if not cards.is_in_card(page, at)), None)


def _is_of_other(page: View, index: int) -> bool:
    """Whether a label before the text says that it is about something else than the price: delivery, a custom size."""
    label = surroundings.label_before(page, index)
    is_label = label[-1:] in (":", "：") or page.texts[index - 1][1].tag_id in _LABELS
    return label != "" and is_label and not page.lexicon.says("price", label)
