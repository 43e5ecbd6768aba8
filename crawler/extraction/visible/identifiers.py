"""The shop's identifier of the product: from labels, form fields and the URL (url_identifiers.py)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from selectolax.lexbor import LexborNode

from crawler.extraction.visible import view
from crawler.extraction.visible.view import View
from crawler.extraction.words import labels, url_identifiers, values
from crawler.extraction.words.url_identifiers import INPUTS, PUNCTUATION, VALUE

ASIDE: Final = 2.5  # of one in a part of the page that may be about other products
MAX_ASIDE: Final = 10  # labels in such parts that are looked at
MODEL: Final = 1.4  # of a maker's model: less than the shop's number in a URL
NAMED: Final = 3.0  # of one in an element named for it, or in brackets by the heading
BY_HEADING: Final = 3  # texts from the heading on
SHOWN: Final = 4.5  # weight of a labelled identifier: more than internal numbers of forms, attributes and the URL
ATTRIBUTED: Final = 2.2  # the most that attributes and form fields add: with a greater lead they decide nothing
MAX_PLACES: Final = 100  # examined per identifier and page
REACH: Final = 2_000  # characters searched backwards for the enclosing tag
MIN_GTIN_TEXT, MAX_GTIN_TEXT = 8, 80  # characters
MAX_INPUTS: Final = 400  # examined per page
MAX_ID: Final = 60  # characters of an identifier with its label
MAX_COUNT: Final = 4  # digits of a number that may be part of a product's name
MAX_STEPS: Final = 256  # parents climbed to find a form

_LONG_NUMBER = re.compile(r"\d[\d -]{6,15}\d")
_OPENING = "([{<〈《【「『〔（•·*-–:： \t"
_LETTERED = re.compile(r"[A-Z]{2,}(?:-[A-Z]+)+")  # an identifier without a digit
_PARTED = re.compile(r"[|·•]")
_BRACKETED = re.compile(r"[\[(]([A-Za-z0-9][\w./-]{2,38})[])]")
_SKU = re.compile(r"(?:^|[\W_])sku(?:$|[\W_])|[a-z]Sku|SKU")  # in the name of an element
_ATTRIBUTES: Final = (
    "data-sku", "data-product-sku", "data-product-id", "data-productid", "data-product-code", "data-item-id",
    "data-itemid", "data-pid", "data-article-id", "data-asin",
)  # fmt: skip
_WRITTEN = re.compile(rf"data-{labels.any_of(' '.join(name.removeprefix('data-') for name in _ATTRIBUTES))}(?=[\s=])")
_LABELLED = re.compile(rf">[{re.escape(_OPENING.replace('<', ''))}\n]*+(?:{labels.SKU_LABEL.pattern})")
_INTERNAL = re.compile(  # numbers of a database, that no shop shows
    r"[\da-f]{24}|[\da-f]{32}|[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}|\d{13,20}", re.IGNORECASE
)
_RANDOM = re.compile(r"(?=[^a-z]*[a-z])(?=[^A-Z]*[A-Z])(?=\D*\d)[\w-]{10,}")  # a key that nobody can read out
_DOTTED = re.compile(r"\d{3,}\.\d{2,}")  # an identifier only behind a label: otherwise a price, or a measure
_NOT_AN_ID = re.compile(
    r"\d{1,3}|(?:19|20)\d\d|\d+(?:x\d+)+(?:cm|mm)?|\d+[.,]\d+|\d+(?:cm|mm|kg|g|ml|l|w|v|gb|tb|hz|mah|inch)"
    r"|\d\d?[./-]\d\d?[./-]\d{2,4}",
    re.IGNORECASE,
)


def shown_sku(page: View, others: Sequence[str] = ()) -> tuple[str, str] | None:
    """(identifier, "html" or "url") with the most evidence, or None.

    Labelled identifiers count most, then form fields and data attributes, then the URL; *others* are identifiers in
    structured data that may not be the shop's own (productID, mpn). Evidence for the same identifier adds up.
    """
    weights: dict[str, float] = {}
    sources: dict[str, str] = {}
    for evidence in (_stated(page, others), _attributes(page)):
        for weight, value, source in evidence:
            key = value.strip("-./")
            if _is_none(key, weight) or not (any(map(str.isdigit, key)) or _LETTERED.fullmatch(key)):
                continue
            weights[key] = weights.get(key, 0.0) + weight
            if source == "html" or key not in sources:
                sources[key] = source
        first, second = sorted(weights.values(), reverse=True)[:2] if len(weights) > 1 else (sum(weights.values()), 0.0)
        if first - second > ATTRIBUTED:
            break
    best = max(weights, key=lambda key: weights[key], default=None)
    return (best, sources[best]) if best is not None else None


def labelled_sku(page: View) -> str | None:
    """The identifier with a label on the page, or None."""
    values = ((weight, value.strip("-./")) for weight, value in _labelled(page) if weight > ASIDE)
    return next((value for weight, value in values if not _is_none(value, weight)), None)


def _is_none(value: str, weight: float) -> bool:
    """Whether *value* has the form of something else, and is not the first one labelled."""
    return _NOT_AN_ID.fullmatch(value) is not None and (weight < SHOWN or not _DOTTED.fullmatch(value))


def may_label(markup: str) -> bool:
    """Whether a text in *markup* starts with the label of an identifier; needs no tree."""
    return _LABELLED.search(markup) is not None


def is_shown(identifier: str, markup: str) -> bool:
    """Whether *identifier* is in a text of *markup*, not only in attributes and URLs."""
    place = -1
    for _ in range(MAX_PLACES):
        place = markup.find(identifier, place + 1)
        if place < 0:
            return False
        after = place + len(identifier)
        whole = not (markup[place - 1 : place].isalnum() or markup[after : after + 1].isalnum())
        if whole and markup.rfind("<", max(0, place - REACH), place) <= markup.rfind(">", max(0, place - REACH), place):
            return True
    return False


def _stated(page: View, others: Sequence[str]) -> Iterator[tuple[float, str, str]]:
    """(weight, identifier, source) of what labels, the URL and structured data tell."""
    yield from ((2.0, other, "html") for other in others)
    for rank, value in enumerate(list(dict.fromkeys(url_identifiers.identifiers(page.document.url)))[:4]):
        is_count = len(value) <= MAX_COUNT and value in view.words_of(page.title)  # a puzzle of 1000 pieces
        if not is_count and _is_given(value):
            yield 1.5 - 0.3 * rank, value, "url"
    yield from ((weight, value, "html") for weight, value in page.once(_labelled))


def _labelled(page: View) -> list[tuple[float, str]]:
    """Values after a label, in the same text or the next; the first ones count most."""
    found: list[tuple[float, str]] = []
    doubtful: list[tuple[float, str]] = []
    models: list[tuple[float, str]] = []
    aside: list[tuple[float, str]] = []  # in what opens beside the page: details, but also other products
    texts, asked = page.texts, 0
    for index in sorted({at for number in page.numbers for at in (number - 2, number - 1, number) if at >= 0}):
        text, node = texts[index]  # a value has a digit, and stands in the same text or one of the next two
        if "|" in text or "·" in text or "•" in text:
            text = _from_label(text)
        labelled = text.lstrip(_OPENING) if len(text) <= 120 else ""
        if labelled[:1] not in labels.SKU_FIRST:
            continue
        match = labels.SKU_LABEL.match(labelled)
        label = match or labels.DOUBTFUL_LABEL.match(labelled) or labels.MODEL_LABEL.match(labelled)
        flags = page.flags(node) if label is not None else 0
        if label is None or flags & view.LINK:
            continue
        if flags & view.OTHER:
            asked += 1
            if match is None or asked > MAX_ASIDE or not page.is_sheet(node):
                continue
        value = VALUE.match(labelled[label.end() :].lstrip(_OPENING) or _next(page, index).lstrip(_OPENING))
        if value and any(map(str.isdigit, value[1])) and not _is_priced(page, index, value[1]):
            of = (
                aside
                if flags & view.OTHER
                else found
                if match
                else models
                if label.re is labels.MODEL_LABEL
                else doubtful
            )
            of.append((_weight(len(of)), value[1]))
    if found or doubtful:
        return found or doubtful[:1]
    if named := _named(page) or _lettered(page):
        return [(NAMED, named)]
    return [(MODEL, models[0][1])] if models else _only(aside)


def _is_priced(page: View, index: int, value: str) -> bool:
    """Whether a *value* at or after *index* that may be an amount of money stands in an element named a price, or not
    alone: its label has no value then."""
    if not _DOTTED.fullmatch(value):
        return False
    text, node = next((each for each in page.texts[index : index + 4] if value in each[0]), page.texts[index])
    return not text.endswith(value) or bool(page.flags(node) & view.PRICE)


def _only(aside: Sequence[tuple[float, str]]) -> list[tuple[float, str]]:
    return [(ASIDE, aside[0][1])] if len({value for _, value in aside}) == 1 else []


def _weight(earlier: int) -> float:
    """Of a labelled identifier after so many *earlier* ones."""
    return max(1.0, 3.0 - 0.7 * earlier) if earlier else SHOWN


def _from_label(text: str) -> str:
    """What *text* says from an identifier's label on, if it makes several statements: `Brand: Acme | SKU: A-100`."""
    parts = (part.strip(_OPENING) for part in _PARTED.split(text))
    return next((part for part in parts if labels.SKU_LABEL.match(part)), text)


