"""A stated price that the page shows beside another currency than the stated one."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest

from crawler.extraction import extract_product


@pytest.mark.parametrize(
    ("lang", "body", "stated", "currency", "price"),
    [
        (
            "en",
            "<p class=price>€20.50</p><ul><li>USD: <b>22.40 USD</b><li>GBP: <b>£17</b></ul>",
            "22.40",
            "EUR",
            "20.50",
        ),
        ("de", "<p class=preis>CHF 100</p><p class=preis>(EUR 104,50)</p>", "104.50", "CHF", "100"),
        ("ru", "<p class=price>3 990 ₽</p><p>≈ 43,20 €</p>", "43.20", "RUB", "3990"),
        ("sv", "<p class=pris>250 kr</p><p class=pris>22 €</p>", "22", "SEK", "250"),
        ("de", "<p class=preis>CHF 100</p><p class=preis>(EUR 104,50)</p>", "100", "CHF", "100"),
        ("en", "<p class=price>$49</p>", "49", "CAD", "49"),
        ("zh", "<p class=price>$1,290</p><p>US$ 40</p>", "1290", "TWD", "1290"),
        ("sv", "<p class=pris>22 €</p><p class=pris>22 €</p>", "22", "EUR", "22"),
        ("en", "<p class=price>€15</p><div class=related><p>Bowl</p><p class=price>$9</p></div>", "15", "USD", "15"),
    ],
)
def test_a_number_of_another_currency(lang: str, body: str, stated: str, currency: str, price: str) -> None:
    product = {"@type": "Product", "name": "Vase", "offers": {"price": stated, "priceCurrency": currency}}
    script = f'<script type="application/ld+json">{json.dumps(product)}</script>'
    html = f'<html lang="{lang}"><title>Vase</title>{script}<h1>Vase</h1>{body}<button>Add to cart</button>'
    item = extract_product(html, "https://shop.example.com/p/vase")
    assert item is not None
    assert (item.price, item.currency) == (Decimal(price), currency)


@pytest.mark.parametrize(
    ("old", "now", "asked"),
    [
        ("<span class=old-price>18 990 Kč</span>", "<b class=price-final>15 990 Kč</b>", "15990"),
        ("<del>18.990 Kč</del>", "<b class=price>15.990 Kč</b>", "15990"),
        ("<s>18990 Kč</s>", "<b class=price>15990 Kč</b>", "15990"),
        ("<del>18&nbsp;990 Kč</del>", "<b class=price>15&nbsp;990 Kč</b>", "15990"),
        ("<del>21 990 Kč</del>", "<b class=price>18 990 Kč</b>", "18990"),
        ("<del>21990 Kč</del>", "<b class=price>18990 Kč</b>", "18990"),
    ],
)
def test_complete_data_is_late_of_a_price_with_thousands(old: str, now: str, asked: str) -> None:
    offer = {"price": "18990", "priceCurrency": "CZK", "availability": "https://schema.org/InStock"}
    product = {"@type": "Product", "name": "Kolo", "sku": "HK-29", "brand": "Rapid", "offers": offer}
    script = f'<script type="application/ld+json">{json.dumps(product)}</script>'
    html = f"<html lang=cs><title>Kolo</title>{script}<body><h1>Kolo</h1>{old}{now}<p>HK-29</p><button>Koupit</button>"
    item = extract_product(html, "https://shop.example.cz/p/kolo")
    assert item is not None
    assert item.price == Decimal(asked)
