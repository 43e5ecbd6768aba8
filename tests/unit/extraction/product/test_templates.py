"""Forms in which the default templates of shop systems write prices, identifiers, brands and stock."""

from __future__ import annotations

from decimal import Decimal

import pytest

from crawler.extraction import extract_product
from crawler.extraction.words import values
from crawler.items import ProductItem

BUY = "<button type=submit>Add to cart</button>"


def spans(text: str) -> str:
    """Each word in an element of its own."""
    return "<span>" + "".join(f"<i>{each}</i>" for each in text.split()) + "</span>"


def found(body: str, lang: str = "en", url: str = "https://shop.example.com/knife") -> ProductItem:
    item = extract_product(f'<html lang="{lang}"><title>Knife | Shop</title><body>{body}', url)
    assert item is not None
    return item


@pytest.mark.parametrize(
    ("price", "amount", "currency"),
    [
        ("R$ 1 . 299 , 90", "1299.90", "BRL"),
        ("€ 150 . 000 , 00", "150000.00", "EUR"),
        ("$ 1 , 234 , 567 . 50", "1234567.50", "USD"),
        ("$ 1 , 299", "1299", "USD"),
        ("€ 774 , 95", "774.95", "EUR"),
    ],
)
def test_thousands_and_cents_in_elements_of_their_own(price: str, amount: str, currency: str) -> None:
    part = f"<h1>Knife</h1><p class=price>{spans(price)}</p><p>Up to 3 x <b>{spans('$ 4')}</b></p>{BUY}"
    item = found(part)
    assert (item.price, item.currency) == (Decimal(amount), currency)


def test_a_number_of_three_digits_elsewhere_is_no_group() -> None:
    item = found(f"<h1>Knife</h1><p class=price>{spans('$ 49 .')}</p><p>120</p>{BUY}")
    assert item.price == Decimal(49)


def test_the_lower_end_of_a_range_whose_currency_stands_outside() -> None:
    part = "<dl><dt>販売価格(税込)：</dt><dd class=price><span>17,950～29,140</span> 円</dd></dl>"
    item = found(f"<h2>Knife</h2>{part}<button>カートに入れる</button>", "ja")
    assert (item.price, item.currency) == (Decimal(17950), "JPY")


def test_a_button_apart_is_no_label_of_the_price_after_it() -> None:
    panels = "<div><div><div><button>Shipping costs</button></div></div></div>"
    price = "<div><div><div><p><span>$64.00</span></p></div></div></div>"
    item = found(
        f"<div><h2>Knife</h2>{panels}</div><div><img></div><div>{price}</div><button disabled>Sold out</button>"
    )
    assert (item.price, item.availability) == (Decimal(64), "OutOfStock")


@pytest.mark.parametrize("side", ["<b class=price>$80.00</b>", "<p>Special</p><b class=specialPrice>$19.00</b>"])
def test_a_price_that_is_a_heading_by_the_products_is_its_own(side: str) -> None:
    own = f"<form><div><h1>$35.00</h1><h1>Knife</h1></div><p>A text.</p>{BUY}</form>"
    assert found(f"{own}<div><a href=/x>Fork</a>{side}</div>").price == Decimal(35)


@pytest.mark.parametrize(
    ("lang", "net"),
    [
        ("de", "Preis ohne Steuer: 60,00€"),
        ("it", "Prezzo imponibile: 60,00€"),
        ("pl", "Cena bez podatku: 60,00€"),
        ("cs", "Cena bez daně: 60,00€"),
        ("pt", "Preço sem impostos: 60,00€"),
        ("tr", "Fiyat (vergiler hariç): 60,00€"),
        ("ru", "Цена без налога: 60,00€"),
    ],
)
def test_the_price_in_a_heading_beside_one_without_tax(lang: str, net: str) -> None:
    prices = f"<ul><li><h2>72,00€</h2></li><li>{net}</li></ul>"
    assert found(f"<h1>Knife</h1>{prices}<p>SKU: A-100</p>{BUY}", lang).price == Decimal(72)


PRICED = f"<h1>Knife</h1><p class=price>$30.00</p>{BUY}"


@pytest.mark.parametrize(
    ("shown", "sku"),
    [
        ("<li>Art.Nr.: 388.27</li>", "388.27"),
        ("<dl><dt>SKU</dt><dd>102.345</dd></dl>", "102.345"),
        ("<p>SKU: <b class=price>388.27</b></p>", None),
        ("<p>SKU: 388.27 USD</p>", None),
        ("<p>SKU: 38.27</p>", None),
        ("<p>Width: 388.27</p>", None),
        ("<div>UGS LK876-C</div>", "LK876-C"),
        ("<p>Varenummer (SKU): AB-100</p>", "AB-100"),
        ("<p>Referentie: AB-100</p>", "AB-100"),
        ("<p>Referință: AB-100</p>", "AB-100"),
        ("<p>製品番号：AB-100</p>", "AB-100"),
    ],
)
def test_labelled_identifiers(shown: str, sku: str | None) -> None:
    assert found(PRICED + shown).sku == sku


def test_the_label_in_a_stated_identifier_is_no_part_of_it() -> None:
    assert [values.identifier(each) for each in ("UGS LK876-C", "SKU 00012", "UGS1")] == ["LK876-C", "00012", "UGS1"]


def test_the_name_in_another_products_card_is_no_brand() -> None:
    card = "<div><a href=/p/fork><img><h2 class=title><span class=productBrand>Fork</span></h2></a><p>$4</p></div>"
    assert found(f"<main>{PRICED}</main><div>{card * 2}</div>").brand is None
    link = '<a href="/acme" class="brand-name">Acme</a>'
    assert found(f"<main>{link}{PRICED}</main><div>{card * 2}</div>").brand == "Acme"


@pytest.mark.parametrize("depth", [0, 3, 4, 6])
def test_nor_is_one_deep_in_that_card(depth: int) -> None:
    name = "<div>" * depth + "<b class=brand>Acme</b>" + "</div>" * depth
    card = f"<div>{name}<h3><a href=/p/b-7>Another lamp</a></h3></div>"
    assert found(f"<main>{PRICED}</main>{card}").brand is None


@pytest.mark.parametrize(
    ("lang", "label", "availability"),
    [("es", "Sin stock", "OutOfStock"), ("pt", "Sem estoque", "OutOfStock"), ("en", "Send", "InStock")],
)
def test_a_disabled_button_without_text_says_that_the_stock_is_out(lang: str, label: str, availability: str) -> None:
    bought = f"<h1>Knife</h1><p class=price>$30.00</p><p>SKU: A-1</p><form><input type=submit value='{label}' disabled>"
    assert found(bought, lang, "https://shop.example.com/product/knife").availability == availability
