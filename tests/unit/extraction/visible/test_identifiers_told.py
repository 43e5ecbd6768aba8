"""Numbers of hidden fields and URLs: which of them people know a product by, and how the page writes them."""

from __future__ import annotations

import pytest

from crawler.extraction import extract_product
from crawler.items import ProductItem
from tests.unit.extraction.shop import product


def read(body: str, url: str) -> ProductItem:
    html = f"<title>Steel knife</title><h1>Steel knife</h1><p class=price>$20.00</p>{body}<button>Add to cart</button>"
    return product(html, url)


@pytest.mark.parametrize(
    ("url", "body", "sku"),
    [
        ("https://shop.example.com/offer_204511.html", "", None),
        ("https://shop.example.com/offer_204511.html", "<p>Listed as <b>204511</b></p>", "204511"),
        ("https://shop.example.com/offer_204511.html", "<p>1 of 2045110</p>", None),
        (
            "https://shop.example.com/offer_204511.html",
            "<form><input type=hidden name=pid value=204511></form>",
            "204511",
        ),
        ("https://shop.example.com/product/204511/steel-knife", "", "204511"),
        ("https://shop.example.com/product/1409", "", None),
        ("https://shop.example.com/product/1409", "<form><input type=hidden name=product value=1409></form>", None),
        ("https://shop.example.com/product/1409", "<p>Code <i>1409</i></p>", "1409"),
        ("https://shop.example.com/knife?id=204511", "", None),
        ("https://shop.example.com/knife?childSku=204511", "", "204511"),
        ("https://shop.example.com/knife", "<div data-product-id=204511></div>", None),
        ("https://shop.example.com/knife", "<div data-product-sku=204511></div>", "204511"),
    ],
)
def test_a_number_counts_that_people_know(url: str, body: str, sku: str | None) -> None:
    assert read(body, url).sku == sku


@pytest.mark.parametrize("shown", ["466/7999", "466-7999", "466.79.99"])
def test_a_number_of_the_url_is_written_as_the_page_shows_it(shown: str) -> None:
    assert read(f"<p>{shown}</p>", "https://shop.example.com/product/4667999").sku == shown
    assert read(f"<p>Grey | {shown}</p>", "https://shop.example.com/knife-p004667999.html").sku == shown


@pytest.mark.parametrize(
    ("text", "sku"),
    [("466/7999", "466/7999"), ("Cat. 466/7999", "4667999"), ("", "4667999"), ("In stock", "4667999")],
)
def test_an_identifier_of_microdata_is_written_as_its_element_shows_it(text: str, sku: str) -> None:
    body = (
        f'<div itemscope itemtype="https://schema.org/Product"><span itemprop="sku" content="4667999">{text}</span>'
        '<p itemprop="name">Steel knife</p></div>'
    )
    assert read(body, "https://shop.example.com/knife").sku == sku


@pytest.mark.parametrize(
    ("classes", "body", "sku"),
    [
        ("single postid-34121 theme", "", None),
        ("single postid-34121", "", None),
        ("single postid-341212", "", "34121"),
        ("single postid-34121", "<p>SKU: 34121</p>", "34121"),
        ("single", "", "34121"),
    ],
)
def test_the_number_of_its_post_is_no_identifier_of_a_product(classes: str, body: str, sku: str | None) -> None:
    html = (
        '<head><title>Steel knife</title><script type="application/ld+json">{"@type": "Product", "name": "Steel knife",'
        ' "sku": 34121, "offers": {"@type": "Offer", "price": "20", "priceCurrency": "EUR", "availability": "InStock"}}'
        f'</script></head><body class="{classes}"><h1>Steel knife</h1>{body}'
    )
    item = extract_product(html, "https://shop.example.com/product/steel-knife/")
    assert item is not None
    assert item.sku == sku


