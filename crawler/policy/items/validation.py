"""What is wrong with an item, by issue name. Pure: a setting decides which issues are fatal."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import operator
import re
import types
import typing
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from typing import Any, Final

from crawler.items import Item, PageItem, ProductItem
from crawler.urls import MAX_URL_LENGTH

# ISO 4217, the codes in use.
_CODES = """
    AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BHD BIF BMD BND BOB BRL BSD BTN BWP BYN BZD CAD
    CDF CHF CLF CLP CNY COP CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP
    GMD GNF GTQ GYD HKD HNL HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD
    KYD KZT LAK LBP LKR LRD LSL LYD MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN
    NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON RSD RUB RWF SAR SBD SCR SDG SEK SGD SHP
    SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TND TOP TRY TTD TWD TZS UAH UGX USD UYU UZS VED VES
    VND VUV WST XAF XCD XCG XOF XPF YER ZAR ZMW ZWG
"""
_WITHDRAWN: Final = ("ANG", "BGN", "HRK")  # recently: pages and archives still show them
CURRENCIES: Final = frozenset((*_CODES.split(), *_WITHDRAWN))
# schema.org/ItemAvailability
_STATES = """
    BackOrder Discontinued InStock InStoreOnly LimitedAvailability MadeToOrder OnlineOnly OutOfStock PreOrder
    PreSale Reserved SoldOut