def _named(page: View) -> str | None:
    """The identifier in an element named for it after the heading, or in brackets right by it."""
    start = page.heading_index
    for index in page.numbers if start >= 0 else ():
        text, node = page.texts[index]
        if not start <= index < start + view.BEFORE or len(text) > MAX_ID:
            continue
        bracketed = _BRACKETED.fullmatch(text) if index <= start + BY_HEADING else None
        value = bracketed[1] if bracketed else text
        is_named = bracketed or _SKU.search(page.look(node))
        if (
            is_named
            and VALUE.fullmatch(value)
            and not _NOT_AN_ID.fullmatch(value)
            and not page.flags(node) & view.OTHER
        ):
            return value
    return None


def _lettered(page: View) -> str | None:
    """A labelled identifier without a digit: `SKU: LWC-CRW`."""
    for index, (text, node) in enumerate(page.texts):
        if "-" not in text or len(text) > MAX_ID or not _LETTERED.fullmatch(value := text.rpartition(" ")[2]):
            continue
        before = text.removesuffix(value) or (page.texts[index - 1][0] if index else "")
        if labels.SKU_LABEL.fullmatch(before) and not page.flags(node) & (view.OTHER | view.LINK):
            return value
    return None


def _next(page: View, index: int) -> str:
    """The text after *index*, not counting one that is only a colon."""
    following = [text for text, _ in page.texts[index + 1 : index + 3] if text.strip(" :：#")]
    return following[0] if following else ""


