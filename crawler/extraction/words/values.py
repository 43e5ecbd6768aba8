"""Cleans raw values as pages write them. An implausible value becomes None, never a guess."""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation
from typing import Final

from price_parser import Price

from crawler.extraction.words.currencies import NO_DECIMALS, THREE_DECIMALS
from crawler.extraction.words.labels import BRAND_PREFIX, SKU_PREFIX
from crawler.extraction.words.wording import lexicon
from crawler.policy.items.validation import is_gtin
from crawler.utils.entities import unescape

MAX_PRICE = Decimal(10) ** 12  # anything above is a timestamp or an id
MAX_TEXT = 1_000  # characters of a title, brand, sku, category
MAX_PRICE_TEXT = 100
MAX_DESCRIPTION = 5_000
_ENDING = re.compile(r"[^\W\d_]{1,2}(?![^\W\d_])")  # of a plural
_UNSPACED: Final = "\u0590"  # from here on no letters of Latin, Greek, Cyrillic or Armenian
_CUT: Final = 30  # characters; longer names may be cut anywhere

_PLAIN = re.compile(r"\d{1,13}(?:\.\d{1,6})?")
_ZERO = re.compile(r"\D{0,5}0+(?:[.,]0+)?\D{0,5}")
_SCIENTIFIC = re.compile(r"\d+(?:\.\d+)?[eE][+-]?\d{1,3}")
_NEGATIVE = re.compile(r"^\W{0,4}[-−–]\s*[^\d\s]{0,3}\s*\d")
_TAG = re.compile(r"<[^>]{0,2000}>")
_EURO_CENTS = re.compile(r"\d\s?€\s?\d\d(?!\d)")
# A number with separators; a space only joins groups of three digits, so that "34 99" is not 3499.
WRITTEN = re.compile(
    r"(?:\d+(?:(?:[.,'’‘´`ʼ٬٫،]|(?<=[０-９])[，．](?=[０-９]))\d+)*"
    r"(?:[ \u00a0\u202f]\d{3}(?!\d))*(?:[.,]\d{1,3}(?!\d))?"
    r"|(?<![^\W\d_])[.,]\d{1,2}(?!\d))(?![\d.,]*\s?[%折])"
)
_SEPARATORS = str.maketrans("٬٫،", ",.,")  # of Arabic and Persian numbers
_FULL_WIDTH = str.maketrans("，．", ",.")  # in a number: between others they end a clause
_APOSTROPHE = re.compile(r"['’‘´`ʼ](?=\d{3}(?!\d))")  # between thousands
_SIMPLE = re.compile(r"[0-9]+(?:[.,][0-9]{1,2})?")
_GROUPED = re.compile(r"[1-9][0-9]{0,2}([.,])[0-9]{3}(?:\1[0-9]{3})*+(?:(?!\1)[.,][0-9]{1,2})?")  # 1,299 or 1.299,00
_THREE_DECIMALS = re.compile(r"\d{1,3}(?:[, \u00a0\u202f]\d{3})*\.\d{3}")
_NO_NUMBER = re.compile(r"[^\d.]")
_DINARS = re.compile(r"\d{1,3}(?:[ .\u00a0\u202f]\d{3})*,\d{3}")  # of Tunisia: 129,000
_PLACEHOLDER = re.compile(
    r"n/?a|null|none|undefined|unknown|default|no[ -]?brand|nan|\W*|ohne marke|sans marque|sin marca|sem marca"
    r"|senza marca|merkloos|bez (?:marki|značky|marke)|без (?:бренд[ау]|марк[аи])|нет бренда|fără marcă|markasız"
    r"|tanpa merek|tiada jenama|không (?:có )?thương hiệu|ノーブランド(?:品)?|[无無]品牌|ไม่มี(?:แบรนด์|ยี่ห้อ)",
    re.IGNORECASE,
)
# Unfilled templates, and other values in place of a name: URLs, dates.
_UNFILLED = re.compile(
    r"\{\{|\}\}|\$\{|<%|%>|\[\[|\]\]|\{[\w.$ ]+\}|[%#@]{1,2}[\w.]+[%#@]{1,2}|__\w+__"
    r"|\[\w*(?:brand|name|sku|title|marca)\w*\]|(?:product|item|variant|article|brand)_(?:sku|name|title|id|code|number|brand)"
    r"|[$@][A-Za-z_][\w.]*|(?:product|item|brand|data|model|page|vm|self|this|ctrl)(?:\.[A-Za-z_]\w*)+|\[object \w+\]",
    re.IGNORECASE,
)
_DATE = re.compile(
    r"(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4})(?:[T ][\d:.,+Z-]*)?"
    r"|\d{1,2}\.? [^\W\d_]{3,12}\.?,? \d{4}|[^\W\d_]{3,12}\.? \d{1,2},? \d{4}"
)
_MARKS = re.compile(r"[\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]+")  # of direction, seen by nobody
_HALF = re.compile("[\ud800-\udfff]")
_CODE = re.compile(r"\w[\w./-]*")
_FOLLOWED = re.compile(r"(\S*\d\S*)\s+\D{4,}")
_PLAIN_NAME = re.compile(r"[^:：|&<]*")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)?")
_COUNT = re.compile(r"\d{1,3}(?:[ .,\u00a0\u202f]\d{3})+(?!\d)|\d+")
_APART = re.compile(r"[\s_-]+")
_AVAILABILITY = {
    name.lower(): name
    for name in (
        "BackOrder", "Discontinued", "InStock", "InStoreOnly", "LimitedAvailability", "MadeToOrder", "OnlineOnly",
        "OutOfStock", "PreOrder", "PreSale", "Reserved",
    )
}  # fmt: skip
_AVAILABILITY |= {
    "oos": "OutOfStock",
    "notavailable": "OutOfStock",
    "notinstock": "OutOfStock",
    "nostock": "OutOfStock",
    "0": "OutOfStock",
    "false": "OutOfStock",
    "no": "OutOfStock",
    "true": "InStock",
    "yes": "InStock",
    "soldout": "OutOfStock",
    "availablefororder": "InStock",
    "available": "InStock",
    "1": "InStock",
}


