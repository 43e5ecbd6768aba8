"""Pages of ordinary shops that look like templates of shop systems in one part, and are not to be read by it."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest

from crawler.extraction import extract_product
from crawler.extraction.words.values import stands_in
from crawler.items import ProductItem

BUY = "<form><button type=submit>Add to cart</button></form>"
URL = "https://shop.example.com/product/knife"


def found(body: str, title: str = "Knife", head: str = "", lang: str = "en") -> ProductItem:
    html = f'<html lang="{lang}"><head><title>{title} | Shop</title>{head}</head><body>{body}'
    item = extract_product(html, URL)
    assert item is not None
    return item


@pytest.mark.parametrize(
    "link",
    [
        "<h3><a href=/brands/acme>Acme</a></h3>",
        "<a class=seller-name href=/sellers/9>Best Tools Ltd</a>",
        "<a class=category-title href=/c/kitchen>Kitchen</a>",
        "<h4><a href=/downloads/manual>Manual</a></h4>",
        "<a class=swatch-name href=/products/knife-red>Red</a>",
        "<a class=name href=/products/red>Red</a><a class=name href=/products/blue>Blue</a>",
    ],
)
def test_a_titled_link_in_the_products_own_column_makes_no_card_of_it(link: str) -> None:
    column = f"<div>{link}<p class=price>$69.00</p><div><span>Sold out</span></div><p>SKU: A-100</p></div>"
    item = found(f"<main><div><h1>Knife</h1></div><div>{column}</div></main>")
    assert (item.price, item.availability) == (Decimal(69), "OutOfStock")


@pytest.mark.parametrize(("stock", "name"), [("Sold out", "OutOfStock"), ("In stock", "InStock")])
def test_the_link_to_a_category_with_the_beginning_of_the_products_name_is_no_other(stock: str, name: str) -> None:
    column = f"<div><h4><a href=/c/knife>Knife</a></h4><p class=stock>{stock}</p><p class=price>$69</p></div>"
    item = found(f"<main><div><h1>Knifeset</h1></div>{column}<p>SKU: A-100</p></main>", title="Knifeset")
    assert (item.price, item.availability) == (Decimal(69), name)


@pytest.mark.parametrize(
    ("rows", "amount"),
    [
        ("<p><i>Excl. VAT</i><b>£100.00</b></p><p><i>Delivery</i><b>£4.90</b></p>", 100),
        ("<p><i>Unit price</i><b>$100.00</b></p><p><i>Pack of 10</i><b>$950.00</b></p>", 100),
        ("<p><i>Unit price</i><b>$5.00</b></p><p><i>Total</i><b>$50.00</b></p>", 5),
        ("<p><i>Price</i><b>$50.00</b></p><p><i>Wholesale</i><b>$40.00</b></p>", 50),
    ],
)
def test_a_net_price_or_that_of_a_unit_is_asked_where_the_other_rows_are_no_prices(rows: str, amount: int) -> None:
    assert found(f"<h1>Knife</h1><div>{rows}</div><p>SKU: A-100</p>{BUY}").price == amount


@pytest.mark.parametrize(
    ("lang", "shown", "amount"),
    [
        ("de", "<p>100,00 € zzgl. 19% MwSt.</p><p>119,00 € inkl. 19% MwSt.</p>", 119),
        ("de", "<p>119,00 € inkl. 19% MwSt.</p><p>100,00 € zzgl. 19% MwSt.</p>", 119),
        ("en", "<p class=price>£120.00 (£100.00 + 20% VAT)</p>", None),
        ("de", "<p class=price>59,00 €</p><p>inkl. 19% MwSt. (9,57 €)</p>", 59),
        ("en", "<p class=price>£59.00</p><p>Includes £10.00 VAT (20%)</p>", 59),
        ("en", "<p class=price>£59.00</p><p>Delivery £4.90 inc. 20% VAT</p>", 59),
        ("de", "<p class=price>59,00 €</p><p>Sie sparen 20,00 € inkl. 19% MwSt.</p>", 59),
    ],
)
def test_of_two_amounts_with_a_rate_of_tax_the_whole_one_or_none(lang: str, shown: str, amount: int | None) -> None:
    assert found(f"<h1>Knife</h1><div>{shown}</div><p>SKU: A-100</p>{BUY}", lang=lang).price == amount


LONG = "Acme Professional Kitchen Knife with an Ergonomic Handle and a Stainless Blad"


@pytest.mark.parametrize(("name", "heading"), [(LONG, f"{LONG}e"), ("Lamp 60", "Lamp 60W")])
def test_a_name_that_is_cut_in_its_data_is_still_the_heading(name: str, heading: str) -> None:
    head = "".join(
        f'<script type="application/ld+json">{json.dumps(each)}</script>'
        for each in (
            {"@type": "Product", "name": each, "offers": {"@type": "Offer", "price": price, "priceCurrency": "USD"}}
            for each, price in (("Fork", 12), (name, 69))
        )
    )
    assert found(f"<h1>{heading}</h1>{BUY}", heading, head).price == 69


@pytest.mark.parametrize(
    ("name", "text", "stands"),
    [
        ("Gift Card", "Gift Cards", False),
        ("Gift Card", "Gift Cards | The Gift Card", True),
        ("Box", "Boxes", False),
        ("Regal", "Regalsystem", True),
        ("Lamp 60", "Lamp 60W", True),
        ("靴", "靴下", True),
        ("", "", True),
        ("Fork", "", False),
    ],
)
def test_a_name_is_not_in_its_plural(name: str, text: str, stands: bool) -> None:
    assert stands_in(name, text) is stands
