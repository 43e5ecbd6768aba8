"""A stated price that the page shows beside another currency than the stated one."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest

from crawler.extraction import Document, extract_product
from crawler.extraction.visible.view import View
from crawler.extraction.visible.visible_price import best_price
from tests.unit.extraction.shop import shown_prices


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


@pytest.mark.parametrize(
    ("stated", "currency", "shown", "asked"),
    [
        ("2400", "USD", "$24.00", "24"),
        ("2995", "EUR", "29,95 €", "29.95"),
        ("2400", "USD", "$2,400", "2400"),
        ("2400", "JPY", "2,400円", "2400"),
        ("2400", "USD", "$19.00", "2400"),
    ],
)
def test_complete_data_states_cents(stated: str, currency: str, shown: str, asked: str) -> None:
    offer = {"price": stated, "priceCurrency": currency, "availability": "https://schema.org/InStock"}
    product = {"@type": "Product", "name": "Candle", "sku": "HK-29", "brand": "Glow", "offers": offer}
    script = f'<script type="application/ld+json">{json.dumps(product)}</script>'
    html = (
        f"<title>Candle</title>{script}<body><h1>Candle</h1><p class=price>{shown}</p><p>HK-29</p><button>Buy</button>"
    )
    item = extract_product(html, "https://shop.example.com/p/candle")
    assert item is not None
    assert item.price == Decimal(asked)


@pytest.mark.parametrize(
    ("lang", "label"),
    [
        ("fr", "Prix adhérent"),
        ("es", "Precio socio"),
        ("it", "Prezzo soci"),
        ("ja", "会員価格"),
        ("ru", "Клубная цена"),
    ],
)
def test_a_members_price_is_not_asked_of_all(lang: str, label: str) -> None:
    html = f"<html lang={lang}><title>Vase</title><body><h1>Vase</h1><p><b>18,50 €</b></p><p>{label}: 16,65 €</p>"
    best = best_price(shown_prices(View(Document(html, "https://shop.example.com/p/vase"))))
    assert best is not None
    assert best.amount == Decimal("18.50")


@pytest.mark.parametrize(
    ("shown", "price", "currency"),
    [("CHF 89.–", "89", "CHF"), ("98,00 €", "98", "EUR"), ("£85", "98", "EUR"), ("98,00 € / CHF 89.–", "98", "EUR")],
)
def test_of_offers_in_several_currencies_the_shown_one_counts(shown: str, price: str, currency: str) -> None:
    offers = [{"price": "98", "priceCurrency": "EUR"}, {"price": "89", "priceCurrency": "CHF"}]
    stated = {"@type": "Product", "name": "Hut", "sku": "H-1", "offers": offers}
    script = f'<script type="application/ld+json">{json.dumps(stated)}</script>'
    html = f"<html lang=de><title>Hut</title>{script}<h1>Hut</h1><p>{shown}</p><button>In den Warenkorb</button>"
    item = extract_product(html, "https://shop.example.com/p/hut")
    assert item is not None
    assert (item.price, item.currency) == (Decimal(price), currency)


@pytest.mark.parametrize(
    ("lang", "net", "gross"),
    [
        ("en", "<b>£100.00</b> <i>ex VAT</i>", "<b>£120.00</b> <i>inc VAT</i>"),
        ("nl", "€ 100,00 <i>excl. btw</i>", "€ 121,00 <i>incl. btw</i>"),
        ("de", "<i>zzgl. MwSt.</i> <b>100,00 €</b>", "<i>inkl. MwSt.</i> <b>119,00 €</b>"),
        ("fr", "<b>100,00 €</b> HT", "120,00 € TTC"),
        ("cs", "bez DPH: 100 Kč", "<b>121 Kč</b>"),
        ("hu", "100 Ft ÁFA nélkül", "127 Ft"),
    ],
)
def test_complete_data_state_a_price_without_tax(lang: str, net: str, gross: str) -> None:
    currency = {"en": "GBP", "cs": "CZK", "hu": "HUF"}.get(lang, "EUR")
    offer = {"price": "100", "priceCurrency": currency, "availability": "https://schema.org/InStock"}
    product = {"@type": "Product", "name": "Candle", "sku": "HK-29", "brand": "Glow", "offers": offer}
    head = f'<html lang={lang}><title>Candle</title><script type="application/ld+json">{json.dumps(product)}</script>'

    def price(shown: str) -> str:
        body = f"<body><h1>Candle</h1><p>HK-29</p>{shown}<button>Buy</button>"
        item = extract_product(head + body, "https://shop.example.com/p/candle")
        return str(item.price) if item is not None else ""

    asked = price(f"<p class=price>{gross}</p><p>{net}</p>")
    assert asked in gross.replace(",", ".")
    assert price(f"<p class=price>{net}</p>") == "100"


def test_a_label_behind_another_price_says_nothing_of_the_stated_one() -> None:
    offer = {"price": "120", "priceCurrency": "GBP", "availability": "https://schema.org/InStock"}
    product = {"@type": "Product", "name": "Candle", "sku": "HK-29", "brand": "Glow", "offers": offer}
    head = f'<title>Candle</title><script type="application/ld+json">{json.dumps(product)}</script>'
    body = "<body><h1>Candle</h1><p>HK-29</p><p>£100.00 ex VAT £120.00</p><button>Buy</button>"
    item = extract_product(head + body, "https://shop.example.com/p/candle")
    assert item is not None
    assert str(item.price) == "120"
