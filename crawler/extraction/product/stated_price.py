"""What the visible page makes of the price that structured data states."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from decimal import Decimal
from enum import Enum
from typing import Any, Final

from crawler.extraction.visible import money, statements
from crawler.extraction.visible.shown_price import Price
from crawler.extraction.visible.view import View
from crawler.extraction.visible.visible_price import MIN_SCORE, REPEATED, best_price, looked_at
from crawler.extraction.words import currencies, values

CLEAR: Final = 2.5  # score of a named price that replaces one that the page does not show
LEAD: Final = 1.5  # of one without a name
CONVERTED: Final = 12  # texts between a price and the same in another currency


class ShownAs(Enum):
    """How the page shows a stated price."""

    NOWHERE = 0  # as a current one
    ELSEWHERE = 1  # beside another currency, or as one without tax
    ASKED = 2


def standing(page: View, stated: Decimal, currency: str | None) -> ShownAs:
    """Whether the page shows *stated* as what it asks now, whatever other prices it shows: most pages do.

    Costs a look at the texts with its last digits before the decimals.
    """
    digits, found = str(int(stated))[-3:], ShownAs.NOWHERE
    for index in money.numbers(page):
        if digits not in page.texts[index][0]:
            continue
        each = money.candidate(page, index, page.document.country)
        if each is None or values.price_in_text(each.number, each.currency) != stated:
            continue
        looked = looked_at(page, each)
        if looked.past or (looked.score < MIN_SCORE and not looked.aside):
            continue
        if looked.aside or (currency is not None and each.currency not in (None, currency)):
            found = ShownAs.ELSEWHERE
        elif not looked.doubtful and looked.score - REPEATED >= MIN_SCORE:
            return ShownAs.ASKED
    return found


def corrected(
    stated: Sequence[Decimal], prices: list[Price], currency: str | None = None, highest: Decimal | None = None
) -> Price | None:
    """The replacement of the first *stated* price, or None if that is right.

    If sources disagree, the most prominent one. If the page shows the stated one only as an old price, the lower
    current one: structured data often lags behind a reduction. If it does not show it at all, a clear one in the same
    *currency* that is not much different. If it shows it only as one without tax, the one with it. If it shows it only
    in other currencies, the one in *currency* beside it: a switch changed the code and not the number. If it is the
    least of a range up to the *highest*, the one in it that the page clearly asks: of the size it shows.
    """
    if len(set(stated)) > 1:
        shown = [price for price in prices if price.amount in stated and not price.past]
        best = max(shown, key=lambda price: price.score, default=None)
        return best if best is not None and best.amount != stated[0] else None
    if converted := _in_currency(currency, stated[0], prices):
        return converted
    asked = best_price(prices)
    if asked is not None and asked.currency == currency and _is_likelier(asked, stated[0], highest, prices):
        return asked
    same = [price for price in prices if price.amount == stated[0]]
    if not same and asked is not None and asked.currency == currency and _is_instead(asked, stated[0], prices):
        return asked
    late = bool(same) and all(price.past or price.score < MIN_SCORE for price in same) and any(p.past for p in same)
    return asked if late and asked is not None and asked.amount < stated[0] else None


def _is_likelier(asked: Price, stated: Decimal, highest: Decimal | None, prices: Sequence[Price]) -> bool:
    """Whether the page asks a higher price than the *stated* one, which it shows only without tax, or less clearly, as
    that of another size."""
    same = [price for price in prices if price.amount == stated and not price.past]
    if same and all(price.aside for price in same) and not asked.aside:
        return stated < asked.amount <= stated * statements.MAX_TAX
    is_clear = (asked.named or same) and not asked.repeated and all(each.score < asked.score - LEAD for each in same)
    return highest is not None and bool(is_clear) and stated < asked.amount <= highest


def _in_currency(currency: str | None, stated: Decimal, prices: Sequence[Price]) -> Price | None:
    """The price in *currency* beside the *stated* amount, if the page shows that in other currencies only."""
    same = [price for price in prices if price.amount == stated]
    if currency is None or not same or any(price.currency in (None, currency) for price in same):
        return None
    likely = (each for each in prices if each.currency == currency and each.score >= MIN_SCORE and not each.past)
    apart = ((min(abs(each.index - other.index) for other in same[:CONVERTED]), each) for each in likely)
    distance, nearest = min(apart, key=lambda pair: pair[0], default=(CONVERTED + 1, None))
    return nearest if distance <= CONVERTED else None


def _is_instead(asked: Price, stated: Decimal, prices: Sequence[Price]) -> bool:
    """Whether the page clearly asks this price and not the *stated* one, which it does not show; cents may be
    elsewhere."""
    likely = (each for each in prices if each.score >= MIN_SCORE and not (each.past or each.repeated))
    rivals = (each for each in likely if each.amount != asked.amount)
    if asked.amount * 100 == stated:  # in cents
        return not asked.repeated
    is_clear = (asked.named and asked.score >= CLEAR) or all(each.score < asked.score - LEAD for each in rivals)
    return (
        is_clear and not asked.repeated and int(asked.amount) != int(stated) and stated / 2 < asked.amount < stated * 2
    )


def in_another(prices: Sequence[Price], currency: str | None, others: Collection[tuple[Decimal, Any]]) -> Price | None:
    """The likeliest price, if it is one of *others*, each with its currency, and none is shown in *currency*."""
    likely = [each for each in prices if each.score >= MIN_SCORE and not each.past]
    if not others or not likely or any(each.currency in (None, currency) for each in likely):
        return None
    return likely[0] if (likely[0].amount, likely[0].currency) in others else None


def currency_instead(stated: Decimal, currency: str, best: Price | None, prices: Sequence[Price]) -> str | None:
    """The currency that replaces the stated one: of the *best* price, if that replaces the *stated* amount, else of
    that amount on a page that shows no price in the stated *currency*.

    None if one symbol may stand for both: `$`, `kr`.
    """
    if best is not None:
        is_another = best.currency not in (None, currency) and not currencies.may_look_alike(best.currency, currency)
        return best.currency if is_another else None
    shown = {price.currency for price in prices}
    likely = {price.currency for price in prices if price.amount == stated and price.score >= MIN_SCORE}
    only = likely.pop() if len(likely) == 1 else None
    if only is None or currency in shown or currencies.may_look_alike(only, currency):
        return None
    return only


def currency_of(amount: Decimal, prices: list[Price]) -> str | None:
    """The currency shown with *amount*, else that of the likeliest price."""
    shown = sorted((price for price in prices if price.currency), key=lambda price: price.amount != amount)
    return shown[0].currency if shown and (shown[0].amount == amount or shown[0].score >= MIN_SCORE) else None
