"""A brand with a label on the page, beside structured data that is otherwise complete."""

from __future__ import annotations

import json

import pytest

from crawler.extraction import Document, extract_product
from crawler.policy.rules.domains import DomainRules, parse_rules

URL = "https://www.bikebarn.example/knife"


def page(body: str, brand: str | None = None, lang: str = "en", site: str = "") -> str:
    data = {
        "@type": "Product",
        "name": "Knife",
        "sku": "K-100",
        "brand": brand,
        "offers": {"price": "20.00", "priceCurrency": "EUR", "availability": "https://schema.org/InStock"},
    }
    return (
        f'<html lang="{lang}"><head><title>Knife</title><meta property="og:site_name" content="{site}">'
        f'<script type="application/ld+json">{json.dumps({"@context": "https://schema.org", **data})}</script>'
        f"</head><body><h1>Knife</h1><p>20,00 €</p><p>SKU: K-100</p>{body}"
    )


def brand_of(html: str, rules: DomainRules | None = None) -> tuple[str | None, str | None]:
    item = extract_product(html, URL, rules)
    assert item is not None
    return item.brand, item.found_in.get("brand")


@pytest.mark.parametrize(
    ("lang", "body", "brand"),
    [
        ("en", "<dl><dt>Brand</dt><dd>Acme</dd></dl>", "Acme"),
        ("de", "<table><tr><th>Hersteller</th><td>Ruhrtec</td></tr></table>", "Ruhrtec"),
        ("de", "<p>Marke: <a href=/m/acme>Acme</a></p>", "Acme"),
        ("fr", "<p><b>Marque :</b> Petitpas</p>", "Petitpas"),
        ("es", "<li>Fabricante: Herrasol</li>", "Herrasol"),
        ("pl", "<div>Producent: <i>Mruczek</i></div>", "Mruczek"),
        ("ru", "<li>\n  Бренд: Лавандия</li>", "Лавандия"),
        ("ja", "<table><tr><th>メーカー</th><td>碧文堂</td></tr></table>", "碧文堂"),
        ("en", "<p>MANUFACTURER</p><p>Acme Ltd</p>", "Acme Ltd"),
        ("en", "<p>Our brand is known</p>", None),
        ("en", "<label>Brand</label><select><option>Choose one<option>Acme</select>", None),
        ("en", '<a href="/brands">Brands</a><h3>Offers</h3><a href="/winery">Winery</a><h3>Categories</h3>', None),
        ("en", "<div class=related-products><p>Brand: Acme</p></div>", None),
        ("en", "<aside><h4>Brand</h4><ul><li>Acme</li></ul></aside>", None),
        ("en", "<p>Brand: new in its box, never used.</p>", None),
        ("en", "<p>Brand:</p>", None),
    ],
)
def test_a_labelled_brand_is_read_though_the_data_is_complete(lang: str, body: str, brand: str | None) -> None:
    assert brand_of(page(body, lang=lang)) == (brand, "html" if brand else None)


@pytest.mark.parametrize(
    ("stated", "site", "body", "brand"),
    [
        ("BikeBarn", "", "<dl><dt>Brand</dt><dd>Acme</dd></dl>", "Acme"),
        ("The Barn", "The Barn - bikes and more", "<p>Brand: Acme</p>", "Acme"),
        ("BikeBarn", "", "<p>Brand: BikeBarn</p>", "BikeBarn"),
        ("BikeBarn", "", "<p>Manufacturer: BikeBarn Trading GmbH</p>", "BikeBarn"),
        ("BikeBarn", "", "<p>Manufacturer: Parts of Asia Co., Ltd</p>", "BikeBarn"),
        ("BikeBarn", "", "<p>No label</p>", "BikeBarn"),
        ("BikeBarn", "", "<p>Brand: Vole & Co</p>", "Vole & Co"),
        ("Zorro", "", "<p>Brand: Acme</p>", "Zorro"),
    ],
)
def test_a_labelled_brand_replaces_only_the_shops_own_name(stated: str, site: str, body: str, brand: str) -> None:
    assert brand_of(page(body, stated, site=site))[0] == brand


def test_a_rules_brand_stays() -> None:
    rules = parse_rules('["www.bikebarn.example".fields]\nbrand = { value = "BikeBarn" }').for_url(URL)
    assert brand_of(page("<p>Brand: Acme</p>"), rules) == ("BikeBarn", "rule")


def test_without_a_label_no_tree_is_built() -> None:
    document = Document(page("<p>No label</p>"), URL)
    assert extract_product(document, document.url) is not None
    assert not document.has_tree
