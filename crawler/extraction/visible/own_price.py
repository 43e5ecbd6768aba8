"""Which of the prices that look alike is the product's own: many shops write that of a product and those of the cards
below it in one way."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Final

from crawler.extraction.tree import elements
from crawler.extraction.tree.nodetext import ancestors, around, enclosing, tag_ids, text_of
from crawler.extraction.visible import cards, money, surroundings, view
from crawler.extraction.visible.shown_price import Price
from crawler.extraction.visible.view import MAX_HEADING, View

MAX_LIKELY: Final = 12  # of the likeliest prices that may be it
_LEVELS: Final = {tag: level for level in range(1, 7) for tag in tag_ids(f"h{level}")}
NEAR: Final = 40  # texts from the page's heading to a price that is one itself
MAX_H1S: Final = 50  # looked at for the same name
MAX_CELL: Final = 6  # elements around a price up to its row
MAX_STEPS: Final = 100  # parents climbed to what is around the heading
_DASHES: Final = frozenset("-–—~～")


def of(page: View, prices: Sequence[Price], least: float) -> list[Price]:
    """Those of *prices*, all the same amount, that are the product's although others of their form make a list.

    It stands in one part of the page with the heading, all others outside of that part or in other products' cards,
    but for its own old price, its instalments and the other end of its range. *least* is the score that it needs. Empty
    if there is none; in a listing the first entry is as near as the others.
    """
    current = [each for each in prices if each.repeated and not each.past]
    for each in current[:MAX_LIKELY] if page.heading is not None else ():
        if each.score >= least and not _is_others(page, each):
            alike = [one for one in current if one.look == each.look and one.currency == each.currency]
            others = (one for one in alike if one.amount != each.amount and not _goes_with(page, each, one))
            if all(is_apart(page, each, one) for one in others):
                return [one for one in alike if one.amount == each.amount]
            return []
    return []


def _goes_with(page: View, own: Price, other: Price) -> bool:
    """Whether *other* is the end of a range, as only a dash stands between both (`$69` `-` `$79`), or what is paid so
    many times."""
    is_end = other.index == own.index + 2 and page.texts[own.index + 1][0] in _DASHES
    return is_end or surroundings.is_part(page, other.index)


def heading_level(page: View, price: money.Candidate) -> int:
    """1 to 6 if *price*, near the page's heading, is in a heading itself, else 0: some shops write it as one."""
    if abs(price.index - page.heading_index) > NEAR:
        return 0
    return next((level for each in around(price.node) if (level := _LEVELS.get(each.tag_id, 0))), 0)


def _is_others(page: View, price: Price) -> bool:
    return bool(page.flags(page.texts[price.index][1]) & view.LINK) or cards.is_in_card(page, price.index)


def is_apart(page: View, own: Price, other: Price) -> bool:
    """Whether *other* is farther from the heading than *own*, in the order of elements, or in a product's card."""
    nearest = _height(page, own.index)
    if nearest < _height(page, other.index):
        return True
    return cards.is_in_card(page, other.index) and not cards.is_in_card(page, own.index)


def is_of_other_row(page: View, price: Price, other: Price) -> bool:
    """Whether both stand in a table, each in a row of its own."""
    first, second = (enclosing(page.texts[each.index][1], "tr", MAX_CELL) for each in (price, other))
    return first is not None and second is not None and first.mem_id != second.mem_id


def _height(page: View, index: int) -> int:
    """How many elements above the heading the first one is that also has the text at *index*."""
    heights = page.once(_heights)
    shared = (heights.get(each.mem_id) for each in islice(ancestors(page.texts[index][1]), MAX_STEPS))
    return next((height for height in shared if height is not None), len(heights))


def _heights(page: View) -> dict[int, int]:
    """The heading and the elements around it, each with its height above the heading.

    A heading that is written for small screens, too, stands by the price the last time.
    """
    heading = page.heading
    name = text_of(heading, MAX_HEADING) if heading is not None else ""
    h1s = reversed(elements.of(page.document).h1s[:MAX_H1S])
    heading = next((h1 for h1 in h1s if text_of(h1, MAX_HEADING) == name), heading)
    return {each.mem_id: height for height, each in enumerate(ancestors(heading))}
