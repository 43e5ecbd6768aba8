"""Every issue has its name, and a good item has none."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NewType, TypedDict

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stdnum import ean

from crawler.items import Item, PageItem, ProductItem
from crawler.policy.items import validation
from crawler.policy.items.validation import issues

if TYPE_CHECKING:
    from yarl import URL

NOW = datetime(2026, 3, 1, tzinfo=UTC)
GOOD: dict[str, Any] = {
    "url": "https://a.example/p/1?x=1",
    "fetched_at": NOW,
    "title": "Knife",
    "price": Decimal("19.90"),
    "currency": "EUR",
    "availability": "InStock",
    "gtin": "4006381333931",
    "rating": 4.5,
    "review_count": 3,
    "image": "https://a.example/i.jpg",
}


def product(**fields: Any) -> ProductItem:
    return ProductItem(**(GOOD | fields))


def names(item: Item) -> list[str]:
    return [issue.name for issue in issues(item)]


def test_a_good_product_has_no_issue() -> None:
    assert issues(product()) == []
    assert issues(product(price=None, currency=None, availability=None, gtin=None, rating=None)) == [
        validation.Issue("missing_price", "price", "price = None")
    ]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"url": ""}, ["missing_url"]),
        ({"url": "ftp://a.example/"}, ["invalid_url"]),
        ({"url": "https://"}, ["invalid_url"]),
        ({"url": "https://a.example/a b"}, ["invalid_url"]),
        ({"url": "https://a.example/" + "a" * 5000}, ["invalid_url"]),
        ({"title": None}, ["missing_title"]),
        ({"title": ""}, ["missing_title"]),
        ({"price": "abc"}, ["invalid_price"]),
        ({"price": 19.9}, ["invalid_price"]),
        ({"price": Decimal("NaN")}, ["invalid_price"]),
        ({"price": Decimal(-1)}, ["negative_price"]),
        ({"price": Decimal(0)}, ["suspicious_price"]),
        ({"price": Decimal(0), "currency": None}, ["suspicious_price"]),
        ({"price": Decimal("0.001")}, ["suspicious_price"]),
        ({"price": Decimal(10000001)}, ["suspicious_price"]),
        ({"currency": None}, ["missing_currency"]),
        ({"currency": "EURO"}, ["unknown_currency"]),
        ({"currency": "eur"}, ["unknown_currency"]),
        ({"availability": "in stock"}, ["invalid_availability"]),
        ({"gtin": "4006381333930"}, ["invalid_gtin"]),
        ({"gtin": "40063813339"}, ["invalid_gtin"]),
        ({"gtin": "٤٠٠٦٣٨١٣٣٣٩٣١"}, ["invalid_gtin"]),
        ({"rating": 5.1}, ["invalid_rating"]),
        ({"rating": float("nan")}, ["invalid_rating"]),
        ({"rating": 5}, []),
        ({"review_count": -1}, ["invalid_review_count"]),
        ({"image": "/i.jpg"}, ["invalid_image"]),
        ({"title": 5}, ["wrong_type"]),
        ({"source": None, "price": "x"}, ["wrong_type", "invalid_price"]),
        (
            {"title": None, "price": Decimal(-1), "currency": "?"},
            ["missing_title", "negative_price", "unknown_currency"],
        ),
    ],
)
def test_each_issue_of_a_product_has_its_name(fields: dict[str, Any], expected: list[str]) -> None:
    assert names(product(**fields)) == expected


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, []),
        ({"title": None}, []),
        ({"text": None}, ["missing_text"]),
        ({"text": None, "title": None}, ["empty_page"]),
        ({"language": "english"}, ["invalid_language"]),
        ({"language": "fil"}, []),
        ({"published_at": NOW + timedelta(hours=20)}, []),
        ({"published_at": NOW + timedelta(days=2)}, ["suspicious_published_at"]),
        ({"published_at": NOW + timedelta(days=2), "fetched_at": None}, []),
    ],
)
def test_each_issue_of_a_page_has_its_name(fields: dict[str, Any], expected: list[str]) -> None:
    base: dict[str, Any] = {"url": "https://a.example/", "fetched_at": NOW, "title": "T", "text": "x", "language": "en"}
    assert names(PageItem(**(base | fields))) == expected


@dataclass(slots=True, kw_only=True)
class Offer(ProductItem):
    """A site's own product."""

    colour: str | None = None


@dataclass(slots=True, kw_only=True)
class Shop(Item):
    """A site's own class."""

    collection: ClassVar[str] = "shops"
    name: str
    tags: list[str]


def test_item_classes_of_a_site_are_checked_too() -> None:
    assert names(Offer(**(GOOD | {"price": None}))) == ["missing_price"]
    assert names(Offer(**GOOD, colour=5)) == ["wrong_type"]  # type: ignore[arg-type]
    assert names(Shop(url="https://a.example/", name="A", tags=["x"])) == []
    assert names(Shop(url="nowhere", name="A", tags=["x"])) == ["invalid_url"]
    assert names(Shop(url="https://a.example/", name="A", tags="x")) == ["wrong_type"]  # type: ignore[arg-type]


class Size(TypedDict):
    """A part of an item."""

    width: int


@dataclass(slots=True, kw_only=True)
class Odd(Item):
    """Annotations that say little or nothing at run time."""

    collection: ClassVar[str] = "odd"
    anything: Any = None
    perhaps: Any | None = None
    size: Size | None = None
    colour: Literal["red", "blue"] | None = None
    code: NewType("Code", str) | None = None  # type: ignore[valid-type]


@dataclass(slots=True, kw_only=True)
class Unresolved(ProductItem):
    """One that only a type checker can look up."""

    link: URL | None = None


def test_an_annotation_that_tells_nothing_at_run_time_allows_anything() -> None:
    url = "https://a.example/"
    assert names(Odd(url=url, anything=5, perhaps="x", size={"width": 1}, colour="red", code="x")) == []
    assert names(Odd(url=url, issues="x")) == ["wrong_type"]  # type: ignore[arg-type]
    assert names(Unresolved(**GOOD, link=5)) == []  # type: ignore[arg-type]
    assert names(Unresolved(**(GOOD | {"title": 5}), link=5)) == ["wrong_type"]  # type: ignore[arg-type]


def test_texts_are_for_people() -> None:
    (issue,) = issues(product(price="abc" * 100))
    assert str(issue).startswith("invalid_price: price = 'abcabc")
    assert str(issue).endswith("is no Decimal")
    assert len(str(issue)) < 150


def test_every_name_that_occurs_is_known() -> None:
    assert {"missing_title", "wrong_type", "empty_page", "invalid_gtin"} <= validation.NAMES


@given(st.text("0123456789", min_size=6, max_size=15))
def test_gtin_agrees_with_stdnum(code: str) -> None:
    expected = len(code) in {8, 12, 13, 14} and ean.is_valid(code)
    assert ("invalid_gtin" not in names(product(gtin=code))) == expected


@given(st.builds(ProductItem, url=st.text(), price=st.none() | st.decimals(), rating=st.none() | st.floats()))
def test_any_product_gets_named_issues(item: ProductItem) -> None:
    assert set(names(item)) <= validation.NAMES
