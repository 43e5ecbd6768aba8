"""The visible price of a page's product, for when structured data has none or may be outdated."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from itertools import compress, pairwise
from typing import Final, NamedTuple

from selectolax.lexbor import LexborNode

from crawler.extraction.tree.nodetext import around
from crawler.extraction.visible import cards, editions, money, own_price, quantities, statements, surroundings, view
from crawler.extraction.visible.shown_price import Price
from crawler.extraction.visible.view import View
from crawler.extraction.words import values

UNDERCUTS: Final = 8  # texts between an old price and the current one
MANY: Final = 4  # different prices in similar elements belong to a list
SAME: Final = 3  # times that a page shows its one price beside a button, for screens of all sizes
MIN_SCORE: Final = 0.5
REPEATED: Final = 2  # less for one of a list's prices
PAST: Final = 5  # less for one that no longer holds
HEADED: Final = 2  # for one that is an h1 of its own
ASIDE: Final = 2.5  # less for a price of a unit, or without tax
BEFORE: Final = 4  # texts before a price with the link to its product
MAX_CARDS: Final = 12  # of the likeliest prices, asked whether they are in other products' cards

_PER = re.compile(r"\d[^\d/]{0,8}/ ?(?:\d{1,4} ?)?[^\W\d_]")  # 12 €/kg, $3 / 100 g


_Form = tuple[tuple[str, ...], str | None]  # of elements around a price, and its currency: not converted ones of it


class Looked(NamedTuple):
    """A number by what it stands in."""

    past: bool  # for certain
    doubtful: bool  # it may be past: a lower one beside it decides
    named: bool
    wordy: bool
    score: float  # of one that is neither past nor repeated
    offered: bool  # by other sellers
    aside: bool  # of a unit, or without tax


def chosen(page: View, prices: list[Price]) -> list[Price]:
    """Those *by_score*, the first one chosen by what stands around the likeliest ones, too."""
    return _lower_first(page, _cards_last(page, prices))


def are_listed(prices: Sequence[Price]) -> bool:
    """Whether all likely ones of *prices* are of a list, so that none is the product's, whichever is chosen."""
    likely = [each for each in prices if each.score >= MIN_SCORE and not each.past]
    return bool(likely) and all(each.repeated for each in likely)


def by_score(page: View) -> list[Price]:
    """The prices of the page by their own signs, the likeliest first."""
    read = [(each, values.price_in_text(each.number, each.currency)) for each in money.candidates(page)]
    candidates = [(each, amount) for each, amount in read if amount is not None]
    looks = [looked_at(page, each) for each, _ in candidates]
    forms = [(_signature(page, each.node), each.currency) for each, _ in candidates]
    current = [not looked.past for looked in looks]
    lists = _lists(page, list(compress(candidates, current)), list(compress(forms, current)))
    found: list[Price] = []
    for at, ((each, amount), looked, form) in enumerate(zip(candidates, looks, forms, strict=True)):
        past = looked.past
        if not past and (looked.doubtful or _is_said_again(candidates, looks, at)):
            past = _is_undercut(page, each, amount, candidates[max(0, at - UNDERCUTS) : at + UNDERCUTS + 1])
        repeated = form in lists
        score = looked.score - PAST * past - REPEATED * repeated
        of = (looked.wordy, each.index, form[0], looked.offered, looked.aside)
        found.append(Price(amount, each.currency, past, looked.named, repeated, score, *of))
    found.sort(key=lambda price: -price.score)
    for own in own_price.of(page, found, MIN_SCORE - REPEATED) if lists else ():
        own.repeated, own.score = False, own.score + REPEATED
    return sorted(found, key=lambda price: -price.score)