def _attributes(page: View) -> Iterator[tuple[float, str, str]]:
    """(weight, identifier, source) of data attributes and hidden inputs, outside of other products."""
    given: set[str] = set()
    tree = page.document.tree
    # A selector for each, matched with every element, takes longer than finding which of them the page has.
    written = sorted({name.lower() for name in _WRITTEN.findall(page.document.markup)})
    for node in tree.css(",".join(f"[{name}]" for name in written))[:100] if written else ():
        if len(given) == 3:
            break
        if page.flags(node) & (view.OTHER | view.LINK):
            continue
        attributes = node.attributes
        for name in _ATTRIBUTES:
            value = attributes.get(name)
            if value and _is_given(value) and value not in given and len(given) < 3:
                given.add(value)
                yield 1.6 - 0.4 * len(given), value, "html"
    entered: set[str] = set()  # forms for cart and wish list repeat it
    for node in tree.css("input[name]")[:MAX_INPUTS]:  # `form input` would climb from each of them
        attributes = node.attributes
        name = PUNCTUATION.sub("", attributes.get("name") or "").lower()
        value = attributes.get("value")
        if name not in INPUTS or not value or value in entered or not _is_given(value):
            continue
        is_sent = (attributes.get("type") or "").lower() == "hidden" or _is_in_form(node)
        if is_sent and not page.flags(node) & view.OTHER:
            entered.add(value)
            yield 1.0, value, "html"


def _is_in_form(node: LexborNode) -> bool:
    around, steps = node.parent, 0
    while around is not None and around.tag != "form" and steps < MAX_STEPS:
        around, steps = around.parent, steps + 1
    return around is not None and around.tag == "form"


def is_internal(value: str) -> bool:
    """Whether *value* has the form of a database's number, that no shop shows."""
    return _INTERNAL.fullmatch(value) is not None


def _is_given(value: str) -> bool:
    """Whether the *value* of an attribute or in a URL may be an identifier that people use: the shop's, or a GTIN.

    Not a key of ten characters or more with small and large letters and digits: it is random.
    """
    if not VALUE.fullmatch(value) or _RANDOM.fullmatch(value):
        return False
    return not is_internal(value) or values.gtin(value) is not None


def has_label(page: View) -> bool:
    """Whether the page has a labelled identifier, as products do."""
    return any(weight > ASIDE for weight, _ in page.once(_labelled))


def shown_gtin(page: View) -> str | None:
    """The first valid GTIN with a label such as EAN, UPC or ISBN in its text or the one before."""
    for index in page.numbers:
        text, node = page.texts[index]
        if not MIN_GTIN_TEXT <= len(text) <= MAX_GTIN_TEXT or not (number := _LONG_NUMBER.search(text)):
            continue
        before = page.texts[index - 1][0][:MAX_GTIN_TEXT] if index else ""
        if index > 1 and not before.strip(" :："):
            before = page.texts[index - 2][0][:MAX_GTIN_TEXT]
        labelled = labels.GTIN_LABEL.search(text, 0, number.start()) or labels.GTIN_LABEL.search(before)
        if labelled and (gtin := values.gtin(number[0])) and not page.flags(node) & view.OTHER:
            return gtin
    return None
