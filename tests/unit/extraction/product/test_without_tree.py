"""Pages that say themselves that they are about no product cost no tree."""

from __future__ import annotations

import json

import pytest

from crawler.extraction import Document, extract_product
from crawler.extraction.visible import identifiers
from crawler.policy.rules.domains import parse_rules

URL = "https://example.com/read/lamps"
POSTS = '<div itemscope itemtype="https://schema.org/Comment"><p itemprop="text">Mine broke.</p></div>'
SOLD = (
    '<div itemscope itemtype="https://schema.org/Product"><b itemprop="name">Desk lamp</b>'
    '<div itemprop="offers" itemscope itemtype="https://schema.org/Offer"><b itemprop="price">20.00</b>'
    '<meta itemprop="priceCurrency" content="EUR"></div></div>'
)


def page(stated: dict[str, object], body: str, title: str = "Lamps compared | Example", head: str = "") -> Document:
    script = f'<script type="application/ld+json">{json.dumps(stated)}</script>'
    return Document(f"<html><head><title>{title}</title>{head}{script}</head><body>{body}</body></html>", URL)


@pytest.mark.parametrize("body", ["<h1>Lamps</h1><p>19.90 €</p>", POSTS])
@pytest.mark.parametrize(
    "stated",
    [
        {"@type": "Article", "headline": "Lamps compared"},
        {"@type": "Service", "name": "Lamps compared | Example"},
        {"@type": "Event", "name": "Lamps compared"},
        {"@type": "QAPage", "mainEntity": {"@type": "Question", "name": "Which lamp?"}},
        {"@type": "Recipe", "name": "Something else"},
    ],
)
def test_a_page_named_in_its_title_is_not_parsed(stated: dict[str, object], body: str) -> None:
    document = page(stated, body)
    assert extract_product(document, URL) is None
    assert not document.has_tree


def test_a_title_with_character_references_is_read() -> None:
    document = page({"@type": "Article", "headline": "Lamps & shades"}, "", title="Lamps &amp; shades")
    assert extract_product(document, URL) is None
    assert not document.has_tree


def test_an_article_that_only_its_heading_names_is_still_known() -> None:
    body = "<h1>Lamps compared</h1><p>19.90 €</p><button>Add to cart</button>"
    document = page({"@type": "Article", "headline": "Lamps compared"}, body, title="Example")
    assert extract_product(document, URL) is None


def test_an_organisation_beside_a_product_leaves_it_to_the_page() -> None:
    body = "<h1>Desk lamp</h1><p>19.90 €</p><button>Add to cart</button>"
    document = page({"@type": "Organization", "name": "Example"}, body, title="Desk lamp | Example")
    item = extract_product(document, URL)
    assert item is not None
    assert item.title == "Desk lamp"


@pytest.mark.parametrize("sold", [SOLD, SOLD.replace('"https://schema.org/Product"', "schema:product")])
def test_markup_of_a_product_on_an_article_counts(sold: str) -> None:
    document = page({"@type": "Article", "headline": "Lamps compared"}, f"<h1>Desk lamp</h1>{sold}")
    item = extract_product(document, URL)
    assert item is not None
    assert str(item.price) == "20.00"


def test_a_page_that_calls_itself_a_product_keeps_its_breadcrumbs() -> None:
    crumbs = (
        '<ol itemscope itemtype="https://schema.org/BreadcrumbList"><li itemprop="itemListElement" itemscope '
        'itemtype="https://schema.org/ListItem"><b itemprop="name">Lighting</b></li></ol><h1>Desk lamp</h1><p>19.90 €'
    )
    stated: dict[str, object] = {"@type": "Article", "headline": "Lamps compared"}
    called = page(stated, crumbs, head='<meta property="og:type" content="product">')
    item = extract_product(called, URL)
    assert item is not None
    assert item.category == "Lighting"
    rules = parse_rules('["example.com"]\nproduct = "/read/"').for_url(URL)
    told = extract_product(page(stated, crumbs), URL, rules)
    assert told is not None
    assert told.category == "Lighting"


def test_a_product_that_lists_others_keeps_its_breadcrumbs() -> None:
    crumbs = (
        '<ol itemscope itemtype="https://schema.org/BreadcrumbList"><li itemprop="itemListElement" itemscope '
        'itemtype="https://schema.org/ListItem"><b itemprop="name">Lighting</b></li></ol>'
    )
    others = [{"@type": "ListItem", "item": {"@type": "Product", "name": f"Lamp {each}"}} for each in range(3)]
    script = json.dumps({"@type": "ItemList", "itemListElement": others})
    html = (
        f'<html lang="en"><title>Desk lamp</title><script type="application/ld+json">{script}</script><body>{crumbs}'
        '<h1>Desk lamp</h1><p class="price">€19.90</p><button>Add to cart</button><p>SKU: AB-1234</p>'
    )
    item = extract_product(html, "https://example.com/product/desk-lamp-12345")
    assert item is not None
    assert item.category == "Lighting"


def test_without_price_and_button_no_identifier_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    def asked(_: object) -> bool:
        raise AssertionError("neither it nor a denied stock could make this page a product's")

    monkeypatch.setattr(identifiers, "has_label", asked)
    body = "<h1>Guide</h1><p>Model: X-100</p><p>Sold out</p>"
    assert extract_product(f"<html lang=en><title>Guide</title>{body}", "https://example.com/guide") is None
