"""Templates of shop systems whose elements have no names, or names made anew at each release: words and places tell."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest

from crawler.extraction import extract_product
from crawler.items import ProductItem

BUY = "<button>{}</button>"
BUYS = {
    "bg": "Купи", "de": "In den Warenkorb", "en": "Add to cart", "es": "Agregar al carrito", "fi": "Lisää ostoskoriin",
    "fr": "Ajouter au panier", "hu": "Kosárba", "it": "Aggiungi al carrello", "nl": "In winkelwagen",
    "ko": "장바구니", "pl": "Do koszyka", "pt": "Comprar", "ru": "В корзину", "sv": "Köp", "uk": "Додати в кошик",
}  # fmt: skip


def found(body: str, lang: str, name: str = "Lamp X", head: str = "") -> ProductItem:
    bought = "" if "<button" in body else BUY.format(BUYS[lang])
    page = f"<html lang={lang}><head><title>{name}</title>{head}</head><body><main><h1>{name}</h1>{body}{bought}</main>"
    item = extract_product(page, "https://shop.example.com/product/lamp-x")
    assert item is not None
    return item


def stated(**fields: object) -> str:
    product = {"@context": "https://schema.org", "@type": "Product", "name": "Lamp X", **fields}
    return f'<script type="application/ld+json">{json.dumps(product)}</script>'


# language|what stands between the heading and the button|amount|currency
PRICES = """
en|<div><p>SKU</p><p>LN-A5</p></div><p>€ 18.50</p>|18.50|EUR
en|<p>Model LN 5</p><p>R$ 399</p>|399|BRL
ru|<dl><dt>Артикул</dt><dd>ДУ-650-Р</dd></dl><div>4 990 руб.</div>|4990|RUB
en|<p>from 12</p><p>€</p>|12|EUR
ru|<p>650 р</p>|650|RUB
pt|<p>R$ 259,00</p><p><span>R$ 246,05</span> com <b>Pix</b></p>|259.00|BRL
es|<p>€ 95,00</p><p><span>€ 85,50</span> con <b>Transferencia</b></p>|95.00|EUR
en|<p>$40.00 <span>via</span> <b>courier</b></p>|40.00|USD
en|<h2><i>$24.99</i><b>Sale: $19.99</b><u>Save: 20% off</u></h2>|19.99|USD
en|<h2><i>$24.99</i><b>Shipping: $19.99</b></h2>|24.99|USD
de|<p>Unser bisheriger Preis 79,95 EUR</p><p>Jetzt nur 64,95 EUR</p><p>Sie sparen 19% / 15,00 EUR</p>|64.95|EUR
de|<p>Statt 8,99 EUR</p><p>Nur 6,49 EUR</p>|6.49|EUR
sv|<p>69:90 kr</p><p>Medlemspris 59:90 kr</p><p>Jmf-pris 139:80 kr/kg</p>|69.90|SEK
sv|<p>kr 1 069:50</p>|1069.50|SEK
sv|<p>Beställ före 14:30</p><p>99 kr</p>|99|SEK
en|<p>$90.00</p><p>4 x $22.50</p>|90.00|USD
en|<p>or 3 x of $80.00</p><p>$90.00</p>|90.00|USD
en|<p>12 x 0.7 l $5.99</p>|5.99|USD
en|<p>Members pay $72.00</p><p>$90.00</p>|90.00|USD
en|<p>Now $72.00</p><p>$90.00</p>|72.00|USD
en|<p>$90.00</p><p>Sale $72.00</p>|72.00|USD
en|<p>Sale</p><p>$90.00</p><p>$72.00</p>|72.00|USD
en|<p>Now in 5 colours</p><p>$90.00</p>|90.00|USD
de|<p>Angebot 72,00 €</p><p>90,00 €</p>|72.00|EUR
de|<p>90,00 €</p><p>Barzahlungspreis 72,00 €</p>|90.00|EUR
uk|<p><i>199</i> <i>грн</i></p><p>Ви заощаджуєте: <b><i>100</i> <i>грн</i></b></p>|199|UAH
en|<p>Now <b>14</b> <i>people look at it</i></p><p>$49.00</p>|49.00|USD
de|<p>Jetzt bewerten</p><p>4,8</p><p>49,00 €</p>|49.00|EUR
en|<p>Now $12.25 today, 3 more payments</p><p>$49.00</p>|49.00|USD
nl|<p>Nu € 20 korting</p><p>€ 49,00</p>|49.00|EUR
nl|<p>Nu 3 voor € 120</p><p>€ 49,00</p>|49.00|EUR
ru|<p>Акция: -1 500 ₽</p><p>4 900 ₽</p>|4900|RUB
en|<p>Deal $90.00</p><p>for 2</p><p>$49.00</p>|49.00|USD
en|<p>$49.00</p><p>2-year protection</p><p>Just $4.99</p>|49.00|USD
en|<p>Special $19.99</p><p>$24.99</p>|19.99|USD
pl|<p>Tylko 19,99 zł</p><p>24,99 zł</p>|19.99|PLN
ru|<p>Всего 1 999 ₽</p><p>2 499 ₽</p>|1999|RUB
it|<p>Ricondizionato 120,00 €</p>|120.00|EUR
hu|<p>Használt: 12 000 Ft</p>|12000|HUF
fr|<p>49,00 € + reprise offerte</p>|49.00|EUR
en|<p>Poster 13 x 18 $12.00</p>|12.00|USD
de|<table><tr><th>Bis 9<td>19,95 €<tr><th>Ab <b>10</b><td>17,95 €</table>|19.95|EUR
"""


@pytest.mark.parametrize("page", PRICES.strip().splitlines())
def test_the_price_that_is_asked(page: str) -> None:
    lang, body, amount, currency = page.split("|")
    item = found(body, lang)
    assert (item.price, item.currency) == (Decimal(amount), currency)


@pytest.mark.parametrize(
    ("shown", "amount"),
    [
        ("<p>Unser bisheriger Preis 79,95 EUR</p><p>Jetzt nur 64,95 EUR</p><p>Sie sparen 15,00 EUR</p>", "64.95"),
        ("<p>Statt 8,99 EUR</p><p>Nur 6,49 EUR</p>", "6.49"),
        ("<p>UVP 8,99 EUR</p><p>Sie sparen 3,00 EUR</p>", "8.99"),
        ("<p>UVP 8,99 EUR</p><p>zehn Stück für nur 59,00 EUR</p>", "8.99"),
    ],
)
def test_prices_in_sentences_far_from_the_button(shown: str, amount: str) -> None:
    assert found(f"{shown}{'<p>Eigenschaft</p>' * 13}", "de").price == Decimal(amount)


TIERS = "<table><tr><th>{first}<td>€19.95<tr><th>{second}<td>€17.95</table>"


@pytest.mark.parametrize(
    ("first", "second", "amount"),
    [
        ("up to 9", "from 10", "19.95"),
        ("1 - 9", "10 - 99", "19.95"),
        ("10 - 99", "100 - 499 pieces", "19.95"),
        ("Size 38", "Size 40", "17.95"),
        ("up to 1", "from 1", "17.95"),
    ],
)
def test_the_lowest_of_a_range_may_be_that_of_more_pieces(first: str, second: str, amount: str) -> None:
    offers = {"@type": "AggregateOffer", "lowPrice": "17.95", "highPrice": "19.95", "priceCurrency": "EUR"}
    item = found(TIERS.format(first=first, second=second), "en", head=stated(offers=offers))
    assert item.price == Decimal(amount)


@pytest.mark.parametrize(
    ("shown", "amount"),
    [
        ("<p>Regular price £30.00</p><p>Member price £25.00</p>", "30.00"),
        ("<p>Member price £25.00</p><p>Regular price £30.00</p>", "30.00"),
        ("<p>Regular price £30.00</p><p>Sale price £27.00</p><p>Member price £25.00</p>", "27.00"),
        ("<p>Regular price <s>£30.00</s></p><p>Member price £25.00</p>", "25.00"),
        ("<p>Regular price £40.00</p><p>£30.00 ex VAT</p>", "30.00"),
        ("<p>RRP £30.00</p><p>£25.00</p>", "25.00"),
    ],
)
def test_the_regular_price_beside_that_of_members_is_asked(shown: str, amount: str) -> None:
    assert found(shown, "en").price == Decimal(amount)


@pytest.mark.parametrize(
    ("shown", "amount"),
    [
        ("<p>$24.00</p><p>6 pcs</p><p>$18.00</p>", "18.00"),
        ("<p>$2 coupon</p><p>300+</p><p>$9.00</p>", "9.00"),
        ("<p>Price/12.50/USD</p>", "12.50"),
        ("<p><span>from 29</span><sup>90</sup> <span>€</span></p>", "29.90"),
    ],
)
def test_numbers_that_only_look_like_tiers_or_codes(shown: str, amount: str) -> None:
    assert found(shown, "en").price == Decimal(amount)


def test_ages_and_free_shipping_are_no_tiers() -> None:
    shown = "<body><p>Free delivery over $25</p><main><h1>Puzzle</h1><p>3+</p><p>$12</p>"
    item = extract_product(f"<html lang=en><title>Puzzle</title>{shown}", "https://shop.example.com/product/puzzle")
    assert item is not None
    assert item.price == Decimal(12)


@pytest.mark.parametrize(
    ("lang", "text", "availability"),
    [
        ("en", "5 in stock (can be backordered)", "InStock"),
        ("de", "5 vorrätig (kann nachbestellt werden)", "InStock"),
        ("en", "Available on backorder", "BackOrder"),
        ("en", "Out of stock (can be backordered)", "BackOrder"),
        ("fi", "Saatavilla jälkitoimituksena", "BackOrder"),
        ("es", "Disponible para reserva", "BackOrder"),
        ("pl", "Dostępność: na wyczerpaniu", "InStock"),
        ("pl", "Dostępność: wyczerpany", "OutOfStock"),
        ("ko", "품절임박", "InStock"),
        ("de", "Lieferbar (Vorbestellung)", "PreOrder"),
        ("fr", "Disponible (sur commande)", "BackOrder"),
        ("de", "Auf Lager, Nachbestellung möglich", "InStock"),
        ("de", "Kein Lieferrückstand", "InStock"),
        ("fr", "Taille M en réapprovisionnement", "InStock"),
        ("es", "¿Dudas pre-compra?", "InStock"),
        ("es", "Disponible para reserva en tienda", "InStock"),
        ("pt", "Disponível por encomenda", "BackOrder"),
        ("pt", "Em estoque. Tamanhos especiais por encomenda", "InStock"),
        ("ru", "На заказ, 5-7 дней", "BackOrder"),
        ("ru", "На заказ от 3000 ₽ скидка 5%", "InStock"),
        ("sv", "På restorder", "BackOrder"),
        ("sv", "Aldrig restorder", "InStock"),
        ("fi", "Ei jälkitoimituksia", "InStock"),
    ],
)
def test_stock_that_may_be_ordered_again_or_runs_out(lang: str, text: str, availability: str) -> None:
    assert found(f"<p>20 €</p><p>{text}</p>", lang).availability == availability


@pytest.mark.parametrize(
    ("shown", "sku"),
    [
        ("<p>Item number: 118822</p><p>EAN: 4006381333931</p>", "118822"),
        ("<p>Item number: 4006381333931</p>", "4006381333931"),
        ("<p>EAN: 4006381333931</p>", "4006381333931"),
    ],
)
def test_a_gtin_in_place_of_the_identifier_gives_way_to_a_labelled_one(shown: str, sku: str) -> None:
    offers = {"@type": "Offer", "price": "30.00", "priceCurrency": "USD"}
    item = found(f"<p>$30.00</p>{shown}", "en", head=stated(offers=offers, sku="4006381333931"))
    assert item.sku == sku


def test_an_element_named_for_the_reference() -> None:
    assert found("<div class=skuReference>TC-884</div><p>R$ 299,90</p>", "pt").sku == "TC-884"


TAXES = "<p><b class={first}>€363.00</b> <b class={second}>€300.00</b></p>"


@pytest.mark.parametrize(
    ("first", "second", "amount"),
    [
        ("price-including-tax", "price-excluding-tax", "363.00"),
        ("price--withTax", "price--withoutTax", "363.00"),
        ("price-excluding-tax", "price-including-tax", "300.00"),
        ("price-highest", "price-lowest", "300.00"),
    ],
)
def test_complete_data_with_the_price_without_tax(first: str, second: str, amount: str) -> None:
    offers = {"@type": "Offer", "price": "300.00", "priceCurrency": "EUR", "availability": "InStock"}
    item = found(TAXES.format(first=first, second=second), "en", head=stated(offers=offers, sku="LX", brand="Acme"))
    assert item.price == Decimal(amount)


@pytest.mark.parametrize(
    ("lang", "labelled", "brand"),
    [
        ("es", "<dl><dt>Proveedor<dd>Oliveto Bio</dl>", "Oliveto Bio"),
        ("es", "<dl><dt>Vendedor<dd>Oliveto Bio</dl>", None),
        ("es", "<p>Proveedor: Distribuciones Norte S.L.</p>", None),
        ("fr", "<p>Fournisseur : Grossiste Martin SAS</p><p>Marque : Lilas</p>", "Lilas"),
    ],
)
def test_who_supplies_a_product_where_nothing_else_names_its_maker(lang: str, labelled: str, brand: str | None) -> None:
    assert found(f"<p>20 €</p>{labelled}", lang).brand == brand
