"""The price that a page shows next to its product, when structured data has none or may be out of date."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from selectolax.lexbor import LexborNode

from crawler.extraction import values, view, wording
from crawler.extraction.currencies import find_symbol, iso_code
from crawler.extraction.markup import price_text
from crawler.extraction.view import View

MAX_BLOCK = 40  # characters of an element that still counts as one price
MANY: Final = 4  # elements made alike are those of a list
MIN_SCORE: Final = 0.5
MIN_DISCOUNTED: Final = Decimal("0.25")  # of the old price; a lower one beside it is a unit price or an instalment

_AMOUNT = re.compile(r"\d")
_WORDY = re.compile(r"[^\W\d_]{4,}")


@dataclass(frozen=True, slots=True)
class Price:
    """One price on the page."""

    amount: Decimal
    currency: str | None
    past: bool
    named: bool  # its element is named a price
    repeated: bool  # it stands in one of several elements made alike
    score: float
    index: int  # of its text on the page


def shown_prices(page: View, country: str) -> list[Price]:
    """The prices of the page, the most likely one of its product first; those of other products left out."""
    candidates = list(_candidates(page))
    repeated = Counter(_signature(node) for _, _, node in candidates)
    found: list[Price] = []
    for index, block, node in candidates:
        amount = values.price_in_text(block)
        if amount is None:
            continue
        alike = repeated[_signature(node)] >= MANY
        score = _score(page, index, block, node) - 2 * alike
        named = bool(page.flags(node) & view.PRICE)
        past = bool(page.flags(node) & view.PAST) or _says(wording.PAST_PRICE, page, index, block)
        currency = iso_code(block, country) if find_symbol(block) else None
        found.append(Price(amount, currency, past, named, alike, score - 5 * past, index))
    found.sort(key=lambda price: -price.score)
    return _lower_first(found)


def best_price(prices: list[Price]) -> Price | None:
    """The price asked for the page's product, or None when none of *prices* is likely to be it."""
    return prices[0] if prices and prices[0].score >= MIN_SCORE and not prices[0].past else None


def corrected(stated: Sequence[Decimal], prices: list[Price]) -> Price | None:
    """What to take instead of the first *stated* price, or None when it stands.

    Where sources state different prices, the one that is shown best. Where the page shows the stated one only
    as a past price, the lower one that it asks now: machines are often told of a reduction too late.
    """
    if len(set(stated)) > 1:
        shown = [price for price in prices if price.amount in stated and not price.past]
        best = max(shown, key=lambda price: price.score, default=None)
        return best if best is not None and best.amount != stated[0] else None
    asked = best_price(prices)
    same = [price for price in prices if price.amount == stated[0]]
    late = bool(same) and all(price.past or price.score < MIN_SCORE for price in same) and any(p.past for p in same)
    return asked if late and asked is not None and asked.amount < stated[0] else None


def currency_of(amount: Decimal, prices: list[Price]) -> str | None:
    """The currency with which *amount* is shown, else that of the likeliest price."""
    shown = sorted((price for price in prices if price.currency), key=lambda price: price.amount != amount)
    return shown[0].currency if shown and (shown[0].amount == amount or shown[0].score >= MIN_SCORE) else None


def _lower_first(prices: list[Price]) -> list[Price]:
    """Of two prices side by side the lower one is asked, the other one was: put it first."""
    if not prices:
        return prices
    first = prices[0]
    beside = [
        price
        for price in prices[1:6]
        if abs(price.index - first.index) <= 3
        and price.score >= first.score - 1.5
        and first.amount * MIN_DISCOUNTED <= price.amount < first.amount
    ]
    return [*beside[:1], *(price for price in prices if price not in beside[:1])]


def _candidates(page: View) -> Iterator[tuple[int, str, LexborNode]]:
    """(index of the text, text of the whole price, its element) for each text that may be a price."""
    done: set[int] = set()
    for index, (text, node) in enumerate(page.texts):
        if len(text) > 80 or "%" in text or not _AMOUNT.search(text):
            continue
        flags = page.flags(node)
        block, element = _block(text, node)
        if element.mem_id in done or not (flags & view.PRICE or _priced(block)):
            continue
        done.add(element.mem_id)
        yield index, block, element


def _block(text: str, node: LexborNode) -> tuple[str, LexborNode]:
    """The text of the whole price and its element: cents or a currency may stand in elements of their own."""
    parent = node.parent or node
    if _priced(text):
        for element in (node, parent) if text[-1].isdigit() else ():
            whole = price_text(element)
            if len(whole) <= MAX_BLOCK and whole.startswith(f"{text}."):
                return whole, element
        return text, node
    for element in (node, parent, parent.parent or parent):
        whole = price_text(element)
        if len(whole) > MAX_BLOCK:
            break
        if _priced(whole):
            return whole, element
    return text, node


def _priced(text: str) -> bool:
    """Whether *text* is a number with a currency right beside it."""
    return len(text) <= 80 and bool(_AMOUNT.search(text)) and find_symbol(text) is not None


def _score(page: View, index: int, block: str, node: LexborNode) -> float:
    flags = page.flags(node)
    score = 0.0
    score += 3 * bool(flags & view.PRICE) + 1 * bool(flags & view.CURRENT)
    score += 1.5 * (find_symbol(block) is not None)
    score -= 6 * bool(flags & view.OTHER) + 3 * bool(flags & view.LINK) + 2 * bool(flags & view.HIDDEN)
    score -= 4 * _says(wording.OTHER_PRICE, page, index, block)
    score -= 0.5 * bool(_WORDY.search(block)) + len(block) / 40
    if page.heading_index >= 0:
        distance = index - page.heading_index
        score -= min(4, distance / 30) if distance >= 0 else 1 + min(4, -distance / 15)
    return score


def _says(pattern: re.Pattern[str], page: View, index: int, block: str) -> bool:
    """Whether the block, or the short text before it, has one of the words."""
    before = page.texts[index - 1][0] if index else ""
    return bool(pattern.search(block) or (len(before) < 40 and not _AMOUNT.search(before) and pattern.search(before)))


def _signature(node: LexborNode) -> tuple[str, ...]:
    names: list[str] = []
    current: LexborNode | None = node
    for _ in range(3):
        if current is None:
            break
        names.append(f"{current.tag}.{current.attributes.get('class')}")
        current = current.parent
    return tuple(names)
