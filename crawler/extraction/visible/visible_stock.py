"""Whether the product can be bought, by the page's wording."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import Final

from selectolax.lexbor import LexborNode

from crawler.extraction.tree.nodetext import ancestors, text_of
from crawler.extraction.visible import cards, view
from crawler.extraction.visible.buy_buttons import MAX_LABEL, Button, buy_button, buy_places, own_label, pressed
from crawler.extraction.visible.view import View
from crawler.extraction.words import labels

BEFORE, AFTER = 40, 300  # texts around the heading that are about the product
RIGHT_AFTER: Final = 40  # texts after the heading that outweigh what structured data states
MAX_WORDS: Final = 90  # characters; longer texts explain rather than state
MAX_DOUBTED: Final = 3  # what is said of other things, before the rest of it is left out at once
_LABELS: Final = frozenset(("dt", "th", "label", "strong", "b"))
_DENIALS: Final = ("OutOfStock", "Discontinued")
_ANNOUNCED: Final = ("PreOrder", "BackOrder")
_ELSEWHERE: Final = view.OTHER | view.LINK | view.HIDDEN | view.CHOICE
_TEMPLATE = re.compile(r"badge.{0,9}sold-?out")  # in every page of some shops, shown by their styles


def shown_availability(page: View) -> str | None:
    """A schema.org name, or None if nothing near the heading is about stock.

    A buy button that works, and may take orders in advance, outweighs a denial, which then is about another size or
    shop, but for one on a button before it, or one that a label announces ("Availability: out of stock"); without one
    the first denial counts, then the first promise, then a button named sold out. One that is just disabled says
    nothing: it may wait for a choice, or for a script. Known weakness: buttons that only a script disables.
    """
    return _stated(page) or ("OutOfStock" if _is_over(page) else None)


def is_out(page: View) -> bool:
    """Whether the page says so of its stock, or of that in one place.

    That something has ended or is to come, listings say, too.
    """
    return _stated(page) in _DENIALS or any(
        page.lexicon.denies(text) and not _is_elsewhere(page, node) for text, node in page.once(_near_stock)
    )


def _is_elsewhere(page: View, node: LexborNode) -> bool:
    """Whether a text in *node* is about something else: another product, by what is around it, or as a badge on its
    card."""
    return bool(page.flags(node) & _ELSEWHERE) or cards.is_badge(page, node)


def _stated(page: View) -> str | None:
    button = buy_button(page)
    if button is Button.WORKING:
        denied = _denied_on_button(page) or _labelled_denial(page) or _counted_out(page)
        return denied or _announced_on_button(page) or _announced(page) or "InStock"
    stated = (
        _said(page, "Discontinued", "OutOfStock", "PreOrder", "BackOrder")
        or _counted_out(page)
        or _said(page, "InStock")
    )
    return stated or ("OutOfStock" if button is Button.SOLD_OUT or _is_sold_out_input(page) else None)


def _is_over(page: View) -> bool:
    """Whether a text around the heading says nothing but that it has ended, or is still to come."""
    near, lexicon = page.once(_near), page.lexicon
    likely = (near[at] for at in lexicon.of_over.among([text for text, _ in near]))
    return any(lexicon.over.search(text) and not page.flags(node) & _ELSEWHERE for text, node in likely)


def is_sold(page: View) -> bool:
    """Whether the page has a working buy button, and no out-of-stock wording by the heading."""
    if buy_button(page) is not Button.WORKING:
        return False
    return _said(page, "OutOfStock", "Discontinued") is None


def contradiction(page: View) -> str | None:
    """What the page says of stock that is stated, if that is the contrary: OutOfStock, if what stands after the heading
    says that the product is not to be had, and no buy button works; what its own button announces, if one does.

    Nothing in it promises the contrary first, and it is said of the whole product: by a text or on its button.
    """
    if page.heading_index < 0:
        return None
    name = _after_heading(page, "OutOfStock", "Discontinued", "InStock", "PreOrder", "BackOrder")
    if name in _ANNOUNCED:
        return _announced_on_button(page)
    is_said = name in _DENIALS or (name is None and _is_sold_out_input(page))
    return "OutOfStock" if is_said and buy_button(page) is not Button.WORKING else None


def _is_sold_out_input(page: View) -> bool:
    """Whether the label of a disabled button says so that has no text."""
    for node, attributes in page.once(pressed):
        label = (attributes.get("value") or "")[: 2 * MAX_LABEL] if "disabled" in attributes else ""
        if label and page.lexicon.of_stock.may_be_in(label.lower()) and not page.flags(node) & _ELSEWHERE:
            return page.lexicon.availability(label) in _DENIALS
    return False


def _after_heading(page: View, *names: str) -> str | None:
    """Which of *names* the short texts right after the heading state first, for the whole product."""
    near = page.texts[page.heading_index : page.heading_index + RIGHT_AFTER]
    short = [(text.lower(), node) for text, node in near if len(text) <= MAX_WORDS]
    for at in page.lexicon.of_stock.among([text for text, _ in short]):
        text, node = short[at]
        first = _first(page, text, names) if not _is_of_place(page, short, at) else None
        if first is not None and not _is_elsewhere(page, node) and not _TEMPLATE.search(page.look(node)):
            return first[1]
    return None


def _said(page: View, *names: str) -> str | None:
    """Which of *names* the short texts around the heading state first, for the whole product."""
    near = list(page.once(_near_stock))
    for _ in range(MAX_DOUBTED):
        first = _first(page, "\n".join(text for text, _ in near), names)
        if first is None:
            return None
        place, name = first
        at = bisect_right(list(accumulate(len(text) + 1 for text, _ in near)), place)
        if not _is_elsewhere(page, near[at][1]):
            return name
        del near[at]
    first = _first(page, "\n".join(text for text, node in near if not _is_elsewhere(page, node)), names)
    return first[1] if first else None


def _announced(page: View) -> str | None:
    """PreOrder or BackOrder, if that is said before or on the first working buy button: below it, it is of others."""
    said = _said(page, *_ANNOUNCED)
    places = buy_places(page) if said is not None else ()
    if said is None or not places or places[0] <= page.heading_index:
        return said
    above = (text.lower() for text, _ in page.texts[: places[0] + 1] if len(text) <= MAX_WORDS)
    stated = "\n".join(_stated_first(page, text) for text in above)
    return said if page.lexicon.place(said, stated) is not None else None


def _announced_on_button(page: View) -> str | None:
    """PreOrder or BackOrder, if the product's own buy button says so."""
    label = own_label(page)
    return next((name for name in _ANNOUNCED if page.lexicon.place(name, label) is not None), None)


