"""The price of a page on which nothing marks one as the product's: by the buy button, the only one, the regular one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from crawler.extraction.visible import statements, surroundings, view
from crawler.extraction.visible.shown_price import Price
from crawler.extraction.visible.view import View
from crawler.extraction.visible.visible_price import MIN_SCORE, PAST

LEAST: Final = -3.5  # score of a price by a buy button; those of other products and shipping have less
BY_BUTTON: Final = 12  # texts between a price and its buy button
NEXT: Final = 2  # texts from an old price to the one that replaces it
SAID: Final = -2.0  # score of that; amounts saved and instalments have less
BEHIND: Final = 4  # texts from a buy button to its price, or from one price to the other
_STRUCK: Final = view.PAST | view.HIDDEN | view.OTHER
_UNTAXED: Final = re.compile(surroundings.WITHOUT_TAX, re.IGNORECASE)


def price_by_button(page: View, prices: Sequence[Price], buttons: Sequence[int]) -> Price | None:
    """The price nearest to the first buy button (places of texts) that has one nearby, before it rather than after it;
    for pages that name none."""
    likely = [each for each in _asked(page, prices) if not each.repeated]
    for button in buttons:
        beside = [each for each in likely if 0 < button - each.index <= BY_BUTTON]
        if beside:
            return max(beside, key=lambda each: (not each.aside, each.index))
        behind = [each for each in likely if 0 <= each.index - button <= BEHIND]
        if behind:
            return behind[0]
    return None


def only_price(page: View, prices: Sequence[Price]) -> Price | None:
    """The price of a page that asks just one, with a currency, whatever stands around it.

    Where it asks none but in a sentence, it is a lower one in that right behind a past one (`Was $40` `Yours for $30`),
    else the one recommended by the maker (`MRP 499`) or called regular, unless struck through, or another product's.
    """
    asked = _asked(page, prices)
    if all(each.wordy for each in asked):
        listed = [each for each in prices if each.past and each.currency and each.score >= LEAST - PAST]
        instead = [each for each in asked if each.score >= SAID and any(_replaces(each, old) for old in listed)]
        listed = [each for each in listed if not page.flags(page.texts[each.index][1]) & (_STRUCK | view.LINK)]
        asked = instead or listed or asked
    is_one = len({each.amount for each in asked}) == 1 and not asked[0].repeated
    return asked[0] if is_one else None


def _replaces(price: Price, old: Price) -> bool:
    """Whether *price* stands right behind an *old* one and is lower, not as a part of it would be."""
    is_behind = 0 < price.index - old.index <= NEXT
    return is_behind and old.amount * statements.MIN_DISCOUNTED <= price.amount < old.amount


def _asked(page: View, prices: Sequence[Price]) -> list[Price]:
    """Those with a currency that people see and that may be asked."""
    likely = (each for each in prices if each.score >= LEAST and each.currency and not each.past)
    return [each for each in likely if not page.flags(page.texts[each.index][1]) & view.HIDDEN]


def beside(page: View, aside: Price, prices: Sequence[Price]) -> Price | None:
    """The price that everybody pays in whole, beside one *aside*."""
    return _taxed_beside(page, aside, prices) or _regular_beside(page, aside, prices)


def _taxed_beside(page: View, aside: Price, prices: Sequence[Price]) -> Price | None:
    """The one that is said to be with tax, and is higher by no more than that."""
    near = (each for each in prices if abs(each.index - aside.index) <= BEHIND and each.currency and not each.past)
    taxed = (each for each in near if aside.amount < each.amount <= aside.amount * statements.MAX_TAX)
    said = (each for each in taxed if surroundings.says("with_tax", page, each.index))
    return next((each for each in said if not surroundings.says("other_price", page, each.index)), None)


def _regular_beside(page: View, aside: Price, prices: Sequence[Price]) -> Price | None:
    """The higher price beside one, as that of members, that is just called regular and so is everybody's; none
    beside one without tax."""
    said = " ".join(text for text, _ in page.texts[max(0, aside.index - 1) : aside.index + 2])
    if _UNTAXED.search(said) is not None:
        return None
    near = (each for each in prices if abs(each.index - aside.index) <= BEHIND and each.amount > aside.amount)
    regular = (each for each in near if each.past and surroundings.says("price", page, each.index))
    return next((each for each in regular if not page.flags(page.texts[each.index][1]) & (_STRUCK | view.OLD)), None)


def regular_price(prices: Sequence[Price]) -> Price | None:
    """The price that would be the product's, were it not called regular: what is sold out has no other."""
    first = prices[0]
    is_likely = first.past and first.named and not first.repeated and first.score >= MIN_SCORE - PAST
    return first if is_likely and first.currency else None
