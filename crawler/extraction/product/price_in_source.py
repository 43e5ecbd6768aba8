"""What the source of a page says of a price that structured data states, without building a tree."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from decimal import Decimal
from functools import cache
from itertools import islice

from crawler.extraction.structured import jsonld
from crawler.extraction.tree.document import Document
from crawler.extraction.visible import surroundings

# Signs right before a price in the source that it is an old one.
_REDUCED = re.compile(
    r"<(?:del|s|strike)\b|line-through|strike|crossed|(?:old|was|orig\w*|regular|list|before|previous)[-_ ]?-?price"
    r"|price[-_]{0,2}(?:old|was|orig|regular|list|before|previous)"
)
_TAGS = re.compile(r"^[^<>]*>|<[^<>]*>?")  # the rest of the sign's own tag, and tags after it
_NET = re.compile(r"\"valueAddedTaxIncluded\"\s{0,9}:\s{0,9}\"?false")
_CODE = r"(?:EUR|GBP|CHF|SEK|NOK|DKK|PLN|CZK|HUF|RON|kr\b|zł|Kč|Ft|lei|руб)"
_GAP = rf"(?:<[^<>]{{0,200}}+>|&\w{{2,6}};|[^\w<>&+-]|{_CODE})"
_UNTAXED = re.compile(rf"{_GAP}{{0,9}}+(?:\d\d(?!\d))?{_GAP}{{0,30}}+(?:{surroundings.WITHOUT_TAX})", re.IGNORECASE)
_UNTAXED_BEFORE = re.compile(  # not if a number is before it, whose it is: `£100.00 ex VAT £120.00`
    rf"(?<!\d)(?<!\d\W)(?<!\d\W\W)(?<!\d\W\W\W)(?:{surroundings.WITHOUT_TAX})"
    rf"[^\w]*(?:{_CODE}[^\w]*)?(?:\d{{1,3}}[.,'\s])*$",
    re.IGNORECASE,
)
_WITH_TAX = ("price-including-tax", "price-incl-tax", "price--withTax")  # names of elements
_WITHOUT_TAX = re.compile(r"price-exc(?:luding|l)-tax|price--withoutTax")
_DIGIT = re.compile(r"\d")
_NO_DIGITS = re.compile(r"&#?\w{1,8};|\D+")
_SEPARATOR = re.compile(r"(?:[.,'’ \u00a0\u202f]|&nbsp;|&#160;)$")  # of groups of digits
MAX_SEPARATOR = 8  # characters of one, and a digit
_ENDS = frozenset(" .,<€")  # of a number
_DATA = frozenset("\"'=:/-")  # before what is data or an address
MAX_FOUND = 20_000  # per number and page
MAX_PLACES = 500  # of these, such as people see
CENTS = 80  # characters from a price's last three digits to the end of its cents, which may have elements of their own
LONGEST = 24  # characters of the groups and what parts them
REACH = 160  # characters between the sign and the price
MAX_UNTAXED = 8  # places asked whether they are without tax
BEFORE = 80  # characters of source before one of them
LABEL = 30  # characters of its text with the label


def places_of(price: Decimal, html: str) -> list[int]:
    """Where the source shows the last three digits of *price* before the decimals, behind the others, which pages group
    in many ways: `990` is no price of 2,990. Costs one search for them."""
    groups, digits = str(int(price))[:-3], str(int(price))[-3:]
    found = (at for at in shown(digits, html, groups) if _is_behind(groups, html[max(0, at - REACH) : at]))
    return list(islice(found, MAX_PLACES))


def _is_behind(groups: str, before: str) -> bool:
    """Whether the text *before* a place ends with the first digits of a number, its *groups*, whatever parts them."""
    return not groups or _NO_DIGITS.sub("", _TAGS.sub("", before)[-LONGEST:]).endswith(groups)


def is_reduced(price: Decimal, html: str, places: Iterable[int]) -> bool:
    """Whether *price* occurs in the source, at *places* of its digits, as an old price."""
    whole = str(int(price))
    return any(_is_old(_before(html[max(0, at - REACH) : at], whole[:-3]).lower()) for at in places)


def _before(text: str, groups: str) -> str:
    """*text* without the first digits of a number, its *groups*, at its end: `18 ` of `18 990`."""
    for digit in reversed(groups):
        bare = _SEPARATOR.sub("", text[-MAX_SEPARATOR:])
        if not bare.endswith(digit):
            return text
        text = text[: -min(MAX_SEPARATOR, len(text))] + bare[:-1]
    return text


def is_untaxed(price: Decimal, html: str, places: Iterable[int]) -> bool:
    """Whether words right before or behind *price* in the source, at the first *places* of its digits, say that it is
    without tax, or the name of its element, if another one has the price with it."""
    length = min(3, len(str(int(price))))
    first = list(islice(places, MAX_UNTAXED))
    if any(_is_named_net(html[max(0, at - REACH) : at]) for at in first) and any(name in html for name in _WITH_TAX):
        return True
    return any(
        _UNTAXED.match(html, at + length)
        or _UNTAXED_BEFORE.search(_TAGS.sub(" ", html[max(0, at - BEFORE) : at])[-LABEL:])
        for at in first
    )


def _is_named_net(before: str) -> bool:
    """Whether *before* has the name of a price without tax, with no other number after it."""
    return any(not _DIGIT.search(_TAGS.sub("", before[name.end() :])) for name in _WITHOUT_TAX.finditer(before))


def is_net(document: Document) -> bool:
    """Whether structured data states prices without tax."""
    sources = jsonld.sources(document.html, document.source.scripts)
    return any("valueAddedTaxIncluded" in stated and _NET.search(stated) for stated in sources)


def is_shown(price: Decimal, html: str, places: Iterable[int]) -> bool:
    """Whether *price* occurs in the source, at *places* of its last digits, as people see it."""
    cents = f"{price % 1:.2f}"[2:].replace("00", "")
    return any(cents in html[at : at + CENTS] for at in places)


def shown(digits: str, html: str, groups: str = "") -> Iterator[int]:
    """Where *digits* are the end of a whole number that people see: no data and no address.

    *groups* are the digits before them, if they have no separator in the source. One or two are found so often that a
    pattern with what may stand around them pays.
    """
    if len(digits) < 3:
        yield from (place.start() for place in _pattern(digits).finditer(html))
        return
    for place in islice(_exactly(digits).finditer(html), MAX_FOUND):  # in half the time that find() takes
        at, behind = place.span()
        start = at - len(groups) if groups and html.endswith(groups, 0, at) else at
        before = html[start - 1 : start]
        if html[behind : behind + 1] in _ENDS and not (before in _DATA or before.isdecimal()):
            yield at


@cache  # of at most 1,000: to compile one takes as long as to search five pages of 20 KB
def _exactly(digits: str) -> re.Pattern[str]:
    return re.compile(digits)


@cache
def _pattern(digits: str) -> re.Pattern[str]:
    return re.compile(rf"{digits}(?=[ .,<€])(?<![\"'=:/\d-]{digits})")


def _is_old(before: str) -> bool:
    """Whether *before* has a sign of an old price with no other number after it."""
    if not (
        "price" in before
        or "<s" in before
        or "strike" in before
        or "<d" in before
        or "-through" in before
        or "crossed" in before
    ):
        return False  # nearly always; the pattern takes ten times as long to say so
    return any(not _DIGIT.search(_TAGS.sub("", before[sign.end() :])) for sign in _REDUCED.finditer(before))
