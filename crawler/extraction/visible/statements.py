"""Texts that state several prices: `Was $40 Now $25`, `219,90 € statt 249,90 €`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Final, NamedTuple

from crawler.extraction.visible.view import View
from crawler.extraction.words import currencies, values

MIN_DISCOUNTED: Final = Decimal("0.25")  # of the price before it; a lower one is of a unit, or an instalment
MOST: Final = 5  # prices of one text

_MARKS: Final = ("past_price", "other_price", "side_price")
_DIGIT = re.compile(r"\d")
_BEHIND = re.compile(r"\s?(?P<sign>[^\W\d_]{1,4}|[^\w\s])?(?P<unit>\s?/\s?[^\W\d_]{1,5})?")


class StatedAmount(NamedTuple):
    """One price with what is said of it: the words before it, and a unit behind it."""

    number: str
    currency: str
    words: str


def asked(page: View, text: str, number: str, country: str) -> StatedAmount | None:
    """Of the several prices that *text* states the one that it asks: which it does not mark as past, another's or a
    unit's, and of two the lower one.

    None if it states no more than its first *number*, or marks each.
    """
    if _DIGIT.search(text, text.find(number) + len(number)) is None:
        return None  # nearly always
    stated = list(_statements(text, country))
    says = page.lexicon.says
    likely = [each for each in stated if not any(says(kind, each.words) for kind in _MARKS)]
    if len(stated) < 2 or not likely:
        return None
    first = _amount(likely[0])
    lower = (each for each in likely[1:] if first * MIN_DISCOUNTED <= _amount(each) < first)
    return next(lower, likely[0])


def _statements(text: str, country: str) -> Iterator[StatedAmount]:
    place = 0
    for _, number in zip(range(MOST), values.WRITTEN.finditer(text), strict=False):
        currency = currencies.beside(text[place : number.start()], number[0], text[number.end() :], country)
        if currency and values.price_in_text(number[0], currency) is not None:
            end = _end(text, number.end())
            yield StatedAmount(number[0], currency, text[place:end])
            place = end


def _end(text: str, place: int) -> int:
    """Where a number's currency and unit end."""
    behind = _BEHIND.match(text, place)
    if behind is None:
        return place
    sign = behind["sign"]
    is_currency = sign is not None and currencies.is_word(sign)
    return behind.end() if is_currency or (sign is None and behind["unit"]) else place


def _amount(stated: StatedAmount) -> Decimal:
    return values.price_in_text(stated.number, stated.currency) or Decimal(0)