def _lists(page: View, candidates: Sequence[tuple[money.Candidate, Decimal]], forms: Sequence[_Form]) -> set[_Form]:
    """Those of the *forms* of candidates whose prices are those of a list, not of one product's editions."""
    alike: dict[_Form, list[tuple[int, Decimal]]] = {}
    for (each, amount), form in zip(candidates, forms, strict=True):
        alike.setdefault(form, []).append((each.index, amount))
    return {
        form
        for form, shown in alike.items()
        if _is_list([amount for _, amount in shown]) and not editions.are(page, [index for index, _ in shown])
    }


def looked_at(page: View, each: money.Candidate) -> Looked:
    """What its element and the words around it say."""
    flags = page.flags(each.node)
    worded = money.says("past_price", page, each)
    past = bool(flags & view.PAST) or (worded and (not flags & view.PRICE or bool(flags & view.OLD)))
    offered = _is_offered(page, each)
    text = each.said or page.texts[each.index][0]
    aside = _PER.search(text) is not None or bool(flags & view.NET) or money.is_aside(page, each)
    aside = aside or quantities.is_of_more(page, each.index)
    wordy = surroundings.is_wordy(text) and not surroundings.is_now(page, text)
    named = offered or bool(flags & view.PRICE)
    named = named or (
        not aside and surroundings.says("price", page, each.index) and not surroundings.is_in_row(page, each.index)
    )
    level = own_price.heading_level(page, each) if each.currency and not (aside or wordy) else 0
    named = named or level > 0
    score = _score(page, each, flags, named=named, offered=offered, wordy=wordy) - ASIDE * aside
    score += HEADED * (level == 1)
    return Looked(past, bool(worded or flags & view.OLD), named, wordy, score, offered, aside)


def _is_said_again(candidates: Sequence[tuple[money.Candidate, Decimal]], looks: Sequence[Looked], at: int) -> bool:
    """Whether the number right before is the same and past: one for eyes, one for readers of the page."""
    (before, amount), (each, same) = candidates[at - 1], candidates[at]
    return at > 0 and looks[at - 1].past and amount == same and each.index == before.index + 1


def _is_list(amounts: Sequence[Decimal]) -> bool:
    """Whether prices in similar elements belong to a list's entries, and are not one repeated price."""
    different = len(set(amounts))
    return different >= MANY or (different > 1 and len(amounts) > MANY)


def _is_undercut(
    page: View, old: money.Candidate, amount: Decimal, near: Sequence[tuple[money.Candidate, Decimal]]
) -> bool:
    """Whether a lower price, not itself marked old, is near one that is marked old."""
    return any(
        other < amount
        and abs(each.index - old.index) <= UNDERCUTS
        and each.currency is not None
        and not page.flags(each.node) & (view.PAST | view.OTHER | view.NET)
        and not (page.flags(each.node) & view.OLD and page.flags(old.node) & view.OLD)
        and not money.says("past_price", page, each)
        and other >= amount * statements.MIN_DISCOUNTED
        and not money.is_aside(page, each)
        and not money.says("other_price", page, each)
        and not cards.is_in_card(page, each.index)
        for each, other in near
    )


def _is_offered(page: View, each: money.Candidate) -> bool:
    """Whether the text right before says that it is other sellers' lowest price: "new and used from 99"."""
    before = page.texts[each.index - 1][0][-money.MAX_TEXT :] if each.index else ""
    said = f"{before} {page.texts[each.index][0].partition(each.number)[0]}".lower()
    return page.lexicon.of_offers.may_be_in(said) and page.lexicon.offered.search(said) is not None


def best_price(prices: list[Price]) -> Price | None:
    """The price of the page's product, or None if none of *prices* is likely to be it."""
    return prices[0] if prices and prices[0].score >= MIN_SCORE and not prices[0].past else None


