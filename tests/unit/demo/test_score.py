"""The score of hand-made documents: what counts as lost, and what as one too many."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import pytest

from demo.score import score


def product(number: int, **changes: Any) -> dict[str, Any]:
    known = {"sku": f"2-{number}", "title": f"Kettle {number}", "price": f"{number}.50", "currency": "EUR"}
    return {"url": f"http://127.0.0.2:8000/product/kettle-{number}"} | known | changes


TRUTH: Mapping[str, Any] = {"products": [product(1), product(2)], "retired": [product(3)]}
COMPLETE = [product(1), product(2)]


def test_a_complete_crawl_is_perfect() -> None:
    result = score(TRUTH, COMPLETE)

    assert result.perfect()
    assert result.line() == "demo: 2 products stored, 0 lost, 0 duplicated"


def test_a_price_is_compared_as_a_number() -> None:
    assert score(TRUTH, [product(1, price=Decimal("1.5")), product(2, price=2.5)]).perfect()


def test_an_absent_product_is_lost() -> None:
    result = score(TRUTH, [product(1)])

    assert result.lost == (f"{product(2)['url']}: absent",)
    assert result.line() == "demo: 1 products stored, 1 lost, 0 duplicated"


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"title": "Kettle"}, "title is Kettle, not Kettle 2"),
        ({"price": "99.00"}, "price is 99.00, not 2.50"),
        ({"price": None}, "price is None, not 2.50"),
        ({"currency": "USD"}, "currency is USD, not EUR"),
        ({"currency": None, "price": "1"}, "currency is None, not EUR; price is 1, not 2.50"),
    ],
)
def test_a_wrong_field_is_a_loss_that_says_why(changes: dict[str, Any], why: str) -> None:
    assert score(TRUTH, [product(1), product(2, **changes)]).lost == (f"{product(2)['url']}: {why}",)


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.2:8000/Product/KETTLE-2",
        "http://127.0.0.2:8000/sale/kettle-2",
        "http://127.0.0.2:8000/product/kettle-2?utm_source=x",
        "http://127.0.0.2:8000/old/2-2",
    ],
)
def test_a_second_document_of_a_product_is_a_duplicate(url: str) -> None:
    result = score(TRUTH, [product(2, url=url), *COMPLETE])

    assert result.duplicated == (url,)
    assert not result.lost


def test_a_document_of_no_product_is_one_too_many() -> None:
    stray = product(9, url="http://127.0.0.2:8000/c/garden")
    assert score(TRUTH, [*COMPLETE, stray]).duplicated == (stray["url"],)


def test_a_product_no_longer_sold_may_keep_one_document() -> None:
    old = product(3, price="0.01")

    assert score(TRUTH, [*COMPLETE, old]).perfect()
    assert score(TRUTH, [*COMPLETE, old, old]).duplicated == (old["url"],)
