"""Cleaning: one form for equal things, nothing lost that means something."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy import Spider
from scrapy.crawler import Crawler
from scrapy.statscollectors import MemoryStatsCollector

from crawler.items import PageItem, ProductItem
from crawler.pipelines.clean import CleanPipeline, clean, many_lines, one_line

PAGE = "https://shop.example/category/p/1"


def cleaned(**fields: Any) -> ProductItem:
    item = ProductItem(url=PAGE, **fields)
    clean(item, 1000)
    return item


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("  Knife\u00a0 20\tcm\n", "Knife 20 cm"),
        ("Kni\u00adfe\u200b\ufeff", "Knife"),
        ("Cafe\u0301", "Caf\u00e9"),
        ("a\x00\x07b\x9f", "ab"),
        ("می\u200cخواهم", "می\u200cخواهم"),
        ("👩\u200d🍳", "👩\u200d🍳"),
        ("\ud800", "\ud800"),
        ("", ""),
    ],
)
def test_one_line(raw: str, expected: str) -> None:
    assert one_line(raw) == expected


def test_many_lines_keep_their_breaks() -> None:
    assert many_lines(" a  b \r\n\r\n\n\n c\u2028d ") == "a b\n\nc\nd"


@given(st.text())
def test_cleaning_twice_is_cleaning_once(text: str) -> None:
    assert one_line(one_line(text)) == one_line(text)
    assert many_lines(many_lines(text)) == many_lines(text)


@given(st.one_of(st.text(), st.text(alphabet="a \u00e4e\u0301\u00a0\n")))
def test_fields_are_cleaned_as_texts_are(text: str) -> None:
    item = cleaned(title=text, description=text)
    assert (item.title, item.description) == (one_line(text)[:1000] or None, many_lines(text)[:1000] or None)


@given(st.text(), st.text())
def test_whole_items_are_clean_after_one_time(title: str, description: str) -> None:
    once, twice = cleaned(title=title, description=description), cleaned(title=title, description=description)
    clean(twice, 1000)
    assert once == twice


@pytest.mark.parametrize(
    ("field", "raw", "expected"),
    [
        ("title", "   ", None),
        ("currency", " eur ", "EUR"),
        ("availability", "https://schema.org/InStock", "InStock"),
        ("availability", "http://schema.org/OutOfStock", "OutOfStock"),
        ("gtin", "4006381 33393-1", "4006381333931"),
        ("image", "../i.png", "https://shop.example/category/i.png"),
        ("image", "//cdn.example/i.png", "https://cdn.example/i.png"),
        ("image", "https://[", "https://["),
        ("image", "//[", "//["),
        ("price", 19.9, Decimal("19.9")),
        ("price", 20, Decimal(20)),
        ("price", "19.90", Decimal("19.90")),
        ("price", "about 20", "about 20"),
        ("price", True, True),
        ("price", Decimal("1.10"), Decimal("1.10")),
    ],
)
def test_fields_of_products(field: str, raw: Any, expected: Any) -> None:
    value = getattr(cleaned(**{field: raw}), field)
    assert value == expected
    assert str(value) == str(expected)


def test_key_and_url_stay_as_they_are() -> None:
    item = ProductItem(url=" http://a.example ", key="  k ")
    clean(item, 1000)
    assert (item.url, item.key) == (" http://a.example ", "  k ")


def test_long_texts_are_cut_and_noted_once() -> None:
    item = ProductItem(url=PAGE, title="x" * 150, description="y " * 200)
    for _ in range(2):
        clean(item, 100)
    assert item.title == "x" * 100
    assert item.description == ("y " * 50).rstrip()
    assert item.issues == ["truncated_title", "truncated_description"]


def test_naive_times_are_utc() -> None:
    item = PageItem(url=PAGE, published_at=datetime(2026, 1, 1))  # noqa: DTZ001
    clean(item, 1000)
    assert item.published_at == datetime(2026, 1, 1, tzinfo=UTC)


async def test_foreign_items_pass_untouched() -> None:
    item = {"title": "  x "}
    assert await CleanPipeline(1000, MemoryStatsCollector(Crawler(Spider))).process_item(item) is item
    assert item == {"title": "  x "}