def _near(page: View) -> list[tuple[str, LexborNode]]:
    """The short texts around the heading, in lower case."""
    start = max(0, page.heading_index - BEFORE)
    near = page.texts[start : max(0, page.heading_index) + AFTER]
    return [(text.lower(), node) for text, node in near if len(text) <= MAX_WORDS]


def _near_stock(page: View) -> list[tuple[str, LexborNode]]:
    """Those that say something of stock, and not behind the label of one place: few or none."""
    near = page.once(_near)
    likely = page.lexicon.of_stock.among([text for text, _ in near])
    return [(_stated_first(page, near[at][0]), near[at][1]) for at in likely if not _is_of_place(page, near, at)]


def _stated_first(page: View, text: str) -> str:
    """*text* without what stands in brackets behind a number in stock: `5 in stock (can be backordered)`."""
    before, bracket, _ = text.partition("(")
    is_counted = bracket != "" and any(map(str.isdigit, before))
    return before if is_counted and page.lexicon.place("InStock", before) is not None else text


def _is_of_place(page: View, near: Sequence[tuple[str, LexborNode]], at: int) -> bool:
    """Whether the text before one of stock is a label that names a place, or a way to get the product."""
    label, node = near[at - 1] if at else ("", None)
    is_label = node is not None and len(label) <= MAX_LABEL and (label.endswith((":", "：")) or node.tag in _LABELS)
    return is_label and page.lexicon.is_place(label)


def _denied_on_button(page: View) -> str | None:
    """OutOfStock, if a button between the heading and the first working buy button says so: that one is another's."""
    places = buy_places(page)
    start = page.heading_index
    before = page.texts[start : places[0]] if places and start >= 0 else []
    short = [(text.lower(), text, node) for text, node in before if len(text) <= MAX_LABEL]
    for at in page.lexicon.of_stock.among([lower for lower, _, _ in short]):
        lower, text, node = short[at]
        flags = page.flags(node) if page.lexicon.place("OutOfStock", lower) == 0 else 0
        if flags & view.BUTTON and not flags & _ELSEWHERE and _is_whole(text, node):
            return "OutOfStock"
    return None


def _is_whole(text: str, node: LexborNode) -> bool:
    """Whether *text* is all that its button says: "M" and "sold out" are about a size."""
    button = next((each for each in ancestors(node) if each.tag in ("button", "a")), None)
    return button is None or text_of(button, MAX_LABEL + 1) == text


def _labelled_denial(page: View) -> str | None:
    """OutOfStock, if a label for the whole product's stock is followed by a denial."""
    if _said(page, "OutOfStock", "Discontinued") is None:
        return None
    near = "\n".join(text for text, _ in page.once(_near))
    labels_of_stock = labels.STOCK_LABEL.finditer(near)
    stated = (near[label.end() : label.end() + MAX_LABEL].partition("\n")[0] for label in labels_of_stock)
    _, first = next((_first(page, text, ("OutOfStock", "Discontinued", "InStock")) for text in stated), None) or (0, "")
    if first not in ("OutOfStock", "Discontinued"):
        return None
    return first if _said(page, first) else None  # unless it is about another product


def _counted_out(page: View) -> str | None:
    """OutOfStock, if a label for the stock is followed by zero."""
    before = ""
    for text, node in page.once(_near):
        if text == "0" or text.endswith((": 0", ":0")):
            label = labels.STOCK_LABEL.match(f"{before}\n{text}" if text == "0" else text)
            if label and not page.flags(node) & _ELSEWHERE:
                return "OutOfStock"
        before = text
    return None


def _first(page: View, text: str, names: Iterable[str]) -> tuple[int, str] | None:
    """(place, name) of the one of *names* that lower-cased *text* says first."""
    said = [(place, name) for name in names if (place := page.lexicon.place(name, text)) is not None]
    return min(said, default=None)
