"""Which number of a product in a page's state is the shop's identifier."""

from __future__ import annotations

import json
from typing import Any

import pytest

from crawler.extraction import extract_product


def sku(product: dict[str, Any], query: str = "", **more: Any) -> str | None:
    state = {"product": {"title": "Kettle", "price": 4990, "currency": "EUR"} | product} | more
    html = f"<title>Kettle</title><h1>Kettle</h1><script>window.state = {json.dumps(state)}</script>"
    item = extract_product(html, f"https://shop.example.com/kettle{query}")
    assert item is not None
    return item.sku


@pytest.mark.parametrize(
    ("product", "query", "expected"),
    [
        ({"id": 7334598311991, "variants": [{"id": 41, "sku": "KE-1"}]}, "", "KE-1"),
        ({"id": 7334598311991, "variants": [{"id": 41, "sku": "KE-1"}, {"id": 42, "sku": "KE-1"}]}, "", "KE-1"),
        ({"id": 7334598311991, "variants": [{"sku": "KE-1"}, {"sku": "KE-2"}]}, "", None),
        (
            {"id": 1, "variants": [{"id": 40123, "sku": "KE-1"}, {"id": 40124, "sku": "KE-2"}]},
            "?variant=40124",
            "KE-2",
        ),
        (
            {"variants": {"edges": [{"node": {"id": "gid://shopify/ProductVariant/40123", "sku": "KE-1"}}]}},
            "",
            "KE-1",
        ),
        ({"variants": {"nodes": [{"sku": "KE-1"}, {"sku": "KE-2"}]}, "selectedVariant": {"sku": "KE-2"}}, "", "KE-2"),
        ({"masterVariant": {"sku": "KE-7"}, "variants": [{"sku": "KE-8"}]}, "", "KE-7"),
        ({"sku": "KE-0", "variants": [{"sku": "KE-1"}]}, "", "KE-0"),
        ({"id": "0e5a1f9c7b3d4e21a6c8f001"}, "", None),
        ({"id": "2b7c9d4e-1f20-4a5b-8c6d-7e8f9a0b1c2d"}, "", None),
        ({"productId": "gid://shop/Product/20451"}, "", "20451"),
        ({"id": 20451, "variants": [{"id": 1}, {"id": 2}]}, "", "20451"),
        ({"article_number": "466/7999"}, "", "466/7999"),
        ({"variants": "none", "id": 20451}, "", "20451"),
        ({"variants": [None, 3, {"node": 4}], "id": 20451}, "", "20451"),
        ({"variants": {"edges": [{"cursor": "x"}]}, "selectedVariant": [], "id": 20451}, "", "20451"),
    ],
)
def test_the_variants_identifier_and_not_the_databases(
    product: dict[str, Any], query: str, expected: str | None
) -> None:
    assert sku(product, query) == expected
