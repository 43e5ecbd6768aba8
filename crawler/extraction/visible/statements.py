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

MAX_TAX: Final = Decimal("1.3")  # a price with tax, at the most, of that without

_MARKS: Final = ("past_price", "other_price", "side_price")
_DIGIT = re.compile(r"\d")
_WORD = re.compile(r"[^\W\d_]+")
_PARTED = re.compile(r"[(（\[/|,;·•]")  # what stands behind it, in front of an amount, is said of that
_BEHIND = re.compile(r"\s?(?P<sign>[^\W\d_]{1,4}|[^\w\s])?(?P<unit>\s?/\s?[^\W\d_]{1,5})?")


class StatedAmount(NamedTuple):
    """One price with what is said of it: the words before it, and a unit behind it."""

    number: str
    currency: str
    words: str
    start: int
    end: int


def asked(page: View, text: str, number: str, country: str) -> StatedAmount | None:
    """Of the several prices that *text* states the one that it asks: which it does not mark as past, another's or a
    unit's, and of two the lower one, unless it says of the higher one that it is with tax.

    None if it states no more than its first *number*, or marks each.
    """
    if _DIGIT.search(text, text.find(number) + len(number)) is None:
        return None  # nearly always
    stated = list(_statements(text, country))
    says = page.lexicon.says
    likely = [each for each in stated if not any(says(kind, each.words) for kind in _MARKS)]
    if len(stated) < 2 or not likely:
        return None
    if taxed := _with_tax(page, text, stated):
        return taxed
    first = _amount(likely[0])
    lower = (each for each in likely[1:] if first * MIN_DISCOUNTED <= _amount(each) < first)
    return next(lower, likely[0])


def _statements(text: str, country: str) -> Iterator[StatedAmount]:
    place = 0
    for _, number in zip(range(MOST), values.WRITTEN.finditer(text), strict=False):
        currency = currencies.beside(text[place : number.start()], number[0], text[number.end() :], country)
        if currency and values.price_in_text(number[0], currency) is not None:
            end = _end(text, number.end())
            yield StatedAmount(number[0], currency, text[place:end], number.start(), end)
            place = end


def _with_tax(page: View, text: str, stated: list[StatedAmount]) -> StatedAmount | None:
    """The only one of the *stated* amounts that *text* says is with tax, if another is without: a little lower."""
    says = page.lexicon.says
    if not says("with_tax", text) or says("past_price", text):
        return None
    said = _said_of_each(text, stated)
    taxed = [each for each, words in zip(stated, said, strict=True) if says("with_tax", words)]
    if len(taxed) != 1 or not (says("side_price", text) or set("(（[").intersection(text)):
        return None  # "45 – 54 € inkl. MwSt.": both are with tax
    whole = _amount(taxed[0])
    if not any(_amount(each) < whole <= _amount(each) * MAX_TAX for each in stated):
        return None
    return taxed[0]._replace(words=text[taxed[0].start : taxed[0].end])


def _said_of_each(text: str, stated: list[StatedAmount]) -> Iterator[str]:
    """The words about each amount: behind it if the text begins with an amount, else before it, as far as no sign parts
    them."""
    is_behind = all(map(currencies.is_word, _WORD.findall(text[: stated[0].start])))
    before = ""
    for each, following in zip(stated, [*stated[1:], None], strict=True):
        behind, *parted = _PARTED.split(text[each.end : following.start]) if following else [text[each.end :]]
        is_own = is_behind or bool(parted) or following is None
        yield f"{before} {behind}" if is_own else before
        before = parted[-1] if parted else "" if is_own else behind


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
