"""The buttons and links of a page that put its product into a cart, and whether they work."""

import re
from collections.abc import Iterator, Mapping
from enum import Enum
from typing import Final

from selectolax.lexbor import LexborNode

from crawler.extraction.tree.nodetext import around
from crawler.extraction.visible import cards, view
from crawler.extraction.visible.view import View
from crawler.urls import same_site

MAX_LABEL: Final = 40  # characters of a label
MAX_PRESSED: Final = 300  # elements with their label in an attribute
_SOLD_OUT = re.compile(r"sold-?out|unavailable|out-?of-?stock|no-?stock")
_DISABLED = re.compile(r"disable|inactive|\bhidden\b|\bhide\b|d-none")
# Buttons that may have their label in an attribute.
_LABELLED = "input[type=submit],input[type=button],input[type=image],button[title],button[aria-label],a[title]"
_PRESSED: Final = ("button", "input", "a")
_LABELS: Final = ("value", "title", "aria-label", "alt")


class Button(Enum):
    """The state of a buy button."""

    NONE = 0
    DISABLED = 1  # until somebody chooses a size, or a script has run
    SOLD_OUT = 2
    WORKING = 3


def buy_button(page: View) -> Button:
    """The best state of all buy buttons outside other products, menus and carts."""
    return page.once(_button)


def _button(page: View) -> Button:
    best = Button.NONE
    for node in _buying(page):
        state = _state(page, node)
        if state is Button.WORKING:
            return state
        best = max(best, state, key=lambda each: each.value)
    return best


def buy_places(page: View) -> list[int]:
    """Which of the page's texts are labels of working buy buttons."""
    return page.once(_places)


def _places(page: View) -> list[int]:
    bought = page.once(_bought)
    return [at for at, (text, node) in enumerate(page.texts) if text in bought and _state(page, node) is Button.WORKING]


def own_label(page: View) -> str:
    """What the product's own buy button says, in lower case: the first that works behind the heading, else the first
    that works; "" if there is none."""
    places = buy_places(page)
    own = next((at for at in places if at >= page.heading_index), places[0] if places else None)
    if own is not None:
        return page.texts[own][0].lower()
    works = (label for label, node in _labelled(page) if _state(page, node) is Button.WORKING)
    return next(works, "")


def _buying(page: View) -> Iterator[LexborNode]:
    """Elements whose text, or a label in an attribute, is that of a buy button."""
    bought = page.once(_bought)
    yield from (node for text, node in page.texts if text in bought) if bought else ()
    yield from (node for _, node in _labelled(page))


def pressed(page: View) -> list[tuple[LexborNode, dict[str, str | None]]]:
    """What may be a button with its label in an attribute, with its attributes."""
    return [(node, node.attributes) for node in page.document.tree.css(_LABELLED)[:MAX_PRESSED]]


def _labelled(page: View) -> Iterator[tuple[str, LexborNode]]:
    """Buy buttons with their labels, in lower case, that are in attributes."""
    written: list[str] = []
    labelled: list[LexborNode] = []
    for node, attributes in page.once(pressed):
        for name in _LABELS:
            label = attributes.get(name)
            if label and len(label) <= 2 * MAX_LABEL:
                written.append(label.lower())
                labelled.append(node)
    for at in page.lexicon.of_buying.among(written):
        if page.lexicon.buys(written[at]):
            yield written[at], labelled[at]


def _bought(page: View) -> set[str]:
    """The page's short texts that are labels of buy buttons."""
    short = list(dict.fromkeys(text for text, _ in page.texts if len(text) <= MAX_LABEL))
    lower = [text.lower() for text in short]
    return {short[at] for at in page.lexicon.of_buying.among(lower) if page.lexicon.buys(lower[at])}


def _leads_away(page: View, attributes: Mapping[str, str | None]) -> bool:
    """Whether it is a link to another site, where somebody else sells."""
    href = attributes.get("href") or ""
    target = page.document.absolute(href) if href.startswith(("http", "//")) else None
    return target is not None and not same_site(target, page.document.url)


def _is_pressed(node: LexborNode) -> bool:
    """Whether an element is one that can be pressed, or right inside of it."""
    return any(each.tag in _PRESSED for each in around(node, 3))


def _state(page: View, node: LexborNode) -> Button:
    flags = page.flags(node)
    if flags & (view.OTHER | view.HIDDEN):
        return Button.NONE
    if not (flags & view.BUTTON or _is_pressed(node)):
        return Button.NONE  # a badge
    for each in around(node, 3):
        if each.tag == "body":
            break
        attributes = each.attributes
        name = (attributes.get("class") or "").lower()
        if _SOLD_OUT.search(name):
            return Button.SOLD_OUT
        if "disabled" in attributes or attributes.get("aria-disabled") == "true" or _DISABLED.search(name):
            return Button.DISABLED
        if each.tag in _PRESSED:
            is_others = _leads_away(page, attributes) or cards.is_others(page, each)
            return Button.NONE if is_others else Button.WORKING
    return Button.WORKING if flags & view.BUTTON else Button.NONE
