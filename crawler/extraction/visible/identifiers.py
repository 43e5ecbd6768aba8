"""The shop's identifier of the product: from labels, fields (identifier_fields.py) and the URL (url_identifiers.py)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from selectolax.lexbor import LexborNode

from crawler import urls
from crawler.extraction.tree.document import Document
from crawler.extraction.tree.nodetext import around, text_of
from crawler.extraction.visible import identifier_fields, view
from crawler.extraction.visible.identifier_fields import is_given
from crawler.extraction.visible.view import View
from crawler.extraction.words import labels, url_identifiers, values
from crawler.extraction.words.url_identifiers import GROUPED, VALUE

ASIDE: Final = 2.5  # of one in a part of the page that may be about other products
MAX_ASIDE: Final = 10  # labels in such parts that are looked at
MODEL: Final = 1.4  # of a maker's model: less than the shop's number in a URL
NAMED: Final = 3.0  # of one in an element named for it, or in brackets by the heading
BY_HEADING: Final = 3  # texts from the heading on
SHOWN: Final = 4.5  # weight of a labelled identifier: more than internal numbers of forms, attributes and the URL
ATTRIBUTED: Final = 2.2  # the most that attributes and form fields add: with a greater lead they decide nothing
MAX_PLACES: Final = 100  # examined per identifier and page
REACH: Final = 2_000  # characters searched backwards for the enclosing tag
MAX_LABELLED: Final = 120  # characters of a text that may begin with a label
MAX_ID: Final = 60  # characters of an identifier with its label
MAX_ROW: Final = 4  # digits of a number that is likely that of a database's row
MAX_LIKELY: Final = 8  # identifiers looked for among the texts
STATED, URL = "html", "url"
_SURE, _ELSEWHERE = "sure", "elsewhere"
# By kind; asked in this order.
_LABELS: Final = {_SURE: labels.SKU_LABEL, "doubtful": labels.DOUBTFUL_LABEL, "model": labels.MODEL_LABEL}
MAX_COUNT: Final = 4  # digits of a number that may be part of a product's name

_OPENING = "([{<〈《【「『〔（•·*-–:： \t"
# An identifier without a digit.
_LETTERED = re.compile(
    r"[A-Z]{2,}(?:[-_][A-Z]+)+|(?!(?:NONE|PENDING|SELECT|UNAVAILABLE|UNKNOWN|VARIOUS|VARIES)$)[A-Z]{4,}"
)
_JOINTS: Final = ("-", "_", "/")
_PARTED = re.compile(r"[|·•]|(?= SKU\b)")
_BRACKETED = re.compile(r"[\[(]([A-Za-z0-9][\w./-]{2,38})[])]")
# In the name of an element.
_SKU = re.compile(
    r"(?<![a-z])(?:sku(?:[-_]?ref(?:erence)?)?|(?:product|prod|item|article|artikel|art|style|stock|variant)[-_]{0,2}"
    r"(?:sku|number|num|no|nr|code|id|ref(?:erence)?)|cat(?:alog(?:ue)?)?[-_]?(?:number|num|no|nr)"
    r"|artikelnummer|bestellnummer|r[ée]f[ée]ren(?:ce|cia|z))(?![a-z])",
    re.IGNORECASE,
)
_LABELLED = re.compile(rf">[{re.escape(_OPENING.replace('<', ''))}\n]*+(?:{labels.SKU_LABEL.pattern})")
_DOTTED = re.compile(r"\d{3,}\.\d{2,}")  # an identifier only behind a label: otherwise a price, or a measure
_NOT_AN_ID = re.compile(
    r"\d{1,3}|(?:19|20)\d\d|\d+(?:x\d+)+(?:cm|mm)?|\d+[.,]\d+|\d+(?:cm|mm|kg|g|ml|l|w|v|gb|tb|hz|mah|inch)"
    r"|\d\d?[./-]\d\d?[./-]\d{2,4}",
    re.IGNORECASE,
)


def shown_sku(page: View, others: Sequence[str] = ()) -> tuple[str, str] | None:
    """(identifier, "html" or "url") with the most evidence, or None.

    Labelled identifiers count most, then form fields and data attributes, then the URL; *others* are identifiers in
    structured data that may not be the shop's own (productID, mpn). Evidence for the same identifier adds up. Known
    weakness: a shop's own number that only a hidden field has.
    """
    weights: dict[str, float] = {}
    sources: dict[str, set[str]] = {}
    for evidence in (_stated(page, others), identifier_fields.given(page)):
        for weight, value, source in evidence:
            key = value.strip("-./")
            if _is_none(key, weight) or not (any(map(str.isdigit, key)) or _LETTERED.fullmatch(key)):
                continue
            weights[key] = weights.get(key, 0.0) + weight
            sources.setdefault(key, set()).add(source)
        first, second = sorted(weights.values(), reverse=True)[:2] if len(weights) > 1 else (sum(weights.values()), 0.0)
        if first - second > ATTRIBUTED:
            break
    likely = sorted(weights, key=lambda key: -weights[key])[:MAX_LIKELY]
    told = ((key if STATED in sources[key] else _told(page, key, sources[key]), sources[key]) for key in likely)
    return next(((value, URL if source == {URL} else STATED) for value, source in told if value), None)


def _told(page: View, value: str, sources: set[str]) -> str | None:
    """*value*, of hidden fields or the URL, as the page shows it (4667999: `466/7999`); None if people do not know it.

    Where no text shows it, it may be a database's: if it is short, if only a field has it, or only a URL that does not
    say that it is a product's.
    """
    if shown := _as_shown(page, value):
        return shown
    url = page.document.url
    is_row = value.isdigit() and len(value) <= MAX_ROW
    is_products = len(sources) > 1 or (sources == {URL} and url_identifiers.likelihood(url) >= 1)
    return value if (is_products and not is_row) or value in url_identifiers.stated(url) else None


def _as_shown(page: View, value: str) -> str | None:
    """How a short text writes *value*, with or without zeros at its start."""
    letters = [re.escape(each) for each in value.lstrip("0") if each.isalnum()]
    written = re.compile(rf"(?<![\w.,/-])0*+{'[./-]?'.join(letters)}(?![\w/-]|[.,]\d)", re.IGNORECASE)
    texts = (page.texts[index][0] for index in page.numbers)
    return next((found[0] for text in texts if len(text) <= MAX_ID and (found := written.search(text))), None)


def labelled_sku(page: View) -> str | None:
    """The identifier with a label on the page, or None."""
    values = ((weight, value.strip("-./")) for weight, value in _labelled(page) if weight > ASIDE)
    return next((value for weight, value in values if not _is_none(value, weight)), None)


def _is_none(value: str, weight: float) -> bool:
    """Whether *value* is a placeholder, or has the form of something else and is not the first one labelled."""
    is_other = _NOT_AN_ID.fullmatch(value) is not None and (weight < SHOWN or not _DOTTED.fullmatch(value))
    return is_other or values.name(value) is None


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
        is_part = markup[after : after + 1] in _JOINTS and markup[after + 1 : after + 2].isalnum()  # of a variant's
        whole = not (is_part or markup[place - 1 : place].isalnum() or markup[after : after + 1].isalnum())
        if whole and markup.rfind("<", max(0, place - REACH), place) <= markup.rfind(">", max(0, place - REACH), place):
            return True
    return False


def is_row(identifier: str, document: Document) -> bool:
    """Whether *identifier* is just a number of the shop's database, that nobody sees, not in the product's address."""
    is_key = identifier_fields.is_internal(identifier) and values.gtin(identifier) is None
    is_likely = is_key or identifier_fields.is_posts(identifier, document)
    is_known = is_likely and (identifier in urls.split(document.url).path or is_shown(identifier, document.markup))
    return is_likely and not is_known


def _stated(page: View, others: Sequence[str]) -> Iterator[tuple[float, str, str]]:
    """(weight, identifier, source) of what labels, the URL and structured data tell."""
    yield from ((2.0, other, STATED) for other in others)
    for rank, value in enumerate(list(dict.fromkeys(url_identifiers.identifiers(page.document.url)))[:4]):
        is_count = len(value) <= MAX_COUNT and value in view.words_of(page.title)  # a puzzle of 1000 pieces
        if not is_count and is_given(value):
            yield 1.5 - 0.3 * rank, value, URL
    yield from ((weight, value, STATED) for weight, value in page.once(_labelled))


def _labelled(page: View) -> list[tuple[float, str]]:
    """Values after a label, in the same text or the next; the first ones count most."""
    found: dict[str, list[str]] = {kind: [] for kind in (*_LABELS, _ELSEWHERE)}
    for kind, value in _behind_labels(page):
        found[kind].append(value)
    sure, doubtful, models, aside = found.values()
    if sure:
        return [(_weight(earlier), value) for earlier, value in enumerate(sure)]
    if doubtful:
        return [(SHOWN, doubtful[0])]
    if named := _named(page) or _lettered(page):
        return [(NAMED, named)]
    if models:
        return [(MODEL, models[0])]
    return [(ASIDE, aside[0])] if len(set(aside)) == 1 else []


def _behind_labels(page: View) -> Iterator[tuple[str, str]]:
    """(kind of label, value): of _LABELS, or _ELSEWHERE for one in what opens beside the page, as details do, but also
    other products. A value has a digit, and stands in the label's text or in one of the next two."""
    asked, site = 0, _site(page)
    for index in sorted({at for number in page.numbers for at in (number - 2, number - 1, number) if at >= 0}):
        text, node = page.texts[index]
        kind, rest = _label(text, site)
        flags = page.flags(node) if kind else view.LINK
        if flags & view.LINK:
            continue
        if flags & view.OTHER:
            asked += 1
            if kind != _SURE or asked > MAX_ASIDE or not page.is_sheet(node):
                continue
        behind = rest or _next(page, index).lstrip(_OPENING)
        value = GROUPED.fullmatch(behind) or VALUE.match(behind)
        if value and any(map(str.isdigit, value[1])) and not _is_priced(page, index, value[1]):
            yield _ELSEWHERE if flags & view.OTHER else kind, value[1]