"""
AVAILABILITIES: Final = frozenset(_STATES.split())
DEAREST: Final = Decimal(10_000_000)  # in any currency; beyond it the digits of something else were read
CHEAPEST: Final = Decimal("0.01")
CLOCKS_DIFFER: Final = timedelta(days=1)  # a page published "tomorrow" is published today further east

_WEB = re.compile(r"https?://[^\s/?#\x00-\x20]+[^\s\x00-\x20]*", re.IGNORECASE)
_LANGUAGE = re.compile(r"[a-z]{2,3}")


@dataclasses.dataclass(frozen=True, slots=True)
class Issue:
    """One problem: its name for counting, the field, and a message."""

    name: str
    field: str
    text: str

    def __str__(self) -> str:
        return f"{self.name}: {self.text}"


def _is_future(item: PageItem) -> bool:
    if item.published_at is None or item.fetched_at is None:
        return False
    return item.published_at - item.fetched_at > CLOCKS_DIFFER  # a sum may overflow the calendar


Rule = tuple[str, str, Callable[[Any], bool]]  # name, field, whether the item breaks it

_ANY: Final[tuple[Rule, ...]] = (
    ("missing_url", "url", lambda item: not item.url),
    ("invalid_url", "url", lambda item: bool(item.url) and not _is_web(item.url)),
)
_PRODUCT: Final[tuple[Rule, ...]] = (
    ("missing_title", "title", lambda item: not item.title),
    ("missing_price", "price", lambda item: item.price is None),
    ("invalid_price", "price", lambda item: item.price is not None and not item.price.is_finite()),
    ("negative_price", "price", lambda item: _is_number(item.price) and item.price < 0),
    ("suspicious_price", "price", lambda item: _is_number(item.price) and _is_suspicious(item.price)),
    ("missing_currency", "currency", lambda item: bool(item.price) and not item.currency),
    ("unknown_currency", "currency", lambda item: bool(item.currency) and item.currency not in CURRENCIES),
    (
        "invalid_availability",
        "availability",
        lambda item: item.availability is not None and item.availability not in AVAILABILITIES,
    ),
    ("invalid_gtin", "gtin", lambda item: bool(item.gtin) and not is_gtin(item.gtin)),
    ("invalid_rating", "rating", lambda item: item.rating is not None and not 0 <= item.rating <= 5),
    (
        "invalid_review_count",
        "review_count",
        lambda item: item.review_count is not None and item.review_count < 0,
    ),
    ("invalid_image", "image", lambda item: bool(item.image) and not _is_web(item.image)),
)
_PAGE: Final[tuple[Rule, ...]] = (
    ("empty_page", "text", lambda item: not item.text and not item.title),
    ("missing_text", "text", lambda item: not item.text and bool(item.title)),
    (
        "invalid_language",
        "language",
        lambda item: bool(item.language) and not _LANGUAGE.fullmatch(item.language),
    ),
    ("suspicious_published_at", "published_at", _is_future),
)
_RULES: Final[dict[type[Item], tuple[Rule, ...]]] = {ProductItem: _ANY + _PRODUCT, PageItem: _ANY + _PAGE}

# The field of each issue; `wrong_type` may be about any field.
FIELDS: Final = {name: field for rules in _RULES.values() for name, field, _ in rules}
# Every issue name; cleaning adds `truncated_<field>`.
NAMES: Final = frozenset({"wrong_type", *FIELDS})


def issues(item: Item) -> list[Issue]:
    """All issues of *item* in a fixed order; an empty list for a good one.

    A project's own item class is checked for types and URL; one derived from ProductItem or PageItem also by their
    rules. A value of the wrong type hides further issues, as rules need the right types.
    """
    kind: Any = type(item)
    fields, values_of, kinds = _types(kind)
    values = values_of(item)
    if not all(map(isinstance, values, kinds)):
        triples = zip(fields, values, kinds, strict=True)
        return [_mistyped(*each) for each in triples if not isinstance(each[1], each[2])]
    return [
        Issue(name, field, f"{field} = {getattr(item, field)!r:.80}")
        for name, field, broken in _rules(kind)
        if broken(item)
    ]


def _mistyped(field: str, value: object, kinds: tuple[type, ...]) -> Issue:
    allowed = " or ".join(kind.__name__ for kind in kinds if kind is not types.NoneType)
    name = "invalid_price" if field == "price" else "wrong_type"
    return Issue(name, field, f"{field} = {value!r:.80} is no {allowed}")


@functools.cache
def _rules(kind: Any) -> tuple[Rule, ...]:
    return next((rules for base, rules in _RULES.items() if issubclass(kind, base)), _ANY)


@functools.cache
def _types(kind: Any) -> tuple[list[str], operator.attrgetter[tuple[Any, ...]], list[tuple[type, ...]]]:
    """The fields, how to read them, and the classes that each annotation allows."""
    hints: dict[str, Any] = {}
    for base in reversed(kind.__mro__):
        with contextlib.suppress(Exception):  # one that only type checkers can look up allows anything
            hints |= typing.get_type_hints(base)
    fields = [field.name for field in dataclasses.fields(kind)]
    return fields, operator.attrgetter(*fields), [_classes(hints.get(field, object)) for field in fields]


def _classes(hint: Any) -> tuple[type, ...]:
    origin = typing.get_origin(hint)
    if origin in (types.UnionType, typing.Union):
        return tuple(each for part in typing.get_args(hint) for each in _classes(part))
    kind = origin or hint
    if kind is float:
        return (float, int)
    return (kind,) if _has_instances(kind) else (object,)


def _has_instances(kind: Any) -> bool:
    """Whether `isinstance` takes it: it refuses Any, typed dicts and most protocols."""
    try:
        return isinstance(None, kind) or isinstance(kind, type)
    except TypeError:
        return False


def _is_web(url: str) -> bool:
    return len(url) <= MAX_URL_LENGTH and _WEB.fullmatch(url) is not None


def is_gtin(code: str) -> bool:
    """GTIN-8, -12, -13 or -14 with a correct check digit (GS1 General Specifications, 7.9)."""
    if len(code) not in {8, 12, 13, 14} or not (code.isascii() and code.isdigit()):
        return False
    digits = list(map(int, reversed(code)))
    return (sum(digits[::2]) + 3 * sum(digits[1::2])) % 10 == 0


def _is_number(price: Decimal | None) -> bool:
    return price is not None and price.is_finite()


def _is_suspicious(price: Decimal) -> bool:
    return price >= 0 and not CHEAPEST <= price <= DEAREST