@pytest.mark.parametrize(
    ("body", "sku"),
    [
        ("<p class=product-code>AB-123</p>", "AB-123"),
        ("<p class=x__catNumber>466/7999</p>", "466/7999"),
        ("<p id=sku><b>AB-123</b></p>", "AB-123"),
        ("<p data-testid=product-sku>AB-123</p>", "AB-123"),
        ("<p itemprop=productID>AB-123</p>", "AB-123"),
        ("<p class=articleNumber>204511</p>", "204511"),
        ("<p class=product-code>New in 2024</p>", None),
        ("<p class=page-number>204511</p>", None),
        ("<p class=sku-list><b>AB-123</b><b>AB-124</b></p>", None),
        ("<div class=related><p class=sku>AB-123</p></div>", None),
        ("<p>Brand: Acme SKU: AB-123</p>", "AB-123"),
        ("<p>In stock. SKU: AB-123</p>", "AB-123"),
    ],
)
def test_an_element_named_for_it_has_the_identifier(body: str, sku: str | None) -> None:
    assert read(body, "https://shop.example.com/knife").sku == sku


@pytest.mark.parametrize(
    ("stated", "body", "sku"),
    [
        ("44012345678901", "", None),
        ("44012345678901", "<p>44012345678901</p>", "44012345678901"),
        ("4006381333931", "", "4006381333931"),
        ("1b4e28ba-2fa1-11d2-883f-0016d3cca427", "", None),
        ("gid://shopify/ProductVariant/440123", "", None),
        ("https://shop.example.com/p/1", "<p>SKU: KN-1</p>", "KN-1"),
        ("44012345678901", "<p>SKU: KN-1</p>", "KN-1"),
    ],
)
def test_a_stated_number_of_a_database_is_no_identifier(stated: str, body: str, sku: str | None) -> None:
    html = (
        f'<title>Steel knife</title><script type="application/ld+json">{{"@type": "Product", "sku": "{stated}",'
        ' "name": "Steel knife", "offers": {"@type": "Offer", "price": "20", "priceCurrency": "EUR",'
        f' "availability": "InStock"}}}}</script><h1>Steel knife</h1>{body}'
    )
    item = extract_product(html, "https://shop.example.com/product/steel-knife/")
    assert item is not None
    assert item.sku == sku


def test_a_stated_number_that_is_its_address_too_is_the_products() -> None:
    html = (
        '<title>Steel knife</title><script type="application/ld+json">{"@type": "Product", "sku": "9300000011223344",'
        ' "name": "Steel knife", "offers": {"@type": "Offer", "price": "20", "priceCurrency": "EUR"}}</script>'
        "<h1>Steel knife</h1>"
    )
    item = extract_product(html, "https://shop.example.com/p/steel-knife/9300000011223344/")
    assert item is not None
    assert item.sku == "9300000011223344"


@pytest.mark.parametrize(
    ("shown", "sku"),
    [
        ("SKU: CHL-23-BLU-M", "CHL-23-BLU-M"),  # of the variant, which is shown
        ("SKU: CHL-23/M", "CHL-23/M"),
        ("SKU: CHL-23", "CHL-23"),
        ("CHL-23 - a shirt. SKU: X-1000", "CHL-23"),
        ("Shirt CHL-23- SKU: X-1000", "CHL-23"),
    ],
)
def test_the_beginning_of_a_variants_identifier_is_not_shown(shown: str, sku: str) -> None:
    offer = '"offers":{"price":"59","priceCurrency":"EUR","availability":"InStock"}'
    stated = f'<script type="application/ld+json">{{"@type":"Product","name":"Shirt","sku":"CHL-23",{offer}}}</script>'
    texts = "".join(f"<p>{each}</p>" for each in shown.replace("SKU", "|SKU").split("|"))
    html = f"<title>Shirt</title>{stated}<h1>Shirt</h1><p>59 €</p>{texts}<button>Add to cart</button>"
    item = extract_product(html, "https://shop.example.com/shirt")
    assert item is not None
    assert item.sku == sku