def stands_in(name: str, text: str) -> bool:
    """Whether *text* has *name*, and not just its plural, as a list of such products has: `Gift Card` in `Gift Cards`.

    Scripts without spaces between words have none.
    """
    at = text.find(name)
    if at < 0 or len(name) > _CUT or not "A" <= name[-1:] < _UNSPACED or not name[-1].isalpha():
        return at >= 0
    while at >= 0:
        if not _ENDING.match(text, at + len(name)):
            return True
        at = text.find(name, at + 1)
    return False


def text(raw: object, limit: int = MAX_TEXT) -> str | None:
    """One line of plain text: entities and tags resolved, white space collapsed, cut at *limit* characters."""
    if not isinstance(raw, (str, int)) or isinstance(raw, bool):
        return None
    value = paired(str(raw)[: limit * 4])
    if "&" in value:
        value = unescape(value)
    if "<" in value:
        value = _TAG.sub(" ", value)
    return " ".join(value.split())[:limit] or None


def paired(value: str) -> str:
    """*value* with the halves of surrogate pairs put together, and those without the other as U+FFFD: scripts escape
    each half, and cut texts between them. No text with a half can be stored."""
    if value.isascii() or not _HALF.search(value):
        return value
    return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def name(raw: object) -> str | None:
    """A short text that is no placeholder such as `N/A`, `null` or `{{brand}}`."""
    value = text(raw, 200)
    if value is not None and not value.isascii():
        value = _MARKS.sub("", value).strip()
    return None if value is None or _PLACEHOLDER.fullmatch(value) or _is_unfilled(value) else value


def title(raw: object) -> str | None:
    """A product's name as one line, no unfilled template (`{{ product.name }}`)."""
    value = text(raw)
    return None if value is None or _is_unfilled(value) else value


def _is_unfilled(value: str) -> bool:
    return "{{" in value or "${" in value or _UNFILLED.fullmatch(value) is not None


def brand(raw: object) -> str | None:
    """A brand's name, without a label or slogan (`More of the brand: Acme`, `Acme | We cut` -> `Acme`); not a date or
    URL."""
    value = name(raw)
    if value is not None and not _PLAIN_NAME.fullmatch(value):  # few, and the pattern is a slow one
        value = name(BRAND_PREFIX.sub("", value).partition(" | ")[0])
    return None if value is None or _DATE.fullmatch(value) or value.startswith(("http:", "https:", "//")) else value


def identifier(raw: object) -> str | None:
    """An identifier, no address; words after it are cut off (`TX502999 Housse de chaise` -> `TX502999`), and a label
    before it."""
    value = name(raw)
    if value is None or "://" in value:
        return None
    value = value.lstrip("# ")  # "number"
    if not _CODE.fullmatch(value) and (label := SKU_PREFIX.match(value)):
        value = value[label.end() :]
        if not _CODE.match(value):
            return None
    followed = _FOLLOWED.fullmatch(value)
    return (followed[1] if followed else value)[:100]


