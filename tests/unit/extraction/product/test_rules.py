"""What rules find, and what they miss."""

from __future__ import annotations

from crawler.extraction import Document, extract_product, missing_required
from crawler.extraction.product.rules import raw_fields
from crawler.policy.rules.domains import parse_rules
from tests.unit.extraction.shop import URL, json_ld, page

REQUIRED = '[default]\nrequired = ["title", "review_count", { css = "p.stock" }, { css = "#cart" }]'


def test_what_is_required_and_missing_is_named() -> None:
    rules = parse_rules(REQUIRED).default
    document = Document(page(json_ld()), URL)
    assert missing_required(document, extract_product(document, URL, rules), rules) == ["review_count", "#cart"]


def test_nothing_extracted_lacks_every_field() -> None:
    rules = parse_rules(REQUIRED).default
    assert missing_required(Document("<p>Are you a robot?", URL), None, rules) == [
        "title",
        "review_count",
        "p.stock",
        "#cart",
    ]


def test_the_first_rule_that_finds_something_counts() -> None:
    rules = parse_rules(
        """
[default.fields]
title = ["h2.none", "h1 b", "h1"]
sku = { css = "p", pattern = "No (\\\\d+)" }
brand = { css = "p", pattern = "No" }
price = "span"
image = "img::attr(src)"
gtin = "h1::attr(data-gtin)"
"""
    ).default
    html = "<h1 data-gtin><b> </b>A <i>B</i></h1><p>x</p><p>No 77</p><span>12<sup>50</sup></span><img><img src=a.jpg>"
    assert raw_fields(Document(html, URL), rules) == {
        "title": "A B",
        "sku": "77",
        "brand": "No",
        "price": "12.50",
        "image": "a.jpg",
    }
