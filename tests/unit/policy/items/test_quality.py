"""Fields are present, missing or invalid."""

from __future__ import annotations

from decimal import Decimal

from crawler.items import PageItem, ProductItem
from crawler.policy.items import quality, validation


def graded(item: ProductItem | PageItem) -> quality.Grades:
    return quality.grades(item, validation.issues(item))


def test_each_field_of_a_product_has_one_state() -> None:
    item = ProductItem(url="http://a.example/", title="Knife", price=Decimal(-1), gtin="123", brand="", review_count=0)
    found = graded(item)
    assert found.present == ["title", "review_count"]
    assert found.invalid == ["price", "gtin"]
    assert {"brand", "currency", "image"} <= set(found.missing)
    assert sorted([*found.present, *found.missing, *found.invalid]) == sorted(quality.fields(ProductItem))
    assert not {"url", "key", "fetched_at", "source", "issues", "found_in"} & set(quality.fields(ProductItem))


def test_what_is_missing_is_not_invalid() -> None:
    found = graded(PageItem(url="http://a.example/", title="A page", metadata={"a": 1}))
    assert "text" in found.missing
    assert "metadata" in found.present
    assert graded(PageItem(url="http://a.example/")).invalid == []


def test_a_value_of_the_wrong_type_is_invalid() -> None:
    item = ProductItem(url="http://a.example/", title=5)  # type: ignore[arg-type]
    assert graded(item).invalid == ["title"]


def test_every_issue_about_a_wrong_value_names_its_field() -> None:
    fields = {*quality.fields(ProductItem), *quality.fields(PageItem), "url"}
    assert set(quality.INVALID.values()) <= fields
    assert quality.INVALID["unknown_currency"] == "currency"
    assert "missing_price" not in quality.INVALID