def price(raw: object, currency: str | None = None) -> Decimal | None:
    """A price above zero. *raw* is from a machine-readable field, *currency* its code if known.

    A plain number has a decimal dot, as schema.org defines, unless that is implausible: three digits after the dot are
    thousands if the currency has no decimals or the last digit counts (`1.299` EUR, `34.000` IDR). Anything else is
    read by `price_in_text`.
    """
    value = str(raw).strip() if isinstance(raw, (str, int, float, Decimal)) else ""
    if _SCIENTIFIC.fullmatch(value):
        return _in_range(Decimal(value))
    if not _PLAIN.fullmatch(value):
        return price_in_text(value)
    whole, _, decimals = value.partition(".")
    odd = len(decimals) == 3 and len(whole) <= 3 and currency not in THREE_DECIMALS
    if odd and (currency in NO_DECIMALS or decimals[-1] != "0"):
        value = whole + decimals
    return _in_range(Decimal(value))


def is_zero(raw: object) -> bool:
    """Whether *raw* is a price of zero: `0`, `0.00`, `0,00 €`."""
    return (
        isinstance(raw, (str, int, float, Decimal)) and _ZERO.fullmatch(str(raw).strip()[:MAX_PRICE_TEXT]) is not None
    )


def price_in_text(raw: str, currency: str | None = None) -> Decimal | None:
    """The first price in a displayed text: `1.299,00 €`, `₹1,29,999`, `CHF 12.–`, `¥1,980`.

    With a *currency* of three decimals, `KD 4.750` has them.

    Known weakness: `1.299` alone is one thousand and `1.29` is one, in every country.
    """
    raw = raw[:MAX_PRICE_TEXT] if raw.isascii() else raw[:MAX_PRICE_TEXT].translate(_SEPARATORS)
    if _SIMPLE.fullmatch(raw):  # most, in a tenth of the time
        return _in_range(Decimal(raw.replace(",", ".")))
    if _NEGATIVE.match(raw):
        return None
    if _EURO_CENTS.search(raw):  # 12€50
        return _in_range(Price.fromstring(raw).amount)
    match = WRITTEN.search(raw)
    if match and currency in THREE_DECIMALS and _THREE_DECIMALS.fullmatch(match[0]):
        return _in_range(Decimal(_NO_NUMBER.sub("", match[0])))
    if match and currency == "TND" and _DINARS.fullmatch(match[0]):
        return _in_range(Decimal(re.sub(r"[^\d,]", "", match[0]).replace(",", ".")))
    return _in_range(_amount(match[0])) if match else None


def _amount(number: str) -> Decimal | None:
    """The value of a *number* as of `WRITTEN`: most forms in a tenth of price-parser's time."""
    if not number.isascii():
        number = number.translate(_FULL_WIDTH)
    if grouped := _GROUPED.fullmatch(number):
        number = number.replace(grouped[1], "")
    if _SIMPLE.fullmatch(number):
        return Decimal(number.replace(",", "."))
    return Price.fromstring(_APOSTROPHE.sub("", number)).amount


def availability(raw: object) -> str | None:
    """A schema.org ItemAvailability name, from its URL, its name, Open Graph's or a shop's wording."""
    if not isinstance(raw, str) or not raw:
        return None
    name = raw.rstrip("/ ").rpartition("/")[2].strip()
    plain = name.lower()
    if plain not in _AVAILABILITY:
        plain = _APART.sub("", plain)
    known = _AVAILABILITY.get(plain) or ("OutOfStock" if plain.endswith("outofstock") else None)
    return known or lexicon().availability(raw[:MAX_TEXT])


def gtin(raw: object) -> str | None:
    """A GTIN-8, -12, -13 or -14 (an ISBN-13 too) with a valid check digit, digits only."""
    digits = str(raw) if isinstance(raw, (str, int)) else ""
    if not digits.isdigit():
        digits = _APART.sub("", digits)
    return digits if is_gtin(digits) and digits.strip("0") else None


def rating(raw: object, best: object = None) -> float | None:
    """A mean rating scaled to 0..5, from a scale that ends at *best*, else at the nearest of 5, 10 and 100."""
    value, top = _number(raw), _number(best)
    if value is None:
        return None
    if not top or top < value:
        top = next((scale for scale in (5.0, 10.0, 100.0) if value <= scale), None)
    return round(value / top * 5, 2) if top else None


def count(raw: object) -> int | None:
    """A number of reviews: `1,234`, `(57 Opinions)`."""
    if isinstance(raw, int) and not isinstance(raw, bool):
        return raw if 0 <= raw < 10**9 else None
    match = _COUNT.search(raw[:MAX_TEXT]) if isinstance(raw, str) else None
    value = int(re.sub(r"\D", "", match[0])) if match else None
    return value if value is not None and value < 10**9 else None


def _number(raw: object) -> float | None:
    match = _NUMBER.search(str(raw)[:100]) if isinstance(raw, (str, int, float, Decimal)) else None
    return float(match[0].replace(",", ".")) if match else None


def _in_range(amount: Decimal | None) -> Decimal | None:
    try:
        return amount if amount is not None and 0 < amount < MAX_PRICE else None
    except InvalidOperation:  # NaN
        return None