def is_of_cards(page: View, best: Price, prices: Sequence[Price], buttons: Sequence[int]) -> bool:
    """Whether prices like *best* alternate with buy *buttons* (places of texts), as in a listing or a table of plans.
    Not if they are those of one product's editions.

    The same price again is that of a bar that stays in view, unless there are more than SAME, or links beside them name
    different things.
    """
    alike = sorted((each for each in prices if each.look == best.look and not each.past), key=lambda each: each.index)
    if editions.are(page, [each.index for each in alike]):
        return False
    alike = [each for each in alike if not own_price.is_apart(page, best, each)]
    parted = [
        (one, other) for one, other in pairwise(alike) if any(one.index < button <= other.index for button in buttons)
    ]
    return len(parted) > SAME or any(
        one.amount != other.amount or _named_apart(page, one.index, other.index) for one, other in parted
    )


def _named_apart(page: View, one: int, other: int) -> bool:
    """Whether the links before two prices (places of texts) name different things."""
    first, second = (_link_before(page, index) for index in (one, other))
    return first != second and "" not in (first, second)


def _link_before(page: View, index: int) -> str:
    """The last link among the few texts before a price, if it is not named in the page's title."""
    before = page.texts[max(0, index - BEFORE) : index][::-1]
    text = next((text for text, node in before if page.flags(node) & view.LINK), "")
    return "" if text in page.title else text


def _cards_last(page: View, prices: list[Price]) -> list[Price]:
    """Put the first likely price that is in no other product's card before those that are."""
    for at, price in enumerate(prices[:MAX_CARDS]):
        if price.score < MIN_SCORE or price.past:
            break
        if not is_in_card(page, price):
            return [price, *prices[:at], *prices[at + 1 :]]
    return prices


def is_in_card(page: View, price: Price) -> bool:
    """Whether *price* is in the card of another product."""
    return cards.is_in_card(page, price.index)


def _lower_first(page: View, prices: list[Price]) -> list[Price]:
    """Of two adjacent prices the lower one is current, the other old: put it first.

    Not one in another currency, on the other side of the heading, in another product's card or in another row of a
    table of quantities, nor one in a sentence after the other: that is without tax, or one of several payments.
    """
    if not prices:
        return prices
    first = prices[0]
    beside = [
        price
        for price in prices[1:6]
        if abs(price.index - first.index) <= 3
        and not price.index < page.heading_index < first.index
        and price.score >= max(MIN_SCORE, first.score - 1.5)
        and price.wordy <= (first.wordy or price.named)
        and price.currency in (None, first.currency or price.currency)
        and first.amount * statements.MIN_DISCOUNTED <= price.amount < first.amount
        and not (price.offered or is_in_card(page, price) or _is_of_other_row(page, first, price))
        and not quantities.is_of_quantity(page, price.index)
    ]
    return [*beside[:1], *(price for price in prices if price not in beside[:1])]


def _is_of_other_row(page: View, price: Price, other: Price) -> bool:
    """Whether both stand in rows of a table, that are not of prices by their labels: those are often of quantities."""
    return own_price.is_of_other_row(page, price, other) and not surroundings.says("price", page, other.index)


def _score(page: View, candidate: money.Candidate, flags: int, *, named: bool, offered: bool, wordy: bool) -> float:
    score = 3.0 * named + 1.0 * bool(flags & view.CURRENT) + 1.5 * (candidate.currency is not None)
    score -= 6 * bool(flags & view.OTHER) + 2 * bool(flags & view.HIDDEN)
    text = candidate.said or page.texts[candidate.index][0]
    if offered:  # in a link to all offers, with the cheapest one's shipping
        score -= 3 + len(text) / 80
    else:
        is_more = text.startswith("+")  # for shipping, or a choice
        is_part = surroundings.is_part(page, candidate.index) or surroundings.is_subscribers(page, candidate.index)
        is_other = is_more or is_part or money.says("other_price", page, candidate)
        score -= 4 * bool(flags & view.LINK) + 4 * is_other
        score -= 0.5 * wordy + len(text) / 40
    if page.heading_index >= 0:
        distance = candidate.index - page.heading_index
        score -= min(4, distance / 30) if distance >= 0 else 1 + min(4, -distance / 15)
    return score


def _signature(page: View, node: LexborNode) -> tuple[str, ...]:
    return tuple(map(page.look, around(node)))