def _label(text: str, site: str) -> tuple[str, str]:
    """(kind, what stands behind it) of the label with which *text* begins; ("", "") without one.

    One behind the name of the *site*, or how that begins, is the shop's own: `Acme part number`.
    """
    if "|" in text or "·" in text or "•" in text or " SKU" in text:
        text = _from_label(text)
    begun = text.lstrip(_OPENING) if len(text) <= MAX_LABELLED else ""
    if begun[:1] in labels.SKU_FIRST:
        for kind, pattern in _LABELS.items():
            if label := pattern.match(begun):
                return kind, begun[label.end() :].lstrip(_OPENING)
    if site and begun[:1] in (site[0], site[0].upper()):
        name, _, behind = begun.partition(" ")
        if len(name) > 1 and site.startswith(name.lower()):
            kind, rest = (_SURE, behind[1:]) if behind[:1] == "#" else _label(behind, "")
            return _SURE if kind else "", rest.lstrip(_OPENING)
    return "", ""


def _site(page: View) -> str:
    """The name in the site's address: `acme` of www.acme.co.uk."""
    host = urls.split(page.document.url).hostname or ""
    return urls.registrable(host).partition(".")[0] if "." in host else ""


def _is_priced(page: View, index: int, value: str) -> bool:
    """Whether a *value* at or after *index* that may be an amount of money stands in an element named a price, or not
    alone: its label has no value then."""
    if not _DOTTED.fullmatch(value):
        return False
    text, node = next((each for each in page.texts[index : index + 4] if value in each[0]), page.texts[index])
    return not text.endswith(value) or bool(page.flags(node) & view.PRICE)


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
        if not VALUE.fullmatch(value) or _NOT_AN_ID.fullmatch(value) or page.flags(node) & view.OTHER:
            continue
        if bracketed or _is_named(node, text):
            return value
    return None


