"""Fields are present, missing or invalid."""

from __future__ import annotations

from decimal import Decimal

from crawler.items import PageItem, ProductItem
from crawler.policy import quality, validation
from crawler.policy.quality import Quality


def graded(item: ProductItem | PageItem) -> dict[str, Quality]:
    return dict(quality.grades(item, validation.issues(item)))


def test_each_field_of_a_product_has_a_state() -> None:
    item = ProductItem(url="http://a.example/", title="Knife", price=Decimal(-1), gtin="123", brand="", currency=None)
    found = graded(item)
    assert found["title"] is Quality.PRESENT
    assert found["price"] is found["gtin"] is Quality.INVALID
    assert found["brand"] is found["currency"] is found["image"] is Quality.MISSING
    assert not {"url", "key", "fetched_at", "source", "issues", "found_in"} & set(found)


def test_what_is_missing_is_not_invalid() -> None:
    found = graded(PageItem(url="http://a.example/", title="A page", metadata={"a": 1}))
    assert (found["text"], found["metadata"]) == (Quality.MISSING, Quality.PRESENT)
    assert Quality.INVALID not in graded(PageItem(url="http://a.example/")).values()


def test_a_value_of_the_wrong_type_is_invalid() -> None:
    item = ProductItem(url="http://a.example/", title=5)  # type: ignore[arg-type]
    assert graded(item)["title"] is Quality.INVALID


def test_every_issue_about_a_wrong_value_names_its_field() -> None:
    fields = {*quality.fields(ProductItem), *quality.fields(PageItem), "url"}
    assert set(quality.INVALID.values()) <= fields
    assert quality.INVALID["unknown_currency"] == "currency"
    assert "missing_price" not in quality.INVALID
