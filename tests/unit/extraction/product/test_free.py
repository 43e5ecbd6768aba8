"""Products that cost nothing: zero is a price only where the page says so."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest

from crawler.extraction import extract_product
from crawler.items import ProductItem


def found(body: str, lang: str = "en", **offer: Any) -> ProductItem:
    stated = {"@type": "Product", "name": "Puzzle", "sku": "P-1", "offers": {"priceCurrency": "EUR"} | offer}
    html = f'<html lang="{lang}"><title>Puzzle</title><script type="application/ld+json">{json.dumps(stated)}</script>'
    item = extract_product(f"{html}<h1>Puzzle</h1>{body}", "https://shop.example.com/p/puzzle")
    assert item is not None
    return item


@pytest.mark.parametrize(
    ("lang", "body", "price"),
    [
        ("en", "<p>Free</p><button>Download</button>", 0),
        ("de", "<p class=preis>Kostenlos</p><h2>Paket</h2><p class=preis>9,99 €</p>", "0"),
        ("fi", "<div><span>Hinta:</span> <b>Ilmainen</b></div>", "0,00"),
        ("ru", "<div class=price><span>Бесплатно</span></div><button>Скачать</button>", 0.0),
        ("ja", "<p><strong>無料</strong></p>", "0 円"),
        ("vi", "<span class='product-price'>Miễn phí</span>", "0.00"),
    ],
)
def test_what_page_and_structured_data_call_free_costs_zero(lang: str, body: str, price: Any) -> None:
    item = found(body, lang, price=price)
    assert (item.price, item.currency, item.found_in["price"]) == (Decimal(0), "EUR", "html")
    assert item.availability == "InStock"


@pytest.mark.parametrize(
    ("lang", "body", "price"),
    [
        ("en", "<p>Ask for a price</p>", None),
        ("en", "<p>Shipping:</p><p>Free</p>", None),
        ("de", "<p>Versand</p><p class=price>Gratis</p>", None),
        ("en", "<a href=/free>Free</a>", None),
        ("fr", "<p>Livraison</p><p>Gratuit</p><p class=prix>12,50 €</p>", "12.50"),
        ("es", "<p>Gratis</p><p>con tu compra</p><p class=precio>30 €</p>", "30"),
        ("it", "<div class=related><p class=prezzo>Gratis</p></div>", None),
    ],
)
def test_a_stated_zero_alone_is_no_price(lang: str, body: str, price: str | None) -> None:
    item = found(body, lang, price="0.00")
    assert item.price == (Decimal(price) if price else None)
    assert item.currency == ("EUR" if price else None)


def test_a_currency_without_a_price_says_nothing() -> None:
    item = found("<p>Price on request</p>")
    assert (item.price, item.currency) == (None, None)
    assert "currency" not in item.found_in