def _is_named(node: LexborNode, text: str) -> bool:
    """Whether an element, or the one around it that has no other *text*, is named an identifier's."""
    for each in around(node, 1):
        if each is not node and text_of(each, MAX_ID) != text:
            return False
        attributes = each.attributes
        if _SKU.search(f"{view.named(attributes)} {attributes.get('itemprop') or ''}"):
            return True
    return False


def _lettered(page: View) -> str | None:
    """A labelled identifier without a digit: `SKU: LWC-CRW`."""
    for index, (text, node) in enumerate(page.texts):
        if len(text) > MAX_ID or not text[-1].isupper() or not _LETTERED.fullmatch(value := text.rpartition(" ")[2]):
            continue
        before = text.removesuffix(value) or (page.texts[index - 1][0] if index else "")
        # A word that stands alone may be the next label, or the next column's head.
        is_beside = text != value or not value.isalpha() or before.rstrip().endswith((":", "："))
        if is_beside and labels.SKU_LABEL.fullmatch(before) and not page.flags(node) & (view.OTHER | view.LINK):
            return value
    return None


def _next(page: View, index: int) -> str:
    """The text after *index*, not counting one that is only a colon."""
    following = [text for text, _ in page.texts[index + 1 : index + 3] if text.strip(" :：#")]
    return following[0] if following else ""


def has_label(page: View) -> bool:
    """Whether the page has a labelled identifier, as products do."""
    return any(weight > ASIDE for weight, _ in page.once(_labelled))
