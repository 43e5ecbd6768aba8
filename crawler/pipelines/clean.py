"""Normalises the fields of our items, so that equal values compare equal; other items pass untouched."""

from __future__ import annotations

import dataclasses
import functools
import re
import unicodedata
from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from typing import Any, Self
from urllib.parse import urljoin

from scrapy.crawler import Crawler
from scrapy.statscollectors import StatsCollector

from crawler import config
from crawler.items import Item, ProductItem
from crawler.pipelines.drops import readable
from crawler.urls import without_credentials

IDENTITY = frozenset({"url", "key"})  # never touched: they identify the document

# Control characters, zero-width space, soft hyphen, byte order mark: invisible, and break equality. Joiners (U+200C,
# U+200D) and direction marks stay: words and emoji need them. Lone surrogates stay, to be rejected by name.
_INVISIBLE = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f\u00ad\u200b\u2060\ufeff]")
_BLANK_LINES = re.compile(r"\n{3,}")
_SCHEMA_ORG = re.compile(r"^https?://schema\.org/", re.IGNORECASE)


class CleanPipeline:
    """White space, Unicode form, absolute image URLs, number types, lengths."""

    def __init__(self, text_max_chars: int, stats: StatsCollector) -> None:
        self._text_max_chars = text_max_chars
        self._stats = stats

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(config.integer(crawler.settings, "ITEM_TEXT_MAX_CHARS"), crawler.stats)

    async def process_item(self, item: Any) -> Any:
        """Clean *item* in place; a text that is cut gets the issue `truncated_<field>`. Raises RejectedItem for an item
        that cannot be read."""
        with readable(item, self._stats):
            if isinstance(item, Item):
                clean(item, self._text_max_chars)
        return item


def clean(item: Item, text_max_chars: int) -> None:
    """Clean every field of *item*; idempotent."""
    kind: Any = type(item)
    for name in _names(kind):
        value = getattr(item, name)
        if isinstance(value, str):
            if not _is_clean(value) or len(value) > text_max_chars:
                setattr(item, name, _text(item, name, value, text_max_chars))
        elif isinstance(value, datetime) and value.tzinfo is None:
            setattr(item, name, value.replace(tzinfo=UTC))
    if isinstance(item, ProductItem):
        _clean_product(item)


def one_line(text: str) -> str:
    """NFC, runs of white space as one space, invisible characters removed."""
    return " ".join(_visible(text).split())


def many_lines(text: str) -> str:
    """Like `one_line` for each line, with at most one blank line in a row."""
    if text.isprintable():
        return one_line(text)
    lines = (" ".join(line.split()) for line in _visible(text).splitlines())
    return _BLANK_LINES.sub("\n\n", "\n".join(lines)).strip()


def _text(item: Item, name: str, value: str, limit: int) -> str | None:
    value = _FORMS.get(name, one_line)(value)
    if len(value) > limit:
        value = value[:limit].rstrip()
        item.issues.append(f"truncated_{name}")
    return value or None


def _as_it_is(text: str) -> str:
    return _visible(text).strip()


# Fields in which line breaks matter, and those in which indentation matters too.
_FORMS: dict[str, Callable[[str], str]] = {"text": many_lines, "description": many_lines, "markdown": _as_it_is}


def _is_clean(text: str) -> bool:
    """Whether cleaning certainly changes nothing; may be False for a clean text."""
    if not text.isprintable() or "  " in text or text.strip() is not text:
        return False
    return text != "" and (text.isascii() or unicodedata.is_normalized("NFC", text))


def _visible(text: str) -> str:
    if text.isprintable():
        return text if text.isascii() else unicodedata.normalize("NFC", text)
    return unicodedata.normalize("NFC", _INVISIBLE.sub("", text))


def _clean_product(item: ProductItem) -> None:
    item.price = _number(item.price)
    for name, change in _PRODUCT_FORMS.items():
        if isinstance(value := getattr(item, name), str):
            setattr(item, name, change(value))
    if isinstance(item.image, str) and isinstance(item.url, str):
        item.image = without_credentials(_absolute(item.url, item.image))


_PRODUCT_FORMS: dict[str, Callable[[str], str]] = {
    "currency": str.upper,
    "availability": functools.partial(_SCHEMA_ORG.sub, ""),
    "gtin": lambda gtin: gtin.replace(" ", "").replace("-", ""),
}


def _number(price: Any) -> Any:
    """A Decimal with the digits as given; anything else stays, to be rejected by name."""
    if price is None or isinstance(price, (Decimal, bool)) or not isinstance(price, (int, float, str)):
        return price
    try:
        return Decimal(str(price))
    except InvalidOperation:
        return price


def _absolute(page: str, image: str) -> str:
    if image.startswith(("https://", "http://")):
        return image  # urljoin costs as much as the rest of the cleaning
    try:
        return urljoin(page, image)
    except ValueError:  # such as an unclosed [: validation reports it
        return image


@functools.cache
def _names(kind: Any) -> tuple[str, ...]:
    return tuple(each.name for each in dataclasses.fields(kind) if each.name not in IDENTITY)
