"""Prices of several pieces: what the texts before them say of how many."""

from __future__ import annotations

import re
from typing import Final

from crawler.extraction.visible.view import View
from crawler.extraction.words import currencies, values

MORE: Final = 2  # pieces, at the least, that another price is of
FEWER: Final = 8  # texts around the price of more pieces in which that of fewer stands

_QUANTITY = re.compile(
    r"\W{0,3}\d[\d.,]{0,9} ?(?:\+|[-–~] ?\d[\d.,]{0,9})"
    r"(?: (?:pcs?|pieces?|units?|sets?|stk|stück|unités?|szt|ks|шт)\.?)?$|[≥>]=? ?\d[\d.,]{0,9}\b[^\d%]{0,12}$"
)
_FROM = re.compile(
    r"(?=.*[^\W\d] \d|[≥>]|\d+ ?[-+–~]|.*\+$)"  # more than a number
    r"(?:(?:from|ab|dès|à partir de|a partir (?:de|di)|desde|da|vanaf|fra|från|od|від|от|alkaen|≥|>=?) )?(\d{1,5})"
    r" ?(?:\+|[-–~] ?\d[\d.,]{0,9})?(?: (?:pcs?|pieces?|units?|sets?|stk|stück|unités?|szt|ks|шт)\.?\+?)?",
    re.IGNORECASE,
)


def is_of_quantity(page: View, index: int) -> bool:
    """Whether the text before a price says of how many pieces it is: `1000 - 4999 pieces`."""
    return index > 0 and _QUANTITY.match(page.texts[index - 1][0]) is not None


def is_of_more(page: View, index: int) -> bool:
    """Whether the text before a price says from how many pieces on it holds (`from 10`, `10 - 99`), and that of fewer
    is higher: one that stands before it, behind the heading, or that is said to be so in the rows behind it."""
    least = _least(page, index)
    if least is None or least < MORE:
        return False
    country, begin = page.document.country, max(page.heading_index + 1, index - FEWER)
    amount = values.price_in_text(page.texts[index][0]) or 0
    places = (*range(begin, index - 1), *range(index + 2, min(index + FEWER, len(page.texts))))
    for at in places:
        text = page.texts[at][0]
        is_likely = currencies.mentions(text, country) and (at < index or (_least(page, at) or least) < least)
        price = values.price_in_text(text) if is_likely else amount
        if price is None or price > amount:
            return True
    return False


def _least(page: View, index: int) -> int | None:
    """From how many pieces on a price holds, by the text before it."""
    least = _FROM.fullmatch(_joined_before(page, index)) if index > 1 else None
    return int(least[1]) if least is not None else None


def _joined_before(page: View, index: int) -> str:
    """The text before, with the one before that if it is just a number: `from` `10`."""
    text = page.texts[index - 1][0]
    return f"{page.texts[index - 2][0]} {text}" if text.isdecimal() else text
